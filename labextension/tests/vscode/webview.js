// The output page of VS Code: the widget manager that its Jupyter extension runs there (the page has loaded it), on a
// kernel connection whose socket is the message channel to the extension. Source of what is done here: the extension's
// src/webviews/webview-side/ipywidgets/kernel, read in 2026.

import { ServerConnection } from '@jupyterlab/services';
import { KernelConnection } from '@jupyterlab/services/lib/kernel/default';

const WIDGET = 'application/vnd.jupyter.widget-view+json';
/** What the extension's connection has of JupyterLab's; nothing about subshells is among it. */
const SHARED = new Set(
  `statusChanged connectionStatusChanged unhandledMessage anyMessage iopubMessage serverSettings id name model username
  clientId status handleComms isDisposed connectionStatus spec info hasComm createComm disposed shutdown
  sendShellMessage sendControlMessage reconnect interrupt restart requestKernelInfo requestComplete requestInspect
  requestHistory requestExecute requestDebug requestIsComplete requestCommInfo sendInputReply registerCommTarget
  removeCommTarget dispose registerMessageHook removeMessageHook`.split(/\s+/)
);
const known = new Set(); // modules that requirejs can find
const requests = new Map();
const displayed = new Map(); // model id -> that its display message was handled
let socket = null;
let real = null;
let manager = null;

function tell(type, payload) {
  window.parent.postMessage({ type, payload }, '*');
}

class Channel {
  sendEnabled = true;
  protocol = ''; // the old one: text where there are no buffers

  constructor() {
    socket = this;
  }

  close() {}

  send(data) {
    if (this.sendEnabled) {
      tell(typeof data === 'string' ? 'text' : 'binary', typeof data === 'string' ? data : null);
    }
  }
}

function connect({ clientId, username, model }) {
  const serverSettings = ServerConnection.makeSettings({ WebSocket: Channel, wsUrl: 'none' });
  real = new KernelConnection({ serverSettings, clientId, username, model, handleComms: true });
  const asks = real.requestKernelInfo;
  real.requestKernelInfo = () => Promise.resolve();
  socket.onopen({ target: socket });
  real.requestKernelInfo = asks;
  return new Proxy(real, {
    get(target, name) {
      if (name === 'registerCommTarget') {
        return (comm, callback) => {
          tell('target', comm);
          target.registerCommTarget(comm, callback);
        };
      }
      const value = SHARED.has(name) ? target[name] : undefined;
      return typeof value === 'function' ? value.bind(target) : value;
    }
  });
}

const scriptLoader = {
  widgetsRegisteredInRequireJs: known,
  loadWidgetScript: name =>
    new Promise(resolve => {
      const request = `${name}:${requests.size}`;
      requests.set(request, resolve);
      tell('source', { name, request });
    }),
  successHandler: () => undefined,
  errorHandler: (kind, name, version, error) => tell('failed', `${name} ${version} ${kind}: ${String(error)}`)
};

function waitDisplayed(id) {
  if (!displayed.has(id)) {
    let resolve;
    const promise = new Promise(done => (resolve = done));
    displayed.set(id, { promise, resolve });
  }
  return displayed.get(id);
}

async function noteDisplay(_, message) {
  const id = message.content?.data?.[WIDGET]?.model_id;
  if (id && /^(display_data|execute_result)$/.test(message.header.msg_type)) {
    await manager.get_model(id);
    waitDisplayed(id).resolve();
  }
}

/** After half a second the extension sees to it that buttons can be reached and pressed by keys. */
function reachButtons(place) {
  for (const button of place.querySelectorAll('button:not([tabindex])')) {
    button.setAttribute('tabindex', '0');
    button.addEventListener('keydown', event => {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        button.click();
      }
    });
  }
}

async function show({ data }) {
  const output = document.createElement('div');
  output.className = 'output';
  document.querySelector('#container').append(output);
  const id = data[WIDGET]?.model_id;
  if (id) {
    output.className += ' cell-output-ipywidget-background';
    await waitDisplayed(id).promise;
    const view = await manager.create_view(await manager.get_model(id), { el: output });
    await manager.display_view(data[WIDGET], view, { node: output });
    setTimeout(() => reachButtons(output), 500);
  } else if (data['image/png']) {
    const image = document.createElement('img');
    image.src = `data:image/png;base64,${data['image/png']}`;
    output.append(image);
  } else {
    output.innerText = data['text/plain'];
  }
}

const told = {
  kernel: options => {
    const kernel = connect(options);
    if (!window.vscIPyWidgets) {
      window.vscIPyWidgets8.load();
    }
    const { WidgetManager } = window.vscIPyWidgets;
    manager = new WidgetManager(kernel, undefined, scriptLoader, () => undefined, undefined);
    kernel.iopubMessage.connect((sender, message) => void noteDisplay(sender, message));
  },
  text: data => socket?.onmessage?.({ target: socket, data, type: '' }),
  binary: data => socket?.onmessage?.({ target: socket, data: new Uint8Array(data).buffer, type: '' }),
  execute: message => {
    socket.sendEnabled = false;
    real.sendShellMessage(message, false, message.content.silent);
    socket.sendEnabled = true;
  },
  source: ({ name, request, address }) => {
    if (address) {
      window.requirejs.config({ paths: { [name]: address.replace(/\.js$/, '') } });
      known.add(name);
    }
    requests.get(request)?.();
  },
  restart: () => {
    manager.dispose();
    real.dispose();
  },
  output: output => void show(output).catch(error => tell('failed', String(error))),
  theme: kind => {
    document.body.className = `vscode-body ${kind}`;
    document.body.dataset.vscodeThemeKind = kind;
  }
};

window.addEventListener('message', event => {
  if (event.source === window.parent && event.data.type in told) {
    told[event.data.type](event.data.payload);
  }
});
document.body.addEventListener('click', event => {
  const link = event.composedPath().find(node => node instanceof HTMLAnchorElement && node.href.startsWith('blob:'));
  if (link) {
    event.preventDefault();
    tell('file', link.download);
  }
});
window.addEventListener('error', event => tell('failed', event.message));
window.addEventListener('unhandledrejection', event => tell('failed', String(event.reason?.stack ?? event.reason)));

import(/* webpackIgnore: true */ window.settings.manager).then(({ activate }) => {
  activate();
  tell('ready', null);
});
