// Messages of the kernel process: what is well formed is read, what is not is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMessage } from '../lib/kernel/protocol.js';

const axis = { name: 'x', unit: '', cells: 3, first: 0, last: 2 };
const plane = {
  rows: 2, columns: 3, minimum: 0, maximum: 1, notNumbers: 0, infinite: 0, stride: 1, shown: [0, 1], across: axis, up: axis, cuts: []
};
const frame = {
  type: 'frame', number: 4, kind: 'plane', name: 'u', unit: 'm', step: 9, time: 't = 0.5 s', low: 0, high: 1, palette: 'viridis',
  wrong: null, thinning: 'drawn: some', planes: [plane]
};
const body = bytes => new DataView(Uint8Array.from(bytes).buffer);

test('a plane has one code a cell', () => {
  const read = readMessage(frame, [body([1, 2, 3, 4, 5, 6])]);
  assert.equal(read.type, 'frame');
  assert.deepEqual([...read.planes[0].codes], [1, 2, 3, 4, 5, 6]);
  assert.equal(read.step, 9);
  assert.equal(read.time, 't = 0.5 s');
  assert.equal(read.thinning, 'drawn: some');
});

test('a frame whose body has another length is refused', () => {
  assert.equal(readMessage(frame, [body([1, 2, 3])]), null);
  assert.equal(readMessage({ ...frame, kind: 'line' }, []), null);
});

test('a plane without any body comes apart from its words', () => {
  const read = readMessage(frame, []);
  assert.equal(read.apart, true);
  assert.equal(read.planes[0].codes.length, 0);
  assert.equal(readMessage(frame, [body([1, 2, 3, 4, 5, 6])]).apart, false);
});

test('points have five bytes each, wherever they come', () => {
  const particles = { count: 2, radius: 3, followed: [[5, 6], null] };
  const points = { ...frame, kind: 'points', subject: 'x', planes: [{ ...plane, rows: 512, columns: 512, particles }] };
  const read = readMessage(points, [body([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])]);
  assert.equal(read.kind, 'points');
  assert.equal(read.subject, 'x');
  assert.deepEqual(read.planes[0].particles, particles);
  assert.equal(read.planes[0].codes.length, 10);
  assert.equal(readMessage(points, []).apart, true);
  assert.equal(readMessage(points, [body([1, 2, 3])]), null);
  assert.equal(readMessage({ ...points, kind: 'plane' }, []), null);
  assert.equal(readMessage({ ...points, planes: [plane] }, []), null);
  assert.equal(readMessage(frame, [body([1, 2, 3, 4, 5, 6])]).planes[0].particles, null);
});

test('packed codes may be fewer bytes than cells, never more', () => {
  const packed = { ...frame, planes: [{ ...plane, packed: true }] };
  const read = readMessage(packed, [body([1, 2, 3])]);
  assert.equal(read.planes[0].packed, true);
  assert.deepEqual([...read.planes[0].codes], [1, 2, 3]);
  assert.equal(readMessage(packed, [body([1, 2, 3, 4, 5, 6, 7])]), null);
  assert.equal(readMessage(frame, [body([1, 2, 3, 4, 5, 6])]).planes[0].packed, false);
});

test('the points of a line may lie anywhere in the message', () => {
  const buffer = new ArrayBuffer(13);
  new DataView(buffer).setFloat32(1, 0.5, true);
  new DataView(buffer).setFloat32(5, -2, true);
  new DataView(buffer).setFloat32(9, NaN, true);
  const read = readMessage({ ...frame, kind: 'line', planes: [{ ...plane, rows: 1, up: null, shown: [0] }] }, [new DataView(buffer, 1)]);
  assert.deepEqual([...read.planes[0].points], [0.5, -2, NaN]);
  assert.equal(read.planes[0].up, null);
});

test('what is not finite arrives as null and stays so', () => {
  const read = readMessage({ ...frame, low: null, planes: [{ ...plane, minimum: null }] }, [body([0, 0, 0, 0, 0, 0])]);
  assert.equal(read.planes[0].minimum, null);
  assert.equal(read.low, 0);
});

test('opening, status, point and error are read', () => {
  const opening = { type: 'opening', machine: 'wave', names: ['u', 'v'], scalars: true, axes: [axis], params: [], palettes: { viridis: '00' } };
  assert.equal(readMessage(opening, []).machine, 'wave');
  assert.equal(readMessage({ type: 'status', running: true, pace: 30, limits: 'free', recorded: 3, probes: [[1, 2]], params: { c: 2 } }, []).params.c, 2);
  assert.equal(readMessage({ type: 'point', cell: [1, 2], text: '0.5' }, []).text, '0.5');
  assert.deepEqual(readMessage({ type: 'error', text: 'no' }, []), { type: 'error', text: 'no', ended: false });
  assert.equal(readMessage({ type: 'error', text: 'closed', ended: true }, []).ended, true);
});

test('a volume has three planes, each with its own body', () => {
  const planes = [plane, { ...plane, rows: 1 }, { ...plane, columns: 1 }];
  const read = readMessage({ ...frame, planes }, [body([1, 2, 3, 4, 5, 6]), body([7, 8, 9]), body([10, 11])]);
  assert.deepEqual(read.planes.map(each => [...each.codes].at(-1)), [6, 9, 11]);
  assert.equal(readMessage({ ...frame, planes }, [body([1, 2, 3, 4, 5, 6]), body([7, 8, 9])]), null);
});

test('a line that does not show all cells has two points a column', () => {
  const line = { ...frame, kind: 'line', planes: [{ ...plane, rows: 1, up: null, shown: [0], stride: 2 }] };
  assert.equal(readMessage(line, [new DataView(new ArrayBuffer(24))]).planes[0].points.length, 6);
  assert.equal(readMessage(line, [new DataView(new ArrayBuffer(12))]), null);
});

test('charts come with words, files with bytes', () => {
  assert.equal(readMessage({ type: 'charts', charts: [{ svg: '<svg/>', words: 'e over t' }] }, []).charts[0].words, 'e over t');
  assert.equal(readMessage({ type: 'charts', charts: [{ svg: '<svg/>' }] }, []), null);
  const file = readMessage({ type: 'file', name: 'u.npy', kind: 'application/octet-stream' }, [body([1, 2])]);
  assert.deepEqual([...file.data], [1, 2]);
  assert.equal(readMessage({ type: 'file', name: 'u.npy', kind: 'text/csv' }, []), null);
});

test('unknown and damaged messages are refused', () => {
  for (const content of [null, 3, 'frame', [], {}, { type: 'later' }, { type: 'opening' }, { type: 'status' }, { type: 'point', cell: [0.5] }, { type: 'status', params: {}, probes: [['a']] }]) {
    assert.equal(readMessage(content, []), null);
  }
});
