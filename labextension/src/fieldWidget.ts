// The field widget: what a page holds for a field, and the glue between channel, picture and controls.

import { DOMWidgetModel, DOMWidgetView } from '@jupyter-widgets/base';
import type { Kernel } from '@jupyterlab/services';
import { readTable } from './field/colours';
import { Controls } from './field/controls';
import { obeyKey } from './field/keys';
import { Latest } from './field/latest';
import { short } from './field/numbers';
import { element, Picture } from './field/picture';
import { openChannel, type Channel } from './kernel/channel';
import { readMessage, type Frame, type FromKernel, type Opening, type ToKernel } from './kernel/protocol';
import { MODULE, VERSION } from './version';

export class FieldModel extends DOMWidgetModel {
  override defaults(): Record<string, unknown> {
    return {
      ...super.defaults(),
      _model_name: 'FieldModel',
      _model_module: MODULE,
      _model_module_version: VERSION,
      _view_name: 'FieldView',
      _view_module: MODULE,
      _view_module_version: VERSION
    };
  }
}

export class FieldView extends DOMWidgetView {
  override render(): void {
    super.render();
    this.el.classList.add('swb-field', 'swb-live');
    this.el.dataset['lmSuppressShortcuts'] = 'true';
    this.el.addEventListener('keydown', (event: KeyboardEvent) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && obeyKey(event.target, event.key)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    this.status.setAttribute('role', 'status');
    this.trouble.setAttribute('role', 'alert');
    this.controls.palette.addEventListener('change', () => this.choosePalette(this.controls.palette.value));
    this.picture.canvas.addEventListener('pointermove', event => this.point(event));
    this.picture.canvas.addEventListener('pointerleave', () => this.unpoint());
    this.picture.canvas.addEventListener('keydown', event => this.pointByKey(event));
    this.el.append(this.title, this.picture.node, this.values, this.status, this.trouble, this.controls.node);
    this.listenTo(this.model, 'msg:custom', (content: unknown, buffers: DataView[]) => this.hear(content, buffers));
    this.listenTo(this.model, 'comm_live_update', () => {
      if (!this.model.comm_live) {
        this.trouble.textContent = 'The kernel process of this view has ended. Run the cell again.';
      }
    });
    void this.connect();
  }

  override remove(): void {
    this.gone = true;
    this.latest.clear();
    this.channel?.close();
    super.remove();
  }

  private async connect(): Promise<void> {
    const manager = this.model.widget_manager as unknown as { kernel?: Kernel.IKernelConnection };
    const channel = await openChannel<ToKernel>(manager.kernel, this.model.model_id, message => this.send({ ...message }));
    if (this.gone) {
      channel.close();
      return;
    }
    this.channel = channel;
    this.ask({ type: 'ready' });
  }

  private ask(message: ToKernel): void {
    this.channel?.send(message);
  }

  private hear(content: unknown, buffers: DataView[]): void {
    const message: FromKernel | null = readMessage(content, buffers);
    switch (message?.type) {
      case 'opening':
        this.open(message);
        break;
      case 'frame':
        this.latest.put(message);
        break;
      case 'status':
        this.controls.showStatus(message);
        break;
      case 'point':
        this.status.textContent = message.text ? `${this.pointed}: ${message.text.replace('-', '\u2212')}` : '';
        break;
      case 'error':
        this.trouble.textContent = message.text;
        break;
      case undefined:
        break;
    }
  }

  private open(opening: Opening): void {
    this.opening = opening;
    this.controls.open(opening);
  }

  private draw(frame: Frame): void {
    if (frame.palette !== this.palette) {
      this.choosePalette(frame.palette, false);
    }
    this.frame = frame;
    this.picture.draw(frame);
    this.controls.showFrame(frame);
    this.describe(frame);
    this.ask({ type: 'drawn', number: frame.number });
    this.el.dataset['number'] = String(frame.number);
    this.el.dataset['drawn'] = String(Number(this.el.dataset['drawn'] ?? 0) + 1);
  }

  private describe(frame: Frame): void {
    const time = frame.time === null ? '' : `, t = ${short(frame.time)}`;
    this.title.textContent = `${frame.name}${this.opening ? ` of ${this.opening.machine}` : ''}, step ${frame.step}${time}`;
    const unit = frame.unit ? ` ${frame.unit}` : '';
    const cuts = frame.cuts.map(cut => `${cut.label.name} = cell ${cut.index}`).join(', ');
    const range =
      frame.minimum === null || frame.maximum === null
        ? 'no finite value'
        : `min ${short(frame.minimum)}, max ${short(frame.maximum)}${unit}`;
    const wrong = frame.notNumbers + frame.infinite;
    const flags = wrong ? `; ${frame.notNumbers} NaN, ${frame.infinite} infinite` : '';
    this.values.textContent = `${range}${flags}${cuts ? `; ${cuts}` : ''}`;
    this.values.classList.toggle('swb-wrong', wrong > 0);
    const label = `${frame.name}: ${frame.across.name} to the right, ${frame.up ? frame.up.name : frame.name} up`;
    this.picture.canvas.setAttribute('aria-label', `${label}. Arrow keys read the value of a cell.`);
  }

  private choosePalette(name: string, tell = true): void {
    const table = this.opening?.palettes[name];
    if (table) {
      this.palette = name;
      this.picture.table = readTable(table);
      if (tell) {
        this.ask({ type: 'palette', value: name });
      }
    }
  }

  private point(event: PointerEvent): void {
    const cell = this.frame && this.picture.cellAt(this.frame, event.clientX, event.clientY);
    if (cell) {
      this.read(cell.column, cell.row);
    }
  }

  private pointByKey(event: KeyboardEvent): void {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!move || !this.frame) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const { columns, rows, kind } = this.frame;
    const far = event.shiftKey ? 10 : 1;
    const column = Math.min(columns - 1, Math.max(0, this.cell.column + far * (move[0] ?? 0)));
    const row = kind === 'line' ? 0 : Math.min(rows - 1, Math.max(0, this.cell.row + far * (move[1] ?? 0)));
    this.read(column, row);
  }

  /** Ask for the exact value of a cell; a frame holds only its level. */
  private read(column: number, row: number): void {
    const frame = this.frame;
    const now = performance.now();
    if (!frame || (column === this.cell.column && row === this.cell.row) || now - this.asked < 50) {
      return;
    }
    this.asked = now;
    this.cell = { column, row };
    const lowest = (frame.rows - 1) * frame.stride;
    const places = [`${frame.across.name} cell ${column * frame.stride}`];
    if (frame.up) {
      places.push(`${frame.up.name} cell ${lowest - row * frame.stride}`);
    }
    this.pointed = `${frame.name} at ${places.join(', ')}`;
    this.ask({ type: 'point', column, row });
  }

  private unpoint(): void {
    this.status.textContent = '';
    this.cell = { column: 0, row: 0 };
  }

  private readonly picture = new Picture();
  private readonly controls = new Controls(message => {
    this.trouble.textContent = ''; // it belonged to what was asked before
    this.ask(message);
  });
  private readonly latest = new Latest<Frame>(
    frame => this.draw(frame),
    callback => requestAnimationFrame(callback)
  );
  private readonly title = element('div', 'swb-title');
  private readonly values = element('div', 'swb-values');
  private readonly status = element('div', 'swb-status');
  private readonly trouble = element('div', 'swb-trouble');
  private channel: Channel<ToKernel> | null = null;
  private opening: Opening | null = null;
  private frame: Frame | null = null;
  private palette = '';
  private gone = false;
  private cell = { column: 0, row: 0 };
  private pointed = '';
  private asked = 0;
}
