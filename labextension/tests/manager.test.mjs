import assert from 'node:assert/strict';
import test from 'node:test';
import { kernelCameLate } from '../lib/manager.js';

function sessionWith(kernel) {
  const slots = new Set();
  return {
    ready: Promise.resolve(),
    session: kernel ? { kernel } : null,
    kernelChanged: { connect: slot => slots.add(slot), disconnect: slot => slots.delete(slot) },
    change(session) {
      this.session = session;
      [...slots].forEach(slot => slot());
    },
    slots
  };
}

test('a kernel that is there when the session is ready is left to ipywidgets', async () => {
  const context = sessionWith({});
  assert.equal(await kernelCameLate(context), false);
  assert.equal(context.slots.size, 0);
});

test('a kernel that comes later is told once, and not before', async () => {
  const context = sessionWith(null);
  let told = false;
  const late = kernelCameLate(context).then(answer => {
    told = true;
    return answer;
  });
  await Promise.resolve();
  context.change(null);
  context.change({ kernel: null });
  await new Promise(resolve => setTimeout(resolve));
  assert.equal(told, false);
  context.change({ kernel: {} });
  assert.equal(await late, true);
  assert.equal(context.slots.size, 0);
});
