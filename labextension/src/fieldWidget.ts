// The field widget: what a page holds for a field, and the glue between channel, picture and controls.

import { DOMWidgetModel, DOMWidgetView } from '@jupyter-widgets/base';
import type { Kernel } from '@jupyterlab/services';
import { readTable } from './field/colours';
import { showCharts } from './field/charts';
import { Controls } from './field/controls';
import { obeyKey } from './field/keys';
import { atMostEvery, Latest } from './field/latest';
import { apart } from './field/numbers';
import { element } from './element';
import { keepFile, rasterise } from './files';
import { Picture } from './field/picture';
import { middleOf, placesOf } from './field/places';
import { Receipts } from './field/receipts';
import { openPainter, type Painter } from './field/sharing';
import { Undrawn } from './field/undrawn';
import { openChannel, streamAddress, type Channel } from './kernel/channel';
import { readMessage, type Frame, type FromKernel, type HandedFile, type Opening, type Point, type ToKernel } from './kernel/protocol';
import { MODULE, VERSION } from './version';

/** Milliseconds between two changes of the words around a moving picture; each makes the browser lay out the page. */
const WORDS_EVERY = 250;

/** How far an arrow key moves over points; particles are found that far away. */
const PIXELS_A_KEY = 8;

/** The cell that arrow keys have moved to. */
interface Cursor {
  plane: number;
  column: number;
  row: number;
}

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
    this.el.classList.add('swb-field');
    this.el.classList.toggle('swb-live', this.model.comm_live); // a model of a saved notebook has no comm
    this.el.dataset['lmSuppressShortcuts'] = 'true';
    this.el.addEventListener('keydown', (event: KeyboardEvent) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && obeyKey(event.target, event.key)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    this.status.setAttribute('role', 'status');
    this.note.setAttribute('role', 'status');
    this.trouble.setAttribute('role', 'alert');
    this.controls.palette.addEventListener('change', () => this.choosePalette(this.controls.palette.value));
    this.controls.node.addEventListener('swb-charts', () => this.wantCharts());
    this.controls.node.addEventListener('swb-save', event => this.save((event as CustomEvent<string>).detail));
    this.sized.observe(this.charts);
    this.el.append(this.title, this.pictureArea, this.values, this.note, this.status, this.trouble, this.controls.node, this.charts);
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
    this.sized.disconnect();
    this.lines.clear();
    this.words.clear();
    this.channel?.close();
    this.painter?.close();
    super.remove();
  }

  private async connect(): Promise<void> {
    const manager = this.model.widget_manager as unknown as { kernel?: Kernel.IKernelConnection };
    const address = manager.kernel ? streamAddress(manager.kernel) : null;
    const [channel, painter] = await Promise.all([
      openChannel<ToKernel>(manager.kernel, this.model.model_id, message => this.send({ ...message }), this.end),
      openPainter(
        address ? { address, model: this.model.model_id } : null,
        (number, at) => this.drew(number, at),
        text => (this.trouble.textContent = `The field cannot be drawn: ${text}`)
      )
    ]);
    if (this.gone) {
      channel.close();
      painter.close();
      return;
    }
    this.channel = channel;
    this.painter = painter;
    this.ask({ type: 'ready' });
    this.wantCharts();
  }

  private readonly end = (): void => {
    this.controls.node.inert = true;
    this.trouble.textContent = 'The kernel process of this view has ended. Run the cell again.';
  };

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
        if (this.painter) {
          this.take(message); // else it is for another view of this model
        }
        break;
      case 'status':
        this.controls.showStatus(message);
        this.probes = message.probes;
        this.mark();
        this.note.textContent = message.waitsFor ? `compiling ${message.waitsFor}` : message.note;
        break;
      case 'point':
        this.status.textContent = this.told(message);
        break;
      case 'charts':
        showCharts(this.charts, message.charts);
        break;
      case 'file':
        this.keep(message);
        break;
      case 'error':
        this.trouble.textContent = message.text;
        this.controls.refuse();
        this.controls.node.inert = message.ended;
        break;
      case undefined:
        break;
    }
  }

  private open(opening: Opening): void {
    this.opening = opening;
    this.controls.open(opening);
    this.tables = Object.fromEntries(Object.entries(opening.palettes).map(([name, table]) => [name, readTable(table)]));
    this.painter?.tables(this.tables);
  }

  private take(frame: Frame): void {
    if (frame.palette !== this.palette) {
      this.choosePalette(frame.palette, false);
    }
    this.frame = frame;
    if (this.arrange(frame)) {
      this.describe(frame);
    } else if (frame.kind === 'points') {
      this.mark(); // what is probed moves
    }
    frame.planes.forEach((plane, number) => this.pictures[number]?.fit(frame.kind, plane));
    this.undrawn.take(frame);
    if (frame.kind === 'line') {
      this.lines.put(frame);
    } else if (!frame.apart) {
      const shared = Object.keys(this.model.views ?? {}).length > 1; // all views of one model get the same bytes
      this.painter?.frame({ number: frame.number, palette: frame.palette, pictures: frame.planes }, shared);
    }
  }

  /** This frame is on its canvases, since when the page may have been busy. */
  private drew(number: number, at: number): void {
    this.receipts.drawn(number);
    this.undrawn.drawn(number);
    this.el.dataset['drawnAt'] = String(at);
    this.el.dataset['number'] = String(number);
    this.el.dataset['drawn'] = String(Number(this.el.dataset['drawn'] ?? 0) + 1);
  }

  /**
   * As many pictures as the frame has planes; whether they are new. So are their canvases then, because one on which a
   * line was drawn cannot be handed over.
   */
  private arrange(frame: Frame): boolean {
    if (this.pictures.length === frame.planes.length && this.kind === frame.kind) {
      return false;
    }
    this.kind = frame.kind;
    this.pictures = frame.planes.map((_, number) => this.newPicture(number));
    this.pictureArea.replaceChildren(...this.pictures.map(picture => picture.node));
    this.pictureArea.classList.toggle('swb-volume', frame.planes.length > 1);
    this.el.classList.toggle('swb-wide', frame.planes.length > 1);
    if (frame.kind !== 'line') {
      this.painter?.sheets(frame.number, this.pictures.map(picture => picture.canvas));
    }
    this.choosePalette(frame.palette, false);
    this.cursor = null;
    return true;
  }

  private newPicture(number: number): Picture {
    const picture = new Picture();
    const { canvas } = picture;
    canvas.addEventListener('pointermove', event => this.point(event, number, 'point'));
    canvas.addEventListener('click', event => this.point(event, number, 'follow'));
    canvas.addEventListener('pointerleave', () => (this.status.textContent = ''));
    canvas.addEventListener('blur', () => this.moveCursor(null));
    canvas.addEventListener('keydown', event => this.pointByKey(event, number));
    return picture;
  }

  private describe(frame: Frame): void {
    this.el.dataset['told'] = String(frame.number);
    this.mark();
    this.controls.showFrame(frame);
    const time = frame.time && `, ${frame.time}`;
    this.title.textContent = `${frame.subject}${this.opening ? ` of ${this.opening.machine}` : ''}, step ${frame.step}${time}`;
    const { planes } = frame;
    const unit = frame.unit ? ` ${frame.unit}` : '';
    const cuts = new Map(planes.flatMap(plane => plane.cuts.map(cut => [cut.label.name, cut.index] as const)));
    const places = [...cuts].map(([name, index]) => `${name} = cell ${index}`).join(', ');
    const least = planes.flatMap(plane => plane.minimum ?? []);
    const greatest = planes.flatMap(plane => plane.maximum ?? []);
    const [low, high] = apart([Math.min(...least), Math.max(...greatest)]);
    const what = frame.kind === 'points' ? `${frame.name}: ` : '';
    const range = least.length ? `${what}min ${low}, max ${high}${unit}` : 'no finite value';
    const counts = planes.map(plane => [plane.notNumbers, plane.infinite] as const);
    const [notNumbers, infinite] = counts.reduce(([a, b], [c, d]) => [a + c, b + d]);
    const flags = notNumbers + infinite ? `; ${notNumbers} NaN, ${infinite} infinite shown` : '';
    const wrong = frame.wrong ? `; ${frame.wrong}` : '';
    this.values.textContent = [range, places, frame.thinning].filter(Boolean).join('; ') + flags + wrong;
    this.values.classList.toggle('swb-wrong', frame.wrong !== null || flags !== '');
    planes.forEach((plane, number) => this.pictures[number]?.letter(frame, plane));
  }

  private choosePalette(name: string, tell = true): void {
    const table = this.tables[name];
    if (table) {
      this.palette = name;
      this.pictures.forEach(picture => picture.colour(table));
      if (tell) {
        this.ask({ type: 'palette', value: name });
      }
    }
  }

  private mark(): void {
    const { frame } = this;
    if (!frame) {
      return;
    }
    const cuts = new Map(frame.planes.length > 1 ? frame.planes.flatMap(p => p.cuts.map(c => [c.axis, c.index] as const)) : []);
    frame.planes.forEach((plane, number) => {
      const { cursor } = this;
      const at = cursor && cursor.plane === number ? middleOf(plane, cursor.column, cursor.row) : null;
      this.pictures[number]?.mark(plane, placesOf(plane, this.probes), at, cuts);
    });
  }

  private moveCursor(cursor: Cursor | null): void {
    this.cursor = cursor;
    this.mark();
  }

  private point(event: PointerEvent | MouseEvent, number: number, type: 'point' | 'follow'): void {
    const { frame } = this;
    const plane = frame?.planes[number];
    const cell = frame && plane && this.pictures[number]?.cellAt(frame.kind, plane, event.clientX, event.clientY);
    const now = performance.now();
    if (cell && (type === 'follow' || now - this.asked > 50)) {
      this.asked = now;
      this.ask({ type, ...cell, plane: number });
    }
  }

  private pointByKey(event: KeyboardEvent, number: number): void {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Enter: [0, 0] }[event.key];
    const plane = this.frame?.planes[number];
    if (!move || !plane) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const far = (event.shiftKey ? 10 : 1) * (plane.particles ? PIXELS_A_KEY : 1);
    const from = this.cursor?.plane === number ? this.cursor : { column: 0, row: plane.rows - 1 };
    const line = this.frame?.kind === 'line';
    const column = Math.min(plane.columns - 1, Math.max(0, from.column + far * (move[0] ?? 0)));
    const row = line ? 0 : Math.min(plane.rows - 1, Math.max(0, from.row + far * (move[1] ?? 0)));
    this.moveCursor({ plane: number, column, row });
    this.ask({ type: event.key === 'Enter' ? 'follow' : 'point', column, row, plane: number });
  }

  /** The exact value of a cell or a particle; a frame holds only its level. */
  private told(point: Point): string {
    const axes = this.opening?.axes ?? [];
    const points = this.frame?.kind === 'points';
    if (points && point.cell.length === 0) {
      return 'no particle here';
    }
    const places = points
      ? `particle ${point.cell[0]}`
      : point.cell.map((index, axis) => `${axes[axis]?.name ?? axis} cell ${index}`).join(', ');
    return `${this.frame?.name ?? ''} at ${places}: ${point.text.replace('-', '\u2212')}`;
  }

  private wantCharts(): void {
    const width = Math.round(this.charts.clientWidth) || 480;
    this.ask({ type: 'charts', groups: this.controls.groups(), width });
  }

  private save(kind: string): void {
    this.rasterising = kind === 'png';
    this.ask({ type: 'export', value: this.rasterising ? 'svg' : kind });
  }

  private keep(file: HandedFile): void {
    if (this.rasterising && file.kind === 'image/svg+xml') {
      this.rasterising = false;
      rasterise(file).then(
        png => keepFile(file.name.replace(/svg$/, 'png'), png),
        (error: unknown) => (this.trouble.textContent = `The picture cannot be saved: ${String(error)}`)
      );
      return;
    }
    keepFile(file.name, new Blob([file.data.slice()], { type: file.kind }));
  }

  private pictures: Picture[] = [];
  private kind: Frame['kind'] | null = null;
  private readonly pictureArea = element('div', 'swb-pictures');
  private readonly charts = element('div', 'swb-charts');
  private readonly sized = new ResizeObserver(() => this.wantCharts());
  private readonly controls = new Controls(message => {
    this.trouble.textContent = ''; // it belonged to what was asked before
    this.ask(message);
  });
  private readonly lines = new Latest<Frame>(
    frame => {
      frame.planes.forEach((plane, number) => this.pictures[number]?.drawLine(plane));
      this.drew(frame.number, Date.now());
    },
    callback => requestAnimationFrame(callback)
  );
  private readonly undrawn = new Undrawn<Frame>(frame => this.words.put(frame));
  private readonly words = new Latest<Frame>(
    frame => this.describe(frame),
    atMostEvery(WORDS_EVERY, (callback, milliseconds) => void setTimeout(callback, milliseconds), () => performance.now())
  );
  private readonly receipts = new Receipts(
    number => this.ask({ type: 'drawn', number }),
    (callback, milliseconds) => void setTimeout(callback, milliseconds),
    () => performance.now()
  );
  private readonly title = element('div', 'swb-title');
  private readonly values = element('div', 'swb-values');
  private readonly status = element('div', 'swb-status');
  private readonly note = element('div', 'swb-waits');
  private readonly trouble = element('div', 'swb-trouble');
  private channel: Channel<ToKernel> | null = null;
  private painter: Painter | null = null;
  private opening: Opening | null = null;
  private tables: Record<string, Uint32Array> = {};
  private frame: Frame | null = null;
  private palette = '';
  private gone = false;
  private cursor: Cursor | null = null;
  private probes: number[][] = [];
  private rasterising = false;
  private asked = 0;
}
