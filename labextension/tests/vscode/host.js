// The window of VS Code, reduced to what widgets meet: the Jupyter extension's connection with the kernel process, and
// all that passes between it and the output page, which is a frame here. Only text and plain objects pass, as there.

import { ServerConnection } from '@jupyterlab/services';
import { KernelConnection } from '@jupyterlab/services/lib/kernel/default';

const { token, scripts, webview } = window.settings; // scripts: where widget modules are, found by Python
const frame = document.querySelector('iframe');
let kernel = null;
let ready = null;

window.refused = []; // what the extension would not pass on
window.asked = []; // modules that were asked for
window.passed = { text: 0, binary: 0 }; // messages to the output page
window.failures = [];
window.files = []; // names of those that VS Code offers to save

function tell(type, payload) {
  frame.contentWindow.postMessage({ type, payload }, webview);
}

/** The extension sees every message as it comes, before its own connection does, and passes it on. */
class Mirrored extends WebSocket {
  constructor(address) {
    super(address); // no subprotocol: text where there are no buffers
    this.addEventListener('message', ({ data }) => {
      const text = typeof data === 'string';
      window.passed[text ? 'text' : 'binary'] += 1;
      tell(text ? 'text' : 'binary', text ? data : [...new Uint8Array(data)]);
    });
  }
}

const told = {
  ready: () => ready(),
  text: data => {
    const message = JSON.parse(data);
    kernel[message.channel === 'control' ? 'sendControlMessage' : 'sendShellMessage'](message);
  },
  binary: () => window.refused.push('a message with buffers'),
  target: name => kernel.registerCommTarget(name, () => undefined),
  source: ({ name, request }) => {
    window.asked.push(name);
    tell('source', { name, request, address: scripts[name] });
  },
  file: name => window.files.push(name),
  failed: failure => window.failures.push(failure)
};
window.addEventListener('message', event => {
  if (event.origin === webview && event.data.type in told) {
    told[event.data.type](event.data.payload);
  }
});

/** Start a kernel process and let the output page know it. */
window.start = async () => {
  const serverSettings = ServerConnection.makeSettings({
    baseUrl: location.origin,
    wsUrl: location.origin.replace('http', 'ws'),
    token,
    appendToken: true,
    WebSocket: Mirrored
  });
  const headers = { Authorization: `token ${token}` };
  const answer = await fetch('/api/kernels', { method: 'POST', headers, body: JSON.stringify({ name: 'python3' }) });
  const model = await answer.json();
  const waiting = new Promise(resolve => (ready = resolve));
  frame.src = `${webview}/`;
  await waiting;
  kernel = new KernelConnection({ serverSettings, model, handleComms: true });
  kernel.commsOverSubshells = 'disabled'; // a message of the output page goes out as it is
  kernel.registerCommTarget('jupyter.widget', () => undefined);
  await kernel.info;
  tell('kernel', { clientId: kernel.clientId, username: kernel.username, model });
  await nameNotebook();
};

/** What the extension runs by itself in a new kernel process. */
function nameNotebook() {
  return kernel.requestExecute({ code: "__vsc_ipynb_file__ = 'stand-in.ipynb'", silent: true }).done;
}

/** Run a cell; its outputs go to the output page. Resolves with the error's text, or null. */
window.run = async code => {
  const future = kernel.requestExecute({ code, stop_on_error: true });
  tell('execute', future.msg);
  let wrong = null;
  future.onIOPub = ({ header, content }) => {
    if (header.msg_type === 'display_data' || header.msg_type === 'execute_result') {
      tell('output', { id: `${header.msg_id}`, data: content.data });
    } else if (header.msg_type === 'error') {
      wrong = content.traceback.join('\n');
    }
  };
  await future.done;
  return wrong;
};

/** A new kernel process; the output page gets a new manager for it, and forgets the old one. */
window.restart = async () => {
  await kernel.restart();
  tell('restart', null);
  tell('kernel', { clientId: kernel.clientId, username: kernel.username, model: kernel.model });
  await nameNotebook();
};

window.theme = kind => tell('theme', kind);
