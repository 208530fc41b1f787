// The picture of one field: canvas, axes with numbers, colour bar. Gets frames and tables as arguments, knows no kernel.

import { element } from '../element';
import { paint } from './colours';
import { beside, shareOf, ticks } from './numbers';
import type { Place } from './places';
import type { Axis, Frame, Plane } from '../kernel/protocol';

const keys = (what: string): string => `Arrow keys read the value of a ${what}, Enter follows it.`;
const LINE_WIDTH = 640;
const LINE_HEIGHT = 320;
const LINE_MARGIN = 4; // above the highest and below the lowest value of a line
const DOT = 3; // radius of a value of a line whose neighbours are not finite, or that has none

export class Picture {
  readonly node = element('div', 'swb-picture');
  readonly canvas = element('canvas', 'swb-canvas');

  constructor() {
    this.canvas.setAttribute('role', 'img');
    this.canvas.tabIndex = 0;
    this.bar.width = 1;
    this.bar.height = 255;
    this.bar.setAttribute('aria-hidden', 'true');
    this.overlay.setAttribute('aria-hidden', 'true');
    this.node.append(this.upName, this.upNumbers, this.canvas, this.overlay, this.bar, this.barNumbers, this.barName, this.acrossNumbers, this.acrossName);
  }

  /** Make room for a line, or for a plane of these cells or points of these pixels. */
  fit(kind: Frame['kind'], { rows, columns }: Plane): void {
    const line = kind === 'line';
    const ratio = line ? LINE_WIDTH / LINE_HEIGHT : Math.min(4, Math.max(0.25, columns / rows));
    const key = `${kind} ${ratio}`;
    if (key !== this.roomKey) {
      this.roomKey = key;
      this.node.classList.toggle('swb-line', line);
      this.node.classList.toggle('swb-points', kind === 'points');
      this.canvas.style.aspectRatio = String(ratio);
    }
  }

  drawLine(plane: Plane): void {
    const context = this.canvas.getContext('2d');
    if (!context) {
      throw new Error('this browser draws no canvas');
    }
    this.canvas.width = LINE_WIDTH; // empties it, too
    this.canvas.height = LINE_HEIGHT;
    const style = getComputedStyle(this.node);
    context.strokeStyle = style.getPropertyValue('--swb-line-colour') || '#0072b2';
    context.lineWidth = 2;
    context.lineJoin = 'round';
    context.beginPath();
    let pen = false;
    plane.points.forEach((share, index) => {
      const x = ((index + 0.5) / plane.points.length) * LINE_WIDTH;
      const y = LINE_HEIGHT * (1 - upOnLine(share));
      const alone = !pen && !Number.isFinite(plane.points[index + 1]);
      if (!Number.isFinite(share)) {
        pen = false;
      } else if (pen) {
        context.lineTo(x, y);
      } else if (alone) {
        context.moveTo(x + DOT, y);
        context.arc(x, y, DOT, 0, 2 * Math.PI);
      } else {
        context.moveTo(x, y);
        pen = true;
      }
    });
    context.stroke();
  }

  /** With these 256 pixels; planes are painted elsewhere (sharing.ts). */
  colour(table: Uint32Array): void {
    const context = this.bar.getContext('2d');
    if (context) {
      const image = context.createImageData(1, 255);
      paint(Uint8Array.from({ length: 255 }, (_, row) => 254 - row), table, new Uint32Array(image.data.buffer));
      context.putImageData(image, 0, 0);
    }
  }

  /** Mark what is probed, null where this picture does not show it, and where the other planes of a volume cut this one. */
  mark(plane: Plane, probes: readonly (Place | null)[], cursor: Place | null, cuts: ReadonlyMap<number, number>): void {
    const key = JSON.stringify([plane.rows, plane.columns, plane.stride, plane.shown, probes, cursor, [...cuts]]);
    if (key === this.marksKey) {
      return;
    }
    this.marksKey = key;
    const nodes: HTMLElement[] = [];
    for (const [axis, index] of cuts) {
      const across = axis === plane.shown[0];
      if (across || axis === plane.shown[1]) {
        const line = element('div', across ? 'swb-cut swb-cut-upright' : 'swb-cut');
        const cells = across ? plane.columns : plane.rows;
        const place = (Math.floor(index / plane.stride) + 0.5) / cells;
        line.style[across ? 'left' : 'bottom'] = `${100 * place}%`;
        nodes.push(line);
      }
    }
    probes.forEach((place, number) => this.putMark(nodes, place, `swb-probe swb-probe-${number % 8}`));
    this.putMark(nodes, cursor, 'swb-cursor');
    this.overlay.replaceChildren(...nodes);
  }

  private putMark(nodes: HTMLElement[], place: Place | null, className: string): void {
    if (place) {
      const node = element('div', className);
      node.style.left = `${100 * place.across}%`;
      node.style.bottom = `${100 * place.up}%`;
      nodes.push(node);
    }
  }

  /** Column and row (0 on top) of the cell at a place on the screen, or null outside. */
  cellAt(kind: Frame['kind'], frame: Plane, clientX: number, clientY: number): { column: number; row: number } | null {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((clientX - box.left) / box.width) * frame.columns);
    const row = kind === 'line' ? 0 : Math.floor(((clientY - box.top) / box.height) * frame.rows);
    const inside = column >= 0 && column < frame.columns && row >= 0 && row < frame.rows;
    return inside ? { column, row } : null;
  }

  /** Names and numbers beside the picture, and what a screen reader says of it. */
  letter(frame: Frame, plane: Plane): void {
    const label = `${frame.subject}: ${plane.across.name} to the right, ${plane.up ? plane.up.name : frame.name} up. ${keys(plane.particles ? 'particle' : 'cell')}`;
    if (this.canvas.getAttribute('aria-label') !== label) {
      this.canvas.setAttribute('aria-label', label);
    }
    const narrow = this.canvas.clientWidth < 300;
    // Limits follow the values from frame to frame, and then only what shows them is made anew.
    const limits = `${frame.low} ${frame.high}`;
    const line = frame.kind === 'line' || !plane.up;
    if (!line && limits !== this.limitsKey) {
      putMarks(this.barNumbers, 'bottom', barMarks(frame.low, frame.high));
    }
    this.limitsKey = line ? '' : limits;
    const key = JSON.stringify([plane.across, plane.up, line ? limits : '', frame.name, frame.unit, frame.kind, narrow]);
    if (key === this.axesKey) {
      return;
    }
    this.axesKey = key;
    const few = narrow ? 4 : 6;
    this.acrossName.textContent = titled(plane.across);
    putMarks(this.acrossNumbers, 'left', marks(plane.across.first, plane.across.last, few, plane.across.cells));
    if (line || !plane.up) {
      const span = frame.high > frame.low;
      this.upName.textContent = titled(frame);
      putMarks(this.upNumbers, 'bottom', lineMarks(span ? frame.low : frame.low - 0.5, span ? frame.high : frame.low + 0.5));
      putMarks(this.barNumbers, 'bottom', []);
      this.barName.textContent = '';
      return;
    }
    this.barName.textContent = titled(frame);
    this.upName.textContent = titled(plane.up);
    putMarks(this.upNumbers, 'bottom', marks(plane.up.first, plane.up.last, few, plane.up.cells));
  }

  private readonly bar = element('canvas', 'swb-bar');
  private readonly barNumbers = element('div', 'swb-bar-numbers');
  private readonly barName = element('div', 'swb-bar-name');
  private readonly upName = element('div', 'swb-up-name');
  private readonly upNumbers = element('div', 'swb-up-numbers');
  private readonly acrossName = element('div', 'swb-across-name');
  private readonly acrossNumbers = element('div', 'swb-across-numbers');
  private roomKey = '';
  private axesKey = '';
  private limitsKey = '';
  private marksKey = '';
  private readonly overlay = element('div', 'swb-overlay');
}

function titled({ name, unit }: Pick<Axis, 'name' | 'unit'>): string {
  return unit ? `${name} (${unit})` : name;
}

/** How far up in its picture a line is, 0 to 1, where its value has this share of the limits. */
function upOnLine(share: number): number {
  return (LINE_MARGIN + share * (LINE_HEIGHT - 2 * LINE_MARGIN)) / LINE_HEIGHT;
}

/** A number beside an axis and how far along it stands, 0 to 1. */
type Mark = readonly [text: string, place: number];

/** Numbers along an axis; with cells, a number stands at its cell's middle, and where they are counted it is a whole one. */
function marks(first: number, last: number, most: number, cells = 0): Mark[] {
  return marksAt(ticks(first, last, most, Math.abs(last - first) === cells - 1 ? 1 : 0), value => {
    const share = shareOf(value, first, last);
    return cells > 0 ? (share * (cells - 1) + 0.5) / cells : share;
  });
}

function lineMarks(low: number, high: number): Mark[] {
  return marksAt(ticks(low, high, 5), value => upOnLine(shareOf(value, low, high)));
}

function barMarks(low: number, high: number): Mark[] {
  return high > low ? marks(low, high, 6) : marksAt([low], () => 0.5);
}

function marksAt(values: number[], placeOf: (value: number) => number): Mark[] {
  const texts = beside(values);
  return values.map((value, index) => [texts[index] ?? '', placeOf(value)]);
}

function putMarks(axis: HTMLElement, side: 'left' | 'bottom', shown: readonly Mark[]): void {
  axis.replaceChildren(
    ...shown.map(([text, place]) => {
      const mark = element('span', 'swb-mark', text);
      mark.style[side] = `${100 * place}%`;
      return mark;
    })
  );
}
