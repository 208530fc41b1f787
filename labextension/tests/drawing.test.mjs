// Unpacking and drawing, as the worker does them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { deflateRawSync } from 'node:zlib';
import { paint } from '../lib/field/colours.js';
import { drawing } from '../lib/field/drawing.js';
import { unpack } from '../lib/field/unpacking.js';

/** What workbench/views/packing.py does. */
function packed(codes) {
  const half = Math.ceil(codes.length / 2);
  const differences = Array.from(codes, (code, cell) => (code - (codes[cell - 1] ?? 0)) & 255);
  const steps = differences.map(difference => Math.min((difference + 7) & 255, 15));
  const pairs = steps.slice(0, half).map((step, cell) => step | ((steps[half + cell] ?? 7) << 4));
  return new Uint8Array(deflateRawSync(Uint8Array.from([...pairs, ...differences.filter((_, cell) => steps[cell] === 15)])));
}

/** As the worker gets it: as text, with nothing of its file. */
function worker(made, given = {}) {
  return runInNewContext(`(${made})`, { Blob, DecompressionStream, Response, Uint8Array, Uint32Array, ...given });
}

test('packed codes come back as they were', async () => {
  for (const [cells, steep] of [[15, 1], [7, 1], [60_000, 1], [60_000, 1e-4]]) {
    const codes = Uint8Array.from({ length: cells }, (_, cell) => (steep * cell * cell) % 251);
    assert.deepEqual(await worker(unpack)(packed(codes), cells), codes);
  }
});

test('a damaged stream, or one of another length, has no codes', async () => {
  const codes = new Uint8Array(600).fill(7);
  const body = packed(codes);
  assert.equal(await unpack(body.slice(0, 4), 600), null);
  assert.equal(await unpack(Uint8Array.of(255, 255, 255, 255), 600), null);
  assert.equal(await unpack(body, 620), null);
  assert.equal(await unpack(body, 580), null);
});

/** What draws, as the worker has it, with canvases of view 1 that only remember; `pass` makes an animation frame. */
function studio({ unpacked = unpack, sheets = [new Sheet()] } = {}) {
  const answers = [];
  const asked = [];
  let now = 0; // counts animation frames
  const given = { requestAnimationFrame: callback => asked.push(callback), ImageData: Image, Date: { now: () => now } };
  const hear = worker(drawing, given)(unpacked, paint, answer => answers.push({ ...answer }));
  const settled = () => new Promise(resolve => setTimeout(resolve, 20));
  const pass = async () => {
    await settled();
    now += 1;
    asked.splice(0).forEach(callback => callback());
  };
  hear({ type: 'sheets', view: 1, sheets });
  hear({ type: 'table', view: 1, table });
  return { hear, answers, pass, sheet: sheets[0] };
}

class Image {
  constructor(width, height) {
    Object.assign(this, { width, height, data: new Uint8Array(4 * width * height) });
  }
}

/** As in a worker of Firefox, it has its context once. */
class Sheet {
  width = 300;
  height = 150;
  seen = [];
  asked = 0;
  getContext() {
    assert.equal(++this.asked, 1);
    return { putImageData: image => this.seen.push([...new Uint32Array(image.data.buffer)]) };
  }
}

const table = Uint32Array.from({ length: 256 }, (_, code) => 1000 + code);
const plain = (...codes) => ({ rows: 1, columns: codes.length, packed: false, codes: Uint8Array.from(codes) });

test('the pictures of a frame are drawn together, on canvases of as many pixels', async () => {
  const sheets = [new Sheet(), new Sheet()];
  const { hear, answers, pass } = studio({ sheets });
  const body = packed(Uint8Array.of(5, 6, 7, 8));
  hear({ type: 'frame', view: 1, number: 1, pictures: [plain(1, 2, 3), { rows: 2, columns: 2, packed: true, codes: body }] });
  await pass();
  assert.deepEqual(sheets.map(sheet => sheet.seen), [[[1001, 1002, 1003]], [[1005, 1006, 1007, 1008]]]);
  assert.deepEqual(sheets.map(({ width, height }) => [width, height]), [[3, 1], [2, 2]]);
  assert.deepEqual(answers, [{ view: 1, drawn: 1, at: 1 }]);
});

test('of frames that come between two paintings the last is drawn, in their order, whoever is unpacked first', async () => {
  const slow = (body, cells) => new Promise(resolve => setTimeout(() => resolve(new Uint8Array(cells).fill(9)), 10));
  const { hear, answers, pass, sheet } = studio({ unpacked: slow });
  hear({ type: 'frame', view: 1, number: 1, pictures: [{ ...plain(1), packed: true }] });
  hear({ type: 'frame', view: 1, number: 2, pictures: [plain(2)] });
  await pass();
  hear({ type: 'frame', view: 1, number: 3, pictures: [plain(3)] });
  await pass();
  assert.deepEqual(sheet.seen, [[1002], [1003]]);
  assert.deepEqual(answers.map(answer => answer.drawn), [2, 3]);
});

test('a damaged picture leaves the one before, and a closed view draws no more', async () => {
  const { hear, answers, pass, sheet } = studio();
  hear({ type: 'frame', view: 1, number: 1, pictures: [plain(4)] });
  await pass();
  hear({ type: 'frame', view: 1, number: 2, pictures: [{ ...plain(255), packed: true }] });
  await pass();
  hear({ type: 'frame', view: 2, number: 1, pictures: [plain(4)] });
  await pass();
  assert.deepEqual(sheet.seen, [[1004], [1004]]);
  hear({ type: 'frame', view: 1, number: 3, pictures: [plain(5)] });
  hear({ type: 'close', view: 1 });
  await pass();
  assert.equal(sheet.seen.length, 2);
  assert.deepEqual(answers, [{ view: 1, drawn: 1, at: 1 }, { view: 1, drawn: 2, at: 2 }, { view: 2, drawn: 1, at: 3 }]);
});

test('what cannot be drawn is told, and the next frame drawn', async () => {
  const { hear, answers, pass } = studio({ unpacked: () => Promise.reject(new Error('no memory')) });
  hear({ type: 'frame', view: 1, number: 1, pictures: [{ ...plain(1), packed: true }] });
  hear({ type: 'frame', view: 1, number: 2, pictures: [plain(2)] });
  await pass();
  assert.deepEqual(answers, [{ view: 1, trouble: 'Error: no memory' }, { view: 1, drawn: 2, at: 1 }]);
});
