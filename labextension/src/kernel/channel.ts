// The only file that speaks to the kernel process. The page opens this comm and the kernel process never sends on
// it: ipykernel handles a comm in the thread that last sent on it, so these messages are served while a cell runs.

import type { Kernel } from '@jupyterlab/services';

const TARGET = 'stencil-workbench.page';
const SUBSHELL_TIMEOUT = 1000; // milliseconds; an old kernel process never says that it has one

export interface Channel<Message extends object> {
  send(message: Message): void;
  close(): void;
}

/** A channel of our own where the page gives us its kernel connection, else the widget's. `ended`: it has closed. */
export async function openChannel<Message extends object>(
  kernel: Kernel.IKernelConnection | undefined,
  modelId: string,
  fallback: (message: Message) => void,
  ended: () => void
): Promise<Channel<Message>> {
  if (!kernel) {
    return { send: fallback, close: () => undefined };
  }
  kernel.disposed.connect(ended); // all that VS Code does when the kernel process starts again
  const comm = kernel.createComm(TARGET);
  // Only the implementation has this promise, not the published interface.
  const started = (comm as unknown as { subshellStarted?: Promise<unknown> }).subshellStarted;
  if (started && kernel.supportsSubshells) {
    const timeout = new Promise(resolve => setTimeout(resolve, SUBSHELL_TIMEOUT));
    await Promise.race([started, timeout]);
  }
  void comm.open({ model_id: modelId });
  return {
    send: message => {
      if (!comm.isDisposed) {
        void comm.send({ ...message } as unknown as Parameters<typeof comm.send>[0]);
      }
    },
    close: () => {
      kernel.disposed.disconnect(ended);
      if (!comm.isDisposed && kernel.connectionStatus === 'connected') {
        // With a comm JupyterLab deletes its subshell, and what waits there: the kernel process might never hear of it.
        comm.send({ type: 'leave' }).done.then(
          () => void (comm.isDisposed || comm.close()),
          () => undefined // the kernel process has ended
        );
      }
    }
  };
}

/** `c.StencilWorkbench.direct_frames` of the notebook server (workbench/notebook/direct_frames.py). */
export const DIRECT_FRAMES = 'stencilWorkbenchDirectFrames';

let direct = false;

/** Called once, before the first view; other front ends than JupyterLab and Notebook 7 never do. */
export function useDirectFrames(): void {
  direct = true;
}

/**
 * Where the notebook server sends the pictures that are for this page, if it does and the page's connection is a real
 * one; built like JupyterLab's own address, which no interface tells.
 */
export function streamAddress({ id, clientId, serverSettings }: Kernel.IKernelConnection): string | null {
  const { wsUrl, token, appendToken } = serverSettings;
  if (!direct || serverSettings.WebSocket !== WebSocket) {
    return null;
  }
  const address = new URL(`stencil-workbench/kernels/${id}/frames`, wsUrl.endsWith('/') ? wsUrl : `${wsUrl}/`);
  address.searchParams.set('session_id', clientId);
  if (appendToken && token) {
    address.searchParams.set('token', token);
  }
  return address.href;
}
