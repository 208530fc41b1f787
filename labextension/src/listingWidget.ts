// The listing widget: what a page holds for a text or a table of the kernel process, and the glue between both.

import { DOMWidgetModel, DOMWidgetView } from '@jupyter-widgets/base';
import type { Kernel } from '@jupyterlab/services';
import { element } from './element';
import { openChannel, type Channel } from './kernel/channel';
import { readListingMessage, type FromListing, type Selected } from './kernel/listing';
import { Code } from './listing/code';
import { Table } from './listing/table';
import { MODULE, VERSION } from './version';

export class ListingModel extends DOMWidgetModel {
  override defaults(): Record<string, unknown> {
    return {
      ...super.defaults(),
      _model_name: 'ListingModel',
      _model_module: MODULE,
      _model_module_version: VERSION,
      _view_name: 'ListingView',
      _view_module: MODULE,
      _view_module_version: VERSION
    };
  }
}

export class ListingView extends DOMWidgetView {
  override render(): void {
    super.render();
    this.el.classList.add('swb-listing');
    this.el.classList.toggle('swb-live', this.model.comm_live); // a model of a saved notebook has no comm
    this.el.dataset['lmSuppressShortcuts'] = 'true';
    this.status.setAttribute('role', 'status');
    this.trouble.setAttribute('role', 'alert');
    this.el.append(this.title, this.place, this.selection, this.status, this.trouble);
    this.listenTo(this.model, 'msg:custom', (content: unknown, buffers: DataView[]) => this.hear(content, buffers));
    this.listenTo(this.model, 'comm_live_update', () => {
      if (!this.model.comm_live) {
        this.end();
      }
    });
    void this.connect();
  }

  override remove(): void {
    this.gone = true;
    this.channel?.close();
    this.code.remove();
    super.remove();
  }

  private async connect(): Promise<void> {
    const manager = this.model.widget_manager as unknown as { kernel?: Kernel.IKernelConnection };
    const fallback = (message: FromListing): void => this.send({ ...message });
    const channel = await openChannel<FromListing>(manager.kernel, this.model.model_id, fallback, this.end);
    if (this.gone) {
      channel.close();
      return;
    }
    this.channel = channel;
    this.ask({ type: 'ready' });
  }

  private readonly end = (): void => {
    this.ended = true;
    this.trouble.textContent = 'The kernel process of this view has ended. Run the cell again.';
  };

  private ask(message: FromListing): void {
    if (this.ended) {
      return; // what is said about that stays; the text may still be read
    }
    if (message.type !== 'drawn') {
      this.trouble.textContent = ''; // it belonged to what was asked before
    }
    this.channel?.send(message);
  }

  private hear(content: unknown, buffers: DataView[]): void {
    const message = readListingMessage(content, buffers);
    switch (message?.type) {
      case 'text':
        this.title.textContent = message.title;
        this.code.open(message);
        this.show(this.code.node);
        break;
      case 'table':
        this.title.textContent = message.title;
        this.table.open(message);
        this.show(this.table.node);
        break;
      case 'selected':
        this.select(message);
        break;
      case 'buttons':
        this.code.showButtons(message.buttons);
        break;
      case 'status':
        this.status.textContent = message.text;
        break;
      case 'answer':
        this.table.reply(message.text);
        break;
      case 'error':
        this.trouble.textContent = message.text;
        break;
      case undefined:
        return;
    }
    this.el.dataset['heard'] = String(Number(this.el.dataset['heard'] ?? 0) + 1);
  }

  private show(node: HTMLElement): void {
    if (node.parentElement !== this.place) {
      this.place.replaceChildren(node);
    }
  }

  private select(selected: Selected): void {
    this.selection.textContent = selected.text;
    this.code.select(selected);
    this.table.select(selected);
  }

  private ended = false;
  private readonly title = element('div', 'swb-listing-title');
  private readonly place = element('div', 'swb-listing-place');
  private readonly selection = element('div', 'swb-selection');
  private readonly status = element('div', 'swb-listing-status');
  private readonly trouble = element('div', 'swb-trouble');
  private readonly code = new Code(
    message => this.ask(message),
    text => (this.status.textContent = text)
  );
  private readonly table = new Table(
    message => this.ask(message),
    text => (this.status.textContent = text)
  );
  private channel: Channel<FromListing> | null = null;
  private gone = false;
}
