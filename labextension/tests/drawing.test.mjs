// Unpacking and drawing, as the worker does them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { deflateRawSync } from 'node:zlib';
import { paint } from '../lib/field/colours.js';
import { drawing } from '../lib/field/drawing.js';
import { scatter } from '../lib/field/scatter.js';
import { unpack } from '../lib/field/unpacking.js';

/** What workbench/views/field/packing.py does. */
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

/**
 * What draws, as the worker has it, with canvases of view 1 that only remember, laid out or not; `pass` makes an
 * animation frame.
 */
function studio({ unpacked = unpack, sheets = [new Sheet()], laid = true } = {}) {
  const answers = [];
  const asked = [];
  let now = 0; // counts animation frames, and what a test waits besides
  const given = { requestAnimationFrame: callback => asked.push(callback), ImageData: Image, Date: { now: () => now } };
  const unpacking = new Set();
  const counted = (...codes) => {
    const promise = unpacked(...codes);
    const done = () => unpacking.delete(promise);
    unpacking.add(promise);
    promise.then(done, done);
    return promise;
  };
  const hear = worker(drawing, given)(counted, paint, worker(scatter), answer => answers.push({ ...answer }));
  const settled = async () => {
    do {
      await Promise.allSettled(unpacking);
      await new Promise(setImmediate); // whatever waits for them goes on first
    } while (unpacking.size > 0);
  };
  const pass = async () => {
    await settled();
    now += 1;
    asked.splice(0).forEach(callback => callback());
  };
  const wait = async milliseconds => {
    await settled();
    now += milliseconds;
  };
  const put = (number, pictures, palette = 'plain') => hear({ type: 'frame', view: 1, number, palette, pictures });
  const lay = (number, laid) => hear({ type: 'sheets', view: 1, number, sheets: laid });
  if (laid) {
    lay(1, sheets);
    hear({ type: 'tables', view: 1, tables: { plain: table } });
  }
  return { hear, put, lay, wait, answers, pass, sheet: sheets[0] };
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
const plain = (...codes) => ({ rows: 1, columns: codes.length, packed: false, particles: null, codes: Uint8Array.from(codes) });

/** Particles [across, up, level], places in 65,536ths. */
function points(radius, side, ...given) {
  const places = [0, 1].flatMap(axis => given.flatMap(each => [each[axis] & 255, each[axis] >> 8]));
  const codes = Uint8Array.from([...places, ...given.map(each => each[2])]);
  return { rows: side, columns: side, packed: false, particles: { count: given.length, radius }, codes };
}

test('the pictures of a frame are drawn together, on canvases of as many pixels', async () => {
  const sheets = [new Sheet(), new Sheet()];
  const { put, answers, pass } = studio({ sheets });
  const body = packed(Uint8Array.of(5, 6, 7, 8));
  put(1, [plain(1, 2, 3), { rows: 2, columns: 2, packed: true, codes: body }]);
  await pass();
  assert.deepEqual(sheets.map(sheet => sheet.seen), [[[1001, 1002, 1003]], [[1005, 1006, 1007, 1008]]]);
  assert.deepEqual(sheets.map(({ width, height }) => [width, height]), [[3, 1], [2, 2]]);
  assert.deepEqual(answers, [{ view: 1, drawn: 1, at: 1 }]);
});

test('particles are discs on black, later ones above earlier ones, cut at the border; level 1 is none', async () => {
  const { put, pass, sheet } = studio();
  put(1, [points(1, 4, [0, 65535, 7], [32767, 16384, 8], [32768, 16384, 9], [40000, 65535, 1])]);
  await pass();
  const [o, a, b, c] = [0xff000000, 1007, 1008, 1009];
  assert.deepEqual(sheet.seen, [[a, a, o, o, a, b, c, o, b, c, c, c, o, b, c, o]]);
  put(2, [points(0, 2)]);
  put(3, [{ ...points(0, 2, [0, 0, 5]), codes: Uint8Array.of(0, 0, 0, 0) }]); // damaged: it leaves the picture before
  await pass();
  assert.equal(sheet.seen.length, 2);
  assert.deepEqual(sheet.seen[1], [o, o, o, o]);
});

test('of frames that come together the first and the last are drawn, in their order, whoever is unpacked first', async () => {
  const slow = (body, cells) => new Promise(resolve => setTimeout(() => resolve(new Uint8Array(cells).fill(9)), 10));
  const { put, answers, pass, sheet } = studio({ unpacked: slow });
  put(1, [{ ...plain(1), packed: true }]);
  put(2, [plain(2)]);
  put(3, [plain(3)]);
  await pass();
  await pass();
  put(4, [plain(4)]);
  await pass();
  await pass();
  assert.deepEqual(sheet.seen, [[1009], [1003], [1004]]);
  assert.deepEqual(answers.map(answer => answer.drawn), [1, 3, 4]);
});

test('of frames that come while one waits long for its painting the last is drawn, and none of before', async () => {
  const { put, wait, answers, pass, sheet } = studio();
  put(1, [plain(1)]);
  await wait(0);
  put(2, [plain(2)]);
  await wait(30);
  put(3, [plain(3)]);
  await wait(30);
  put(4, [plain(4)]);
  await pass();
  await pass();
  assert.deepEqual(sheet.seen, [[1004]]);
  assert.deepEqual(answers.map(answer => answer.drawn), [4]);
});

test('a frame that waits for the next painting is not put on canvases made for a later one', async () => {
  const { put, lay, wait, answers, pass } = studio();
  put(1, [plain(1)]);
  put(2, [plain(2)]);
  await wait(0);
  const later = new Sheet();
  lay(3, [later]);
  await pass();
  await pass();
  put(3, [plain(3)]);
  await pass();
  assert.deepEqual(later.seen, [[1003]]);
  assert.equal(answers.at(-1).drawn, 3);
});

test('a damaged picture leaves the one before, and a closed view draws no more', async () => {
  const { hear, put, answers, pass, sheet } = studio();
  put(1, [plain(4)]);
  await pass();
  put(2, [{ ...plain(255), packed: true }]);
  await pass();
  assert.deepEqual(sheet.seen, [[1004], [1004]]);
  put(3, [plain(5)]);
  hear({ type: 'close', view: 1 });
  await pass();
  assert.equal(sheet.seen.length, 2);
  assert.deepEqual(answers, [{ view: 1, drawn: 1, at: 1 }, { view: 1, drawn: 2, at: 2 }]);
});

test('what cannot be drawn is told, and the next frame drawn', async () => {
  const { put, answers, pass } = studio({ unpacked: () => Promise.reject(new Error('no memory')) });
  put(1, [{ ...plain(1), packed: true }]);
  put(2, [plain(2)]);
  await pass();
  assert.deepEqual(answers, [{ view: 1, trouble: 'Error: no memory' }, { view: 1, drawn: 2, at: 1 }]);
});

test('a frame that comes before its sheets or its table is drawn when they are there', async () => {
  const { hear, put, lay, answers, pass, sheet } = studio({ laid: false });
  put(1, [plain(4)]);
  await pass();
  lay(1, [sheet]);
  await pass();
  assert.deepEqual(answers, []);
  hear({ type: 'tables', view: 1, tables: { plain: table } });
  await pass();
  assert.deepEqual(sheet.seen, [[1004]]);
  assert.deepEqual(answers, [{ view: 1, drawn: 1, at: 3 }]);
});

test('each frame is drawn with the palette that it names', async () => {
  const { hear, put, pass, sheet } = studio();
  hear({ type: 'tables', view: 1, tables: { plain: table, grey: table.map(pixel => pixel + 1000) } });
  put(1, [plain(4)], 'grey');
  await pass();
  put(2, [plain(4)]);
  await pass();
  assert.deepEqual(sheet.seen, [[2004], [1004]]);
});

test('of two ways the faster one wins: what comes again or late is not drawn', async () => {
  const { put, answers, pass, sheet } = studio();
  put(2, [plain(2)]);
  await pass();
  put(1, [plain(1)]);
  put(2, [plain(2)]);
  await pass();
  assert.deepEqual(sheet.seen, [[1002]]);
  assert.deepEqual(answers.map(answer => answer.drawn), [2]);
});

test('new sheets get the frame that they were made for, and no earlier one', async () => {
  const { put, lay, pass, sheet } = studio();
  put(1, [plain(1)]);
  await pass();
  put(3, [plain(3), plain(4)]); // straight to the worker, before the page has made room for two
  await pass();
  assert.deepEqual(sheet.seen, [[1001]]);
  const two = [new Sheet(), new Sheet()];
  lay(3, two);
  await pass();
  assert.deepEqual(two.map(each => each.seen), [[[1003]], [[1004]]]);
  const others = [new Sheet(), new Sheet()];
  lay(5, others);
  await pass();
  assert.deepEqual(others.map(each => each.seen), [[], []]);
});

test('a frame that is on sheets of before comes on those that are made for it', async () => {
  const { put, lay, answers, pass } = studio();
  put(2, [plain(2)]);
  await pass();
  const fresh = new Sheet();
  lay(2, [fresh]);
  await pass();
  assert.deepEqual(fresh.seen, [[1002]]);
  assert.deepEqual(answers.map(answer => answer.drawn), [2, 2]);
});

test('what is unpacked while new sheets come is not drawn on them', async () => {
  let unpackNow;
  const slow = (body, cells) => new Promise(resolve => (unpackNow = () => resolve(new Uint8Array(cells).fill(9))));
  const { put, lay, pass } = studio({ unpacked: slow });
  put(1, [{ ...plain(1), packed: true }]);
  await new Promise(setImmediate); // unpacking begins
  const fresh = new Sheet();
  lay(2, [fresh]);
  unpackNow();
  await pass();
  assert.deepEqual(fresh.seen, []);
  put(2, [plain(2)]);
  await pass();
  assert.deepEqual(fresh.seen, [[1002]]);
});
