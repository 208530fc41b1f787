import assert from 'node:assert/strict';
import test from 'node:test';
import { openChannel } from '../lib/kernel/channel.js';

function kernelWith(comm) {
  return {
    createComm: () => comm,
    connectionStatus: 'connected',
    disposed: { connect: () => undefined, disconnect: () => undefined },
    supportsSubshells: true
  };
}

function commThatIsHeard() {
  let heard;
  const done = new Promise((resolve, reject) => (heard = { resolve, reject }));
  const told = [];
  const comm = {
    isDisposed: false,
    subshellStarted: Promise.resolve(),
    open: data => told.push(['open', data]),
    send: data => {
      told.push(['send', data]);
      return { done };
    },
    close: () => {
      told.push(['close']);
      comm.isDisposed = true;
    }
  };
  return { comm, told, heard };
}

test('a channel closes after the kernel process has heard that the page leaves', async () => {
  const { comm, told, heard } = commThatIsHeard();
  const channel = await openChannel(kernelWith(comm), 'one', () => undefined, () => undefined);
  channel.close();
  assert.deepEqual(told, [
    ['open', { model_id: 'one' }],
    ['send', { type: 'leave' }]
  ]);
  heard.resolve();
  await new Promise(setImmediate);
  assert.deepEqual(told.at(-1), ['close']);
});

test('a channel of a kernel process that has ended is not closed', async () => {
  const { comm, told, heard } = commThatIsHeard();
  const channel = await openChannel(kernelWith(comm), 'one', () => undefined, () => undefined);
  channel.close();
  heard.reject(new Error('disposed'));
  await new Promise(setImmediate);
  assert.equal(told.length, 2);
});
