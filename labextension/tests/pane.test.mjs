import assert from 'node:assert/strict';
import test from 'node:test';
import { isTold, Outgoing } from '../lib/bokeh/outgoing.js';
import { keyName, readPaneMessage } from '../lib/kernel/pane.js';

const bytes = text => new DataView(new TextEncoder().encode(text).buffer);
const range = (id, attr, more = {}) => ({ kind: 'ModelChanged', attr, model: { id, type: 'Range1d' }, ...more });

test('a document is read from its bytes', () => {
  const read = readPaneMessage(
    { type: 'document', view: 'v1', version: '3', label: 'a graph', keys: ['f'], tools: [] },
    [bytes('{"roots": []}')]
  );
  assert.deepEqual(read, {
    type: 'document',
    view: 'v1',
    version: '3',
    label: 'a graph',
    keys: ['f'],
    tools: [],
    legend: [],
    json: { roots: [] }
  });
});

test('lines to copy are read', () => {
  assert.deepEqual(readPaneMessage({ type: 'copy', text: 'manifest(y)' }, []), { type: 'copy', text: 'manifest(y)' });
});

test('damaged messages are ignored', () => {
  assert.equal(readPaneMessage({ type: 'document', keys: [], tools: [] }, [bytes('{')]), null);
  assert.equal(readPaneMessage({ type: 'document', keys: [], tools: [] }, []), null);
  assert.equal(readPaneMessage({ type: 'patch', number: 1, content: '{}', names: ['a'] }, []), null);
  assert.equal(readPaneMessage({ type: 'patch', content: '{}', names: [] }, []), null);
  assert.equal(readPaneMessage('patch', []), null);
  assert.equal(readPaneMessage({ type: 'dance' }, []), null);
});

test('a patch brings its buffers by name, without the bytes around them', () => {
  const around = new Uint8Array([9, 1, 2, 3, 9]);
  const body = new DataView(around.buffer, 1, 3);
  const read = readPaneMessage({ type: 'patch', number: 4, content: '{"events": []}', names: ['b7'] }, [body]);
  assert.equal(read.number, 4);
  assert.deepEqual([...new Uint8Array(read.buffers.get('b7'))], [1, 2, 3]);
});

test('keys are named as Python expects them', () => {
  const key = (name, held = {}) =>
    keyName({ key: name, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...held });
  assert.equal(key('Enter'), 'Enter');
  assert.equal(key('f'), 'f');
  assert.equal(key('+', { shiftKey: true }), '+');
  assert.equal(key('z', { ctrlKey: true }), 'Control+z');
  assert.equal(key('z', { metaKey: true }), 'Control+z');
  assert.equal(key('Z', { ctrlKey: true, shiftKey: true }), 'Control+Shift+z');
  assert.equal(key('ArrowUp', { shiftKey: true }), 'Shift+ArrowUp');
});

test('only ranges, selections and events of a reader are told', () => {
  assert.ok(isTold(range('r', 'start')));
  assert.ok(isTold({ kind: 'MessageSent', sync: true }));
  assert.ok(!isTold(range('r', 'start', { sync: false })));
  assert.ok(!isTold({ kind: 'ModelChanged', attr: 'inner_width', model: { id: 'p', type: 'Plot' } }));
});

test('of many changes of one range the last is told, and an event after them', () => {
  const told = [];
  let timer = null;
  const outgoing = new Outgoing(changes => told.push(changes), callback => (timer = callback));
  outgoing.put(range('x', 'start', { value: 1 }));
  outgoing.put(range('x', 'start', { value: 2 }));
  outgoing.put(range('x', 'end', { value: 3 }));
  assert.deepEqual(told, []);
  timer();
  assert.deepEqual(
    told.map(changes => changes.map(change => change.value)),
    [[2, 3]]
  );
  outgoing.put(range('x', 'start', { value: 4 }));
  outgoing.put({ kind: 'MessageSent' });
  assert.deepEqual(
    told.slice(1).map(changes => changes.map(change => change.value ?? 'event')),
    [[4], ['event']]
  );
});
