// Pictures that come straight to the worker, as it has them: which view draws what, and when it connects.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { streaming } from '../lib/field/streaming.js';

/** A message of a kernel process as jupyter_server's serialize_msg_to_ws_v1 makes it. */
function message(content, ...bodies) {
  const text = value => new TextEncoder().encode(value);
  const parts = [text('iopub'), text('{}'), text('{}'), text('{}'), text(JSON.stringify(content)), ...bodies.map(body => Uint8Array.from(body))];
  const offsets = [8 * (parts.length + 2)];
  parts.forEach(part => offsets.push(offsets.at(-1) + part.length));
  const whole = new Uint8Array(offsets.at(-1));
  const view = new DataView(whole.buffer);
  [offsets.length, ...offsets].forEach((value, index) => view.setBigUint64(8 * index, BigInt(value), true));
  parts.forEach((part, index) => whole.set(part, offsets[index]));
  return whole.buffer;
}

const frame = (model, number, ...planes) => ({ comm_id: model, data: { method: 'custom', content: { type: 'frame', number, palette: 'grey', planes } } });

/** What streams, with connections that only remember and a clock that the test moves. */
function studio() {
  const sockets = [];
  const later = [];
  const drawn = [];
  class WebSocket {
    closed = false;
    constructor(address) {
      this.address = address;
      sockets.push(this);
    }
    close() {
      this.closed = true;
    }
  }
  const given = { WebSocket, TextDecoder, DataView, Uint8Array, setTimeout: (callback, wait) => later.push({ callback, wait }) };
  const hear = runInNewContext(`(${streaming})`, given)((view, pictures) => drawn.push({ view, ...structuredClone(pictures) }));
  const pass = () => later.splice(0).map(({ callback, wait }) => (callback(), wait));
  return { sockets, drawn, hear, pass };
}

const here = { type: 'stream', address: 'ws://server/frames' };

test('views of a model draw its pictures, all over one connection', () => {
  const { sockets, drawn, hear } = studio();
  [[1, 'a'], [2, 'a'], [3, 'b']].forEach(([view, model]) => hear({ ...here, view, model }));
  const [socket] = sockets;
  assert.equal(sockets.length, 1);
  assert.equal(socket.address, 'ws://server/frames');
  assert.equal(socket.binaryType, 'arraybuffer');
  socket.onopen();
  const planes = [{ rows: 1, columns: 3, packed: false, particles: null }, { rows: 7, columns: 1, packed: true, particles: { count: 9, radius: 2 } }];
  socket.onmessage({ data: message(frame('a', 5, ...planes), [1, 2, 3], [4, 5]) });
  const pictures = [{ ...planes[0], codes: Uint8Array.of(1, 2, 3) }, { ...planes[1], codes: Uint8Array.of(4, 5) }];
  assert.deepEqual(drawn.map(({ view, number, palette }) => [view, number, palette]), [[1, 5, 'grey'], [2, 5, 'grey']]);
  drawn.forEach(each => assert.deepEqual(each.pictures, pictures));
});

test('the connection ends with its last view', () => {
  const { sockets, drawn, hear, pass } = studio();
  hear({ ...here, view: 1, model: 'a' });
  hear({ ...here, view: 2, model: 'a' });
  hear({ type: 'close', view: 1 });
  sockets[0].onopen();
  sockets[0].onmessage({ data: message(frame('a', 1, { rows: 1, columns: 1, packed: false }), [7]) });
  assert.deepEqual(drawn.map(each => each.view), [2]);
  assert.equal(sockets[0].closed, false);
  hear({ type: 'close', view: 2 });
  assert.equal(sockets[0].closed, true);
  sockets[0].onclose();
  assert.deepEqual(pass(), []);
});

test('a server that knows no such thing is asked once', () => {
  const { sockets, hear, pass } = studio();
  hear({ ...here, view: 1, model: 'a' });
  sockets[0].onclose();
  assert.deepEqual(pass(), []);
  assert.equal(sockets.length, 1);
});

test('a connection that breaks is made again, later and later, until its views close', () => {
  const { sockets, drawn, hear, pass } = studio();
  hear({ ...here, view: 1, model: 'a' });
  sockets[0].onopen();
  sockets[0].onclose();
  assert.deepEqual(pass(), [1000]);
  sockets[1].onclose();
  assert.deepEqual(pass(), [2000]);
  sockets[2].onopen();
  sockets[2].onmessage({ data: message(frame('a', 1, { rows: 1, columns: 1, packed: false }), [7]) });
  assert.equal(drawn.length, 1);
  for (const [number, wait] of [1000, 2000, 4000, 8000, 16000, 32000, 64000].entries()) {
    sockets[2 + number].onclose();
    assert.deepEqual(pass(), [wait]);
  }
  sockets[9].onclose();
  assert.deepEqual(pass(), []);
  assert.equal(sockets.length, 10);
});

test('a view that closes while the connection is broken makes none', () => {
  const { sockets, hear, pass } = studio();
  hear({ ...here, view: 1, model: 'a' });
  sockets[0].onopen();
  sockets[0].onclose();
  hear({ type: 'close', view: 1 });
  pass();
  assert.equal(sockets.length, 1);
});
