// Buttons and sliders beside a picture. Says what the user wants through `ask`; knows no kernel.

import { element } from '../element';
import { rangeOf } from './range';
import type { Cut, Frame, Opening, Param, Status, ToKernel } from '../kernel/protocol';

type Ask = (message: ToKernel) => void;

const PACES: readonly [string, number | null][] = [
  ['full speed', null],
  ['1000 steps/s', 1000],
  ['100 steps/s', 100],
  ['30 steps/s', 30],
  ['10 steps/s', 10],
  ['1 step/s', 1]
];

/** How limits of the colours follow the values. */
const LIMITS: readonly [string, string][] = [
  ['growing', 'limits grow'],
  ['free', 'limits follow'],
  ['held', 'limits held']
];

const VOLUME = 'volume';

/** Kinds of files; the page makes a PNG of the SVG, because only a page can write text into pixels. */
const FILES: readonly [string, string][] = [
  ['png', 'picture (PNG)'],
  ['svg', 'picture (SVG)'],
  ['npy', 'all values (NumPy)'],
  ['csv', 'curves (CSV)']
];

export class Controls {
  readonly node = element('div', 'swb-controls');

  constructor(private readonly ask: Ask) {
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', 'simulation');
    this.play.addEventListener('click', () => ask({ type: this.running ? 'pause' : 'play' }));
    const step = button('Step', 'one step', () => ask({ type: 'step' }));
    const reset = button('Reset', 'back to the state that the view was opened with', () => ask({ type: 'reset' }));
    this.limits.append(...LIMITS.map(([kind, what]) => new Option(what, kind)));
    this.limits.setAttribute('aria-label', 'limits');
    this.limits.addEventListener('change', () => ask({ type: 'limits', value: this.limits.value }));
    this.value.addEventListener('change', () => ask({ type: 'switch', name: this.value.value }));
    this.plane.addEventListener('change', () => this.choosePlane());
    this.choices.append(this.shown, this.turned, this.cuts);
    const buttons = element('div', 'swb-row');
    buttons.append(this.play, step, reset, this.pace(), this.palette, this.limits);
    this.node.append(buttons, this.choices, this.params, this.more());
    this.showStatus({ type: 'status', running: false, pace: null, limits: 'growing', recorded: null, waitsFor: '', note: '', probes: [], params: {} });
  }

  /** Make the choices that this simulation offers. */
  open(opening: Opening): void {
    this.palette.replaceChildren(...Object.keys(opening.palettes).map(name => new Option(name, name)));
    this.inputs.clear();
    this.params.replaceChildren(...opening.params.map(param => this.slider(param)));
    this.value.replaceChildren(...opening.names.map(name => new Option(name, name)));
    this.shown.hidden = opening.names.length < 2;
    this.cuts.replaceChildren();
    this.cutKey = '';
    this.axes = opening.axes.map(axis => axis.name);
    this.plane.replaceChildren(...this.planes());
    this.turned.hidden = this.axes.length < 3;
    this.scalars.parentElement?.toggleAttribute('hidden', !opening.scalars);
    this.profiles.parentElement?.toggleAttribute('hidden', this.axes.length < 2);
  }

  showStatus(status: Status): void {
    this.running = status.running;
    this.play.textContent = status.running ? 'Pause' : 'Play';
    this.play.title = status.running ? 'hold the run at a whole step' : 'run until paused';
    if (document.activeElement !== this.limits) {
      this.limits.value = status.limits;
    }
    if (document.activeElement !== this.speed) {
      this.speed.selectedIndex = PACES.findIndex(([, pace]) => pace === status.pace);
    }
    this.recording = status.recorded !== null;
    this.record.textContent = this.recording ? `Save GIF (${status.recorded} frames)` : 'Record GIF';
    this.record.setAttribute('aria-pressed', String(this.recording));
    this.forget.hidden = status.probes.length === 0;
    this.inForce = status.params;
    for (const [name, value] of Object.entries(status.params)) {
      this.inputs.get(name)?.(value, false);
    }
  }

  /** What was asked for last was refused: a param shows the value in force again, also where one is typing. */
  refuse(): void {
    const value = this.inForce[this.wanted];
    if (value !== undefined) {
      this.inputs.get(this.wanted)?.(value, true);
    }
    this.wanted = '';
  }

  showFrame(frame: Frame): void {
    if (this.palette.value !== frame.palette) {
      this.palette.value = frame.palette;
    }
    this.palette.parentElement?.classList.toggle('swb-line', frame.kind === 'line');
    this.palette.hidden = frame.kind === 'line';
    const what = frame.kind === 'points' ? 'particle' : 'cell';
    const hint = `Click a ${what}, or press Enter on it, to follow its value.`;
    if (this.hint.textContent !== hint) {
      this.hint.textContent = hint;
    }
    if (this.value.value !== frame.name && document.activeElement !== this.value) {
      this.value.value = frame.name; // to set what is set already costs a form's time
    }
    const cuts = cutsOf(frame);
    const key = cuts.map(cut => cut.axis).join();
    if (key !== this.cutKey) {
      this.cutKey = key;
      this.plane.value = frame.planes.length > 1 ? VOLUME : frame.planes[0].shown.join();
      this.cutSlides.clear();
      this.cuts.replaceChildren(...cuts.map(cut => this.cutSlider(cut)));
    }
    for (const cut of cuts) {
      const slide = this.cutSlides.get(cut.axis);
      if (slide && document.activeElement !== slide) {
        slide.value = String(cut.index);
      }
    }
  }

  /** Charts that the user wants; probes are always drawn. */
  groups(): string[] {
    return ['probes', ...(this.scalars.checked ? ['scalars'] : []), ...(this.profiles.checked ? ['profiles'] : [])];
  }

  /** The palette has a listener of its own, because the picture can change before the kernel process answers. */
  readonly palette = element('select', 'swb-select');

  /** What one needs less often, behind one line: curves, recording, files. */
  private more(): HTMLElement {
    const row = element('div', 'swb-row');
    for (const box of [this.scalars, this.profiles]) {
      box.addEventListener('change', () => this.node.dispatchEvent(new Event('swb-charts')));
    }
    this.record.title = 'pictures of what is seen from now on, as one file';
    this.record.addEventListener('click', () => this.ask({ type: 'record', value: !this.recording }));
    this.forget.addEventListener('click', () => this.ask({ type: 'forget' }));
    const file = element('select', 'swb-select');
    file.append(new Option('Save as \u2026', ''), ...FILES.map(([kind, what]) => new Option(what, kind)));
    file.setAttribute('aria-label', 'save as');
    file.addEventListener('change', () => {
      const kind = file.value;
      file.value = '';
      if (kind) {
        this.node.dispatchEvent(new CustomEvent('swb-save', { detail: kind }));
      }
    });
    row.append(labelled('scalars over time', this.scalars), labelled('profiles', this.profiles), this.forget, this.record, file);
    const more = element('details', 'swb-more');
    more.append(element('summary', 'swb-summary', 'Curves and files'), this.hint, row);
    return more;
  }

  private pace(): HTMLSelectElement {
    const select = this.speed;
    select.setAttribute('aria-label', 'speed');
    select.append(...PACES.map(([name], index) => new Option(name, String(index))));
    select.addEventListener('change', () => {
      this.ask({ type: 'pace', value: PACES[Number(select.value)]?.[1] ?? null });
    });
    this.palette.setAttribute('aria-label', 'colours');
    return select;
  }

  private slider(param: Param): HTMLElement {
    const title = param.unit ? `${param.name} (${param.unit})` : param.name;
    const { name } = param;
    if (param.kind === 'bool') {
      const box = checkbox();
      box.checked = Boolean(param.value);
      box.addEventListener('change', () => this.set(name, box.checked));
      this.inputs.set(name, value => (box.checked = Boolean(value)));
      return labelled(title, box);
    }
    const range = rangeOf(param.value, param.kind, param.limits);
    const slide = slideOf(range.low, range.high, range.step, param.value ?? range.low);
    const number = element('input', 'swb-number');
    number.type = 'number';
    number.step = 'any';
    number.value = String(param.value ?? '');
    number.placeholder = 'not finite';
    number.setAttribute('aria-label', `${title}, exact`);
    let typing = false;
    const show = (value: number | null): void => {
      slide.max = String(Math.max(Number(slide.max), value ?? range.high));
      slide.min = String(Math.min(Number(slide.min), value ?? range.low));
      slide.value = String(value ?? slide.value);
      number.value = String(value ?? '');
    };
    slide.addEventListener('input', () => {
      number.value = slide.value;
      this.set(name, Number(slide.value));
    });
    number.addEventListener('input', () => (typing = true));
    number.addEventListener('blur', () => (typing = false));
    number.addEventListener('change', () => {
      typing = false;
      const value = param.kind === 'int' ? Math.round(Number(number.value)) : Number(number.value);
      if (number.value !== '' && Number.isFinite(value)) {
        number.value = String(value);
        slide.value = number.value;
        this.set(name, value);
      } else {
        show(this.inForce[name] ?? null);
      }
    });
    this.inputs.set(name, (value, refused) => {
      if (refused || (document.activeElement !== slide && !typing)) {
        show(value);
      }
    });
    const label = labelled(title, slide);
    label.append(number);
    return label;
  }

  private set(name: string, value: number | boolean): void {
    this.wanted = name;
    this.ask({ type: 'set', name, value });
  }

  private cutSlider(cut: Cut): HTMLElement {
    const slide = slideOf(0, cut.label.cells - 1, 1, cut.index);
    slide.addEventListener('input', () => this.ask({ type: 'cut', axis: cut.axis, index: Number(slide.value) }));
    this.cutSlides.set(cut.axis, slide);
    return labelled(`cut at ${cut.label.name}`, slide);
  }

  /** Which two axes are shown, where there are more. */
  private planes(): HTMLOptionElement[] {
    const options = this.axes.flatMap((across, first) =>
      this.axes.slice(first + 1).map((up, more) => new Option(`${across}-${up} plane`, `${first},${first + 1 + more}`))
    );
    return this.axes.length === 3 ? [...options, new Option('three planes', VOLUME)] : options;
  }

  private choosePlane(): void {
    const [across, up] = this.plane.value.split(',').map(Number);
    if (this.plane.value === VOLUME) {
      this.ask({ type: 'volume' });
    } else if (across !== undefined && up !== undefined) {
      this.ask({ type: 'turn', across, up });
    }
  }

  private running = false;
  private axes: string[] = [];
  private cutKey = '';
  private wanted = ''; // the param that was asked for last
  private inForce: Status['params'] = {};
  private readonly inputs = new Map<string, (value: number | null, refused: boolean) => void>();
  private readonly play = button('Play', '', () => undefined);
  private readonly limits = element('select', 'swb-select');
  private readonly speed = element('select', 'swb-select');
  private readonly params = element('div', 'swb-params');
  private readonly cuts = element('div', 'swb-params');
  private readonly cutSlides = new Map<number, HTMLInputElement>();
  private recording = false;
  private readonly hint = element('div', 'swb-hint');
  private readonly record = button('Record GIF', '', () => undefined);
  private readonly forget = button('Clear probes', 'follow no cell any more', () => undefined);
  private readonly scalars = checkbox();
  private readonly profiles = checkbox();
  private readonly value = element('select', 'swb-select');
  private readonly plane = element('select', 'swb-select');
  private readonly shown = labelled('value', this.value);
  private readonly turned = labelled('slice', this.plane);
  private readonly choices = element('div', 'swb-params');
}

/** Each axis at which some picture is cut, once, in the order of axes. */
function cutsOf(frame: Frame): Cut[] {
  const found = new Map<number, Cut>();
  for (const plane of frame.planes) {
    plane.cuts.forEach(cut => found.set(cut.axis, cut));
  }
  return [...found.values()].sort((one, other) => one.axis - other.axis);
}

function button(text: string, title: string, click: () => void): HTMLButtonElement {
  const node = element('button', 'swb-button', text);
  node.type = 'button';
  node.title = title;
  node.addEventListener('click', click);
  return node;
}

function checkbox(): HTMLInputElement {
  const node = element('input', 'swb-checkbox');
  node.type = 'checkbox';
  return node;
}

function slideOf(low: number, high: number, step: number, value: number): HTMLInputElement {
  const node = element('input', 'swb-slider');
  node.type = 'range';
  node.min = String(low);
  node.max = String(high);
  node.step = String(step);
  node.value = String(value);
  return node;
}

function labelled(text: string, input: HTMLElement): HTMLLabelElement {
  const label = element('label', 'swb-label');
  input.setAttribute('aria-label', text); // else the name of a select would hold all its options
  label.append(element('span', 'swb-label-text', text), input);
  return label;
}
