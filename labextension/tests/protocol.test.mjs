// Messages of the kernel process: what is well formed is read, what is not is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMessage } from '../lib/kernel/protocol.js';

const axis = { name: 'x', unit: '', cells: 3, first: 0, last: 2 };
const frame = {
  type: 'frame', number: 4, kind: 'plane', rows: 2, columns: 3, name: 'u', unit: 'm', step: 9, time: null, low: 0, high: 1,
  minimum: 0, maximum: 1, notNumbers: 0, infinite: 0, palette: 'viridis', stride: 1, across: axis, up: axis, cuts: []
};
const body = bytes => new DataView(Uint8Array.from(bytes).buffer);

test('a plane has one code a cell', () => {
  const read = readMessage(frame, [body([1, 2, 3, 4, 5, 6])]);
  assert.equal(read.type, 'frame');
  assert.deepEqual([...read.codes], [1, 2, 3, 4, 5, 6]);
  assert.equal(read.step, 9);
});

test('a frame whose body has another length is refused', () => {
  assert.equal(readMessage(frame, [body([1, 2, 3])]), null);
  assert.equal(readMessage(frame, []), null);
});

test('the points of a line may lie anywhere in the message', () => {
  const buffer = new ArrayBuffer(13);
  new DataView(buffer).setFloat32(1, 0.5, true);
  new DataView(buffer).setFloat32(5, -2, true);
  new DataView(buffer).setFloat32(9, NaN, true);
  const read = readMessage({ ...frame, kind: 'line', rows: 1, up: null }, [new DataView(buffer, 1)]);
  assert.deepEqual([...read.points], [0.5, -2, NaN]);
  assert.equal(read.up, null);
});

test('what is not finite arrives as null and stays so', () => {
  const read = readMessage({ ...frame, minimum: null, maximum: null, low: null }, [body([0, 0, 0, 0, 0, 0])]);
  assert.equal(read.minimum, null);
  assert.equal(read.low, 0);
});

test('opening, status, point and error are read', () => {
  const opening = { type: 'opening', machine: 'wave', name: 'u', axes: [axis], params: [], palettes: { viridis: '00' } };
  assert.equal(readMessage(opening, []).machine, 'wave');
  assert.equal(readMessage({ type: 'status', running: true, held: false, params: { c: 2 } }, []).params.c, 2);
  assert.equal(readMessage({ type: 'point', column: 1, row: 2, text: '0.5' }, []).text, '0.5');
  assert.equal(readMessage({ type: 'error', text: 'no' }, []).text, 'no');
});

test('unknown and damaged messages are refused', () => {
  for (const content of [null, 3, 'frame', [], {}, { type: 'later' }, { type: 'opening' }, { type: 'status' }]) {
    assert.equal(readMessage(content, []), null);
  }
});
