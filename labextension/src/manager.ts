// A notebook that ipywidgets has left without a widget manager gets one as soon as it has a kernel.
//
// ipywidgets waits until the session of a notebook is ready and takes its kernel then. JupyterLab also says "ready"
// while there is none: the kernel that it started by itself was dropped for the one that somebody chose meanwhile, or
// it could not be started. ipywidgets fails there (seen in 8.1.9) and does not try again: each comm of a widget is
// answered by "Exception opening new comm", and all widgets of the page stay pictures.

import type { NotebookPanel } from '@jupyterlab/notebook';

/** What there is of a session here, so that it is tested without a page. */
export interface Session {
  readonly ready: Promise<void>;
  readonly session: { readonly kernel: object | null } | null;
  readonly kernelChanged: {
    connect(slot: () => void): boolean;
    disconnect(slot: () => void): boolean;
  };
}

/** True once a kernel is there that was not when the session said "ready"; false if one was: nothing is to be mended. */
export async function kernelCameLate(context: Session): Promise<boolean> {
  await context.ready;
  if (context.session?.kernel) {
    return false;
  }
  await new Promise<void>(resolve => {
    const look = (): void => {
      if (context.session?.kernel) {
        context.kernelChanged.disconnect(look);
        resolve();
      }
    };
    context.kernelChanged.connect(look);
  });
  return true;
}

/** Where ipywidgets has a manager for this kernel by now, it is that one. */
export async function mendManager(panel: NotebookPanel): Promise<void> {
  if (!(await kernelCameLate(panel.context.sessionContext)) || panel.isDisposed) {
    return;
  }
  const { registerWidgetManager } = await import('@jupyter-widgets/jupyterlab-manager');
  const { rendermime } = panel.content;
  const registered = registerWidgetManager(
    panel.context as unknown as Parameters<typeof registerWidgetManager>[0],
    rendermime as unknown as Parameters<typeof registerWidgetManager>[1],
    [].values()
  );
  panel.disposed.connect(() => registered.dispose());
}
