// The pane widget: what a page holds for a Bokeh document, and the glue between channel, library and toolbar.

import { DOMWidgetModel, DOMWidgetView } from '@jupyter-widgets/base';
import type { Kernel } from '@jupyterlab/services';
import { install, library, versions, type BokehDocument, type BokehEvent, type BokehViews } from './bokeh/library';
import { Outgoing } from './bokeh/outgoing';
import { Toolbar } from './bokeh/toolbar';
import { keepFile } from './files';
import { openChannel, type Channel } from './kernel/channel';
import { keyName, readPaneMessage, type DocumentMessage, type FromPane, type PatchMessage } from './kernel/pane';
import { MODULE, VERSION } from './version';

export class PaneModel extends DOMWidgetModel {
  override defaults(): Record<string, unknown> {
    return {
      ...super.defaults(),
      _model_name: 'PaneModel',
      _model_module: MODULE,
      _model_module_version: VERSION,
      _view_name: 'PaneView',
      _view_module: MODULE,
      _view_module_version: VERSION
    };
  }
}

export class PaneView extends DOMWidgetView {
  override render(): void {
    super.render();
    this.el.classList.add('swb-pane');
    this.el.classList.toggle('swb-live', this.model.comm_live); // a model of a saved notebook has no comm
    this.el.dataset['lmSuppressShortcuts'] = 'true';
    this.drawing.className = 'swb-drawing';
    this.drawing.tabIndex = 0;
    this.drawing.setAttribute('role', 'application');
    this.drawing.addEventListener('keydown', event => this.press(event));
    this.status.className = 'swb-pane-status';
    this.status.setAttribute('role', 'status');
    this.trouble.className = 'swb-trouble';
    this.trouble.setAttribute('role', 'alert');
    this.legend.className = 'swb-legend';
    this.legend.setAttribute('aria-label', 'Key');
    this.copied.className = 'swb-copied';
    this.copied.tabIndex = 0;
    this.copied.setAttribute('aria-label', 'lines to paste into the cell');
    this.copiedNote.setAttribute('role', 'status');
    this.copied.hidden = this.copiedNote.hidden = true;
    const { copied, copiedNote, drawing, legend, status, toolbar, trouble } = this;
    this.el.append(toolbar.node, drawing, status, trouble, copiedNote, copied, legend);
    this.listenTo(this.model, 'msg:custom', (content: unknown, buffers: DataView[]) => this.hear(content, buffers));
    this.listenTo(this.model, 'comm_live_update', () => {
      if (!this.model.comm_live) {
        this.end();
      }
    });
    const attributeFilter = ['data-jp-theme-light', 'data-vscode-theme-kind'];
    this.theme.observe(document.body, { attributes: true, attributeFilter });
    void this.connect();
  }

  override remove(): void {
    this.gone = true;
    this.theme.disconnect();
    this.channel?.close();
    this.forget();
    super.remove();
  }

  private async connect(): Promise<void> {
    const manager = this.model.widget_manager as unknown as { kernel?: Kernel.IKernelConnection };
    const fallback = (message: FromPane): void => this.send({ ...message });
    const channel = await openChannel<FromPane>(manager.kernel, this.model.model_id, fallback, this.end);
    if (this.gone) {
      channel.close();
      return;
    }
    this.channel = channel;
    this.ask({ type: 'opened', view: this.cid, bokeh: versions().join(' '), dark: isDark() });
  }

  private readonly end = (): void => {
    this.toolbar.node.inert = true;
    this.trouble.textContent = 'The kernel process of this view has ended. Run the cell again.';
  };

  private ask(message: FromPane): void {
    this.channel?.send(message);
  }

  private hear(content: unknown, buffers: DataView[]): void {
    const message = readPaneMessage(content, buffers);
    switch (message?.type) {
      case 'library':
        install(message.version, message.source);
        break;
      case 'document':
        if (message.view === '' || message.view === this.cid) {
          void this.open(message);
        }
        break;
      case 'patch':
        this.apply(message);
        break;
      case 'status':
        this.status.textContent = message.text;
        break;
      case 'tools':
        this.toolbar.show(message.states);
        break;
      case 'file':
        if (this.saving) {
          this.saving = false;
          keepFile(message.name, new Blob([message.body], { type: message.mime }));
        }
        break;
      case 'copy':
        if (this.copying) {
          this.copying = false;
          void this.copy(message.text);
        }
        break;
      case undefined:
        break;
    }
  }

  /** The lines can be seen and selected, also where a page may not write to the clipboard. */
  private async copy(text: string): Promise<void> {
    this.copied.textContent = text;
    this.copied.hidden = false;
    this.copiedNote.hidden = false;
    this.copiedNote.textContent = 'Copy these lines and paste them at the end of the cell:';
    try {
      await navigator.clipboard.writeText(text);
      this.copiedNote.textContent = 'Copied. Paste these lines at the end of the cell:';
    } catch {
      this.copied.focus();
      document.getSelection()?.selectAllChildren(this.copied);
    }
  }

  private async open(message: DocumentMessage): Promise<void> {
    this.forget();
    const bokeh = library(message.version);
    if (!bokeh) {
      this.trouble.textContent = 'BokehJS did not start on this page. Reload the page and run the cell again.';
      return;
    }
    this.keys = new Set(message.keys);
    this.toolbar.open(message.tools, message.label);
    this.drawing.setAttribute('aria-label', message.label);
    this.legend.replaceChildren(...message.legend.map(entry => legendItem(entry.text, entry.picture)));
    const opened = bokeh.require('document').Document.from_json(message.json);
    this.document = opened;
    const outgoing = new Outgoing<BokehEvent>(
      changes => this.ask({ type: 'patch', patch: JSON.parse(JSON.stringify(opened.create_json_patch(changes))) as object }),
      (callback, milliseconds) => setTimeout(callback, milliseconds)
    );
    const views = await bokeh.require('embed/standalone').add_document_standalone(opened, this.drawing);
    if (this.gone || this.document !== opened) {
      removeAll(views);
      return;
    }
    this.views = views;
    opened.on_change(event => {
      if (this.document === opened) {
        outgoing.put(event);
      }
    });
    this.el.dataset['opened'] = 'true';
  }

  /** A patch that comes before the document is drawn still counts: the document exists, only its views do not. */
  private apply(message: PatchMessage): void {
    this.document?.apply_json_patch(message.patch, message.buffers);
    if (message.number) {
      requestAnimationFrame(() => this.ask({ type: 'drawn', number: message.number }));
    }
    this.el.dataset['patches'] = String(Number(this.el.dataset['patches'] ?? 0) + 1);
  }

  private press(event: KeyboardEvent): void {
    const key = keyName(event);
    if (this.keys.has(key)) {
      event.preventDefault();
      event.stopPropagation();
      this.ask({ type: 'key', key });
    }
  }

  private forget(): void {
    if (this.views) {
      removeAll(this.views);
    }
    this.document?.clear();
    this.views = null;
    this.document = null;
    this.drawing.replaceChildren();
  }

  private readonly toolbar = new Toolbar((name, value) => {
    this.saving = name.startsWith('save-');
    this.copying = name === 'hints';
    this.ask({ type: 'tool', name, value });
  });
  private readonly drawing = document.createElement('div');
  private readonly status = document.createElement('div');
  private readonly trouble = document.createElement('div');
  private readonly copied = document.createElement('pre');
  private readonly copiedNote = document.createElement('div');
  private readonly legend = document.createElement('ul');
  private readonly theme = new MutationObserver(() => this.ask({ type: 'theme', dark: isDark() }));
  private channel: Channel<FromPane> | null = null;
  private document: BokehDocument | null = null;
  private views: BokehViews | null = null;
  private keys = new Set<string>();
  private saving = false;
  private copying = false;
  private gone = false;
}

/** The picture is an image, not markup, so that nothing in it can act. */
function legendItem(words: string, svg: string): HTMLElement {
  const item = document.createElement('li');
  const image = document.createElement('img');
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  image.alt = '';
  item.append(image, words);
  return item;
}

function removeAll(views: BokehViews): void {
  for (const view of [...views]) {
    view.remove();
  }
}

function isDark(): boolean {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  return jpThemeLight === 'false' || vscodeThemeKind === 'vscode-dark' || vscodeThemeKind === 'vscode-high-contrast';
}
