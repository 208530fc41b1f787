// Lines of text outputs break between words, in notebooks that use the workbench.
//
// JupyterLab breaks a line of an output that is wider than the page anywhere, also inside of words: an error, a listing
// or a table of ours is hard to read on a narrow page. Other notebooks stay as they are.

import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';

/** The class of a notebook whose text outputs break between words; see index.css. */
export const WORDS = 'swb-words';

/** Whether a cell with this text uses the workbench. */
export function usesWorkbench(source: string): boolean {
  return /\bworkbench\b|^%%stencil\b/m.test(source);
}

/** Look at a notebook when it is opened. */
export async function breakBetweenWords(panel: NotebookPanel): Promise<void> {
  await panel.context.ready;
  const cells = panel.isDisposed ? [] : [...(panel.context.model.cells ?? [])];
  if (cells.some(cell => usesWorkbench(cell.sharedModel.getSource()))) {
    panel.content.addClass(WORDS);
  }
}

/** Look at a notebook again whenever one of its cells has been run. */
export function lookAfterRuns(): void {
  NotebookActions.executed.connect((_sender, { notebook, cell }) => {
    if (usesWorkbench(cell.model.sharedModel.getSource())) {
      notebook.addClass(WORDS);
    }
  });
}
