// The plugins of the extension; all there is to find is listed here.

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IJupyterWidgetRegistry } from '@jupyter-widgets/base';
import { PageConfig } from '@jupyterlab/coreutils';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { DIRECT_FRAMES, useDirectFrames } from './kernel/channel';
import { mendManager } from './manager';
import { MIME, ViewRenderer, type Renderers } from './pictures';
import { MODULE, VERSION } from './version';
import { breakBetweenWords, lookAfterRuns } from './words';
import * as widgets from './widgets';

const widgetPlugin: JupyterFrontEndPlugin<void> = {
  id: `${MODULE}:widgets`,
  description: 'Registers the live views with ipywidgets.',
  autoStart: true,
  requires: [IJupyterWidgetRegistry],
  activate: (_: JupyterFrontEnd, registry: unknown) => {
    if (PageConfig.getOption(DIRECT_FRAMES) === 'true') {
      useDirectFrames();
    }
    (registry as IJupyterWidgetRegistry).registerWidget({ name: MODULE, version: VERSION, exports: { ...widgets } });
  }
};

const viewPlugin: JupyterFrontEndPlugin<void> = {
  id: `${MODULE}:views`,
  description: 'Shows views in notebooks, live or as the pictures that the notebook holds.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_: JupyterFrontEnd, tracker: unknown) => {
    const add = (panel: NotebookPanel): void => {
      const { rendermime } = panel.content;
      rendermime.addFactory(
        {
          safe: false,
          mimeTypes: [MIME],
          createRenderer: () => new ViewRenderer(rendermime as unknown as Renderers)
        },
        -20
      );
      void mendManager(panel);
      void breakBetweenWords(panel);
    };
    lookAfterRuns();
    const notebooks = tracker as INotebookTracker;
    notebooks.forEach(add);
    notebooks.widgetAdded.connect((_sender, panel) => add(panel));
  }
};

export default [widgetPlugin, viewPlugin];
