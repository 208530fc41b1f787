// Buttons and sliders beside a picture. Says what the user wants through `ask`; knows no kernel.

import { element } from './picture';
import { rangeOf } from './range';
import type { Cut, Frame, Opening, Param, Status, ToKernel } from '../kernel/protocol';

type Ask = (message: ToKernel) => void;

const PACES: readonly [string, number | null][] = [
  ['full speed', null],
  ['1000 steps/s', 1000],
  ['100 steps/s', 100],
  ['10 steps/s', 10],
  ['1 step/s', 1]
];

export class Controls {
  readonly node = element('div', 'swb-controls');

  constructor(private readonly ask: Ask) {
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', 'simulation');
    this.play.addEventListener('click', () => ask({ type: this.running ? 'pause' : 'play' }));
    const step = button('Step', 'one step', () => ask({ type: 'step' }));
    const reset = button('Reset', 'back to the state that the view was opened with', () => ask({ type: 'reset' }));
    this.hold.addEventListener('change', () => ask({ type: 'hold', value: this.hold.checked }));
    const buttons = element('div', 'swb-row');
    buttons.append(this.play, step, reset, this.pace(), this.palette, labelled('hold limits', this.hold));
    this.node.append(buttons, this.cuts, this.params);
    this.showStatus({ type: 'status', running: false, held: false, params: {} });
  }

  /** Make the choices that this simulation offers. */
  open(opening: Opening): void {
    this.palette.replaceChildren(...Object.keys(opening.palettes).map(name => new Option(name, name)));
    this.inputs.clear();
    this.params.replaceChildren(...opening.params.map(param => this.slider(param)));
    this.cuts.replaceChildren();
    this.cutKey = '';
    this.axes = opening.axes.map(axis => axis.name);
  }

  showStatus(status: Status): void {
    this.running = status.running;
    this.play.textContent = status.running ? 'Pause' : 'Play';
    this.play.title = status.running ? 'hold the run at a whole step' : 'run until paused';
    this.hold.checked = status.held;
    for (const [name, value] of Object.entries(status.params)) {
      this.inputs.get(name)?.(value);
    }
  }

  showFrame(frame: Frame): void {
    if (this.palette.value !== frame.palette) {
      this.palette.value = frame.palette;
    }
    this.palette.parentElement?.classList.toggle('swb-line', frame.kind === 'line');
    this.palette.hidden = frame.kind === 'line';
    const key = frame.cuts.map(cut => cut.axis).join();
    if (key !== this.cutKey) {
      this.cutKey = key;
      this.cuts.replaceChildren(...(frame.cuts.length ? [this.turn(frame), ...frame.cuts.map(cut => this.cutSlider(cut))] : []));
    }
  }

  /** The palette has a listener of its own, because the picture can change before the kernel process answers. */
  readonly palette = element('select', 'swb-select');

  private pace(): HTMLSelectElement {
    const select = element('select', 'swb-select');
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
      box.addEventListener('change', () => this.ask({ type: 'set', name, value: box.checked }));
      this.inputs.set(name, value => (box.checked = Boolean(value)));
      return labelled(title, box);
    }
    const range = rangeOf(param.value, param.kind);
    const slide = slideOf(range.low, range.high, range.step, param.value);
    const number = element('input', 'swb-number');
    number.type = 'number';
    number.step = 'any';
    number.value = String(param.value);
    number.setAttribute('aria-label', `${title}, exact`);
    slide.addEventListener('input', () => {
      number.value = slide.value;
      this.ask({ type: 'set', name, value: Number(slide.value) });
    });
    number.addEventListener('change', () => {
      const value = Number(number.value);
      if (number.value !== '' && Number.isFinite(value)) {
        slide.max = String(Math.max(Number(slide.max), value));
        slide.min = String(Math.min(Number(slide.min), value));
        slide.value = number.value;
        this.ask({ type: 'set', name, value });
      }
    });
    this.inputs.set(name, value => {
      if (document.activeElement !== slide && document.activeElement !== number) {
        slide.value = String(value);
        number.value = String(value);
      }
    });
    const label = labelled(title, slide);
    label.append(number);
    return label;
  }

  private cutSlider(cut: Cut): HTMLElement {
    const slide = slideOf(0, cut.label.cells - 1, 1, cut.index);
    slide.addEventListener('input', () => this.ask({ type: 'cut', axis: cut.axis, index: Number(slide.value) }));
    return labelled(`cut at ${cut.label.name}`, slide);
  }

  /** Which two axes are shown, where there are more. */
  private turn(frame: Frame): HTMLElement {
    const select = element('select', 'swb-select');
    this.axes.forEach((across, first) =>
      this.axes.forEach((up, second) => {
        if (first < second) {
          select.append(new Option(`${across}-${up} plane`, `${first},${second}`));
        }
      })
    );
    const shown = this.axes.map((_, axis) => axis).filter(axis => !frame.cuts.some(cut => cut.axis === axis));
    select.value = shown.join();
    select.addEventListener('change', () => {
      const [across, up] = select.value.split(',').map(Number);
      if (across !== undefined && up !== undefined) {
        this.ask({ type: 'turn', across, up });
      }
    });
    return labelled('slice', select);
  }

  private running = false;
  private axes: string[] = [];
  private cutKey = '';
  private readonly inputs = new Map<string, (value: number) => void>();
  private readonly play = button('Play', '', () => undefined);
  private readonly hold = checkbox();
  private readonly params = element('div', 'swb-params');
  private readonly cuts = element('div', 'swb-params');
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
  label.append(element('span', 'swb-label-text', text), input);
  return label;
}
