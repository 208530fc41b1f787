// Shows a view in a notebook: live if the page still has its model, else the picture that the notebook holds.

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel, Widget } from '@lumino/widgets';

export const MIME = 'application/vnd.stencil-workbench.view+json';
const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';
const FIRST_WAIT = 500; // milliseconds before looking again for a model, then twice as long and so on
const LAST_WAIT = 16_000;
const STILL_AFTER = 2 * FIRST_WAIT; // the wait after which a picture says that it is one
const CLOSED = 'This view was closed. Run the cell that made it to open another.';
const STILL = 'This is a picture. Run the cell again to see it live.';

/** The notebook's own renderers, of which ipywidgets' is the one that finds models. */
export interface Renderers {
  createRenderer(mimeType: string): IRenderMime.IRenderer;
  createModel(options: { data: Record<string, unknown>; trusted: boolean }): IRenderMime.IMimeModel;
}

export class ViewRenderer extends Panel implements IRenderMime.IRenderer {
  constructor(private readonly renderers: Renderers) {
    super();
    this.addClass('swb-view');
    this.picture.className = 'swb-fallback';
    this.note.className = 'swb-still-note';
    this.note.setAttribute('role', 'status');
    this.note.hidden = true;
    this.addWidget(new Widget({ node: this.note }));
    this.addWidget(new Widget({ node: this.picture }));
    this.addWidget(this.page);
    this.addWidget(this.live);
    this.observer.observe(this.live.node, { childList: true, subtree: true });
  }

  override dispose(): void {
    this.observer.disconnect();
    window.clearTimeout(this.timer);
    super.dispose();
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const png = model.data['image/png'];
    const text = model.data['text/plain'];
    this.picture.alt = typeof text === 'string' ? text : 'a field';
    this.picture.hidden = typeof png !== 'string';
    if (typeof png === 'string') {
      this.picture.src = `data:image/png;base64,${png}`;
    }
    if (model.data['text/html'] !== undefined) {
      await this.renderPage(model);
      if (model.trusted) {
        this.picture.removeAttribute('src'); // the page has its own pictures
        this.picture.hidden = true;
      }
    }
    const view = model.data[MIME] as { model_id?: unknown; closed?: unknown } | undefined;
    this.closed = view?.closed === true;
    this.still = this.wasLive = false;
    this.choose();
    if (typeof view?.model_id === 'string') {
      this.renderLive(view.model_id, FIRST_WAIT);
    }
  }

  /** A view whose static form is a page: drawn by the notebook's own renderer, which trusts it or not. */
  private async renderPage(model: IRenderMime.IMimeModel): Promise<void> {
    const page = this.renderers.createRenderer('text/html');
    while (this.page.widgets.length) {
      this.page.widgets[0]?.dispose();
    }
    this.page.addWidget(page);
    await page.renderModel(model);
  }

  /** Look for the model; when a page is loaded, ipywidgets may come later than this, and then knows nothing of it. */
  private renderLive(modelId: string, wait: number): void {
    this.still = wait >= STILL_AFTER;
    this.inner?.dispose();
    const inner = this.renderers.createRenderer(WIDGET_MIME);
    this.inner = inner;
    this.live.addWidget(inner);
    const data = { [WIDGET_MIME]: { version_major: 2, version_minor: 0, model_id: modelId } };
    void inner.renderModel(this.renderers.createModel({ data, trusted: true })).then(() => this.choose());
    this.choose();
    window.clearTimeout(this.timer);
    if (wait <= LAST_WAIT) {
      this.timer = window.setTimeout(() => {
        if (!this.isDisposed && this.live.isHidden) {
          this.renderLive(modelId, 2 * wait);
        }
      }, wait);
    }
  }

  /** Live as soon as a view is there; a model may come later, when the kernel process is connected. */
  private choose(): void {
    const found = this.live.node.querySelector('.swb-live') !== null;
    this.live.setHidden(!found);
    hide(this.picture, found || !this.picture.getAttribute('src'));
    hide(this.page.node, found);
    this.closed ||= this.wasLive && !found;
    this.wasLive ||= found;
    const told = this.closed ? CLOSED : this.still ? STILL : '';
    hide(this.note, found || told === '');
    if (this.note.textContent !== told) {
      this.note.textContent = told;
    }
  }

  private timer = 0;
  private wasLive = false;
  private closed = false;
  private still = false;
  private inner: IRenderMime.IRenderer | null = null;
  private readonly note = document.createElement('p');
  private readonly picture = document.createElement('img');
  private readonly live = new Panel();
  private readonly page = new Panel();
  private readonly observer = new MutationObserver(() => this.choose());
}

/** To hide what is hidden already would cost the browser a look at all styles. */
function hide(node: HTMLElement, hidden: boolean): void {
  if (node.hidden !== hidden) {
    node.hidden = hidden;
  }
}
