// Messages between a view and the kernel process: unknown objects in, typed values out. The other half is
// workbench/views/field/messages.py. Imports nothing, so that it is tested without a page.

import { isFields, text, type Fields } from './fields.js';

/** Two for each of its places and one for its level. */
const BYTES_A_PARTICLE = 5;

export interface Axis {
  name: string;
  unit: string;
  cells: number;
  first: number;
  last: number;
}

/** Where the slider of a param ends; null: there is no such bound. */
export interface Limits {
  least: number | null;
  /** It must be greater. */
  above: number | null;
  most: number | null;
}

export interface Param {
  name: string;
  unit: string;
  kind: 'bool' | 'int' | 'float';
  /** null: it is not finite. */
  value: number | null;
  limits: Limits;
}

export interface Opening {
  type: 'opening';
  machine: string;
  /** Values that have a picture. */
  names: string[];
  scalars: boolean;
  axes: Axis[];
  params: Param[];
  palettes: Record<string, string>;
}

export interface Cut {
  axis: number;
  index: number;
  label: Axis;
}

/** What the points of a picture are. */
export interface Particles {
  count: number;
  /** Of the disc of each one, in pixels of the picture. */
  radius: number;
  /** Column and row of those that are probed, in the order of probes; null for one that is not seen. */
  followed: ([column: number, row: number] | null)[];
}

/** One picture: a plane, points (whose cells are pixels), or a line with one row. */
export interface Plane {
  rows: number;
  columns: number;
  minimum: number | null;
  maximum: number | null;
  notNumbers: number;
  infinite: number;
  stride: number;
  /** The axes to the right and up. */
  shown: number[];
  across: Axis;
  up: Axis | null;
  cuts: Cut[];
  /** null for a line or a plane. */
  particles: Particles | null;
  /**
   * Codes of a plane, one byte a cell, rows from top; of points what field/drawing.ts says. Empty for a line, and where
   * they come straight to the worker.
   */
  codes: Uint8Array<ArrayBuffer>;
  /** The codes are packed (field/unpacking.ts). */
  packed: boolean;
  /**
   * A line, from left to right; empty for others. 0 is the lower limit and 1 the upper one, so that f32 is fine enough
   * for all values. Where not all cells are shown there are two points a column, the least and the greatest.
   */
  points: Float32Array;
}

export interface Frame {
  type: 'frame';
  number: number;
  kind: 'line' | 'plane' | 'points';
  /** Of the value that is shown, of points as colours. */
  name: string;
  /** What one looks at: of points what says where they are, else the same as the name. */
  subject: string;
  unit: string;
  step: number;
  /** Such as 't = 0.25 s'; '' where no scalar tells it. */
  time: string;
  low: number;
  high: number;
  palette: string;
  /** Since when and where a value is no finite number. */
  wrong: string | null;
  /** That not every cell is drawn; empty if all are. */
  thinning: string;
  /** Its codes come straight to the worker that draws (field/streaming.ts). */
  apart: boolean;
  /** One picture, or the three planes of a volume, which share limits and colours. */
  planes: [Plane, ...Plane[]];
}

export interface Status {
  type: 'status';
  running: boolean;
  /** Steps per second that the run, or else the next one of Play, may do; null: as many as it can. */
  pace: number | null;
  /** How limits of the colours follow the values: 'growing', 'free' or 'held'. */
  limits: string;
  /** Frames recorded so far; null: nothing is recorded. */
  recorded: number | null;
  /** A value that will be shown as soon as it is compiled; '' for none. */
  waitsFor: string;
  /** What else one should know; '' for nothing. */
  note: string;
  /** Cells that are followed, one index an axis. */
  probes: number[][];
  /** null: it is not finite. */
  params: Record<string, number | null>;
}

export interface Point {
  type: 'point';
  cell: number[];
  text: string;
}

export interface ChartDrawing {
  svg: string;
  words: string;
}

export interface Charts {
  type: 'charts';
  charts: ChartDrawing[];
}

export interface HandedFile {
  type: 'file';
  name: string;
  /** Its media type. */
  kind: string;
  data: Uint8Array;
}

export interface Failure {
  type: 'error';
  text: string;
  /** The simulation was closed: nothing can be asked of it any more. */
  ended: boolean;
}

export type FromKernel = Opening | Frame | Status | Point | Charts | HandedFile | Failure;

export type ToKernel =
  | { type: 'ready' }
  | { type: 'drawn'; number: number }
  | { type: 'play' | 'pause' | 'step' | 'reset' | 'forget' | 'volume' }
  | { type: 'pace'; value: number | null }
  | { type: 'set'; name: string; value: number | boolean }
  | { type: 'cut'; axis: number; index: number }
  | { type: 'turn'; across: number; up: number }
  | { type: 'limits'; value: string }
  | { type: 'palette'; value: string }
  | { type: 'switch'; name: string }
  | { type: 'charts'; groups: string[]; width: number }
  | { type: 'record'; value: boolean }
  | { type: 'export'; value: string }
  | { type: 'point' | 'follow'; column: number; row: number; plane: number };

/** The message as a typed value; null for one that this version does not know or that is damaged. */
export function readMessage(content: unknown, buffers: readonly ArrayBufferView[]): FromKernel | null {
  if (!isFields(content)) {
    return null;
  }
  switch (content['type']) {
    case 'opening':
      return readOpening(content);
    case 'frame':
      return readFrame(content, buffers);
    case 'status':
      return readStatus(content);
    case 'point':
      return isList(content['cell'], isWhole) ? { type: 'point', cell: content['cell'], text: text(content, 'text') } : null;
    case 'charts':
      return isList(content['charts'], isDrawing) ? { type: 'charts', charts: content['charts'] } : null;
    case 'file':
      return buffers[0]
        ? { type: 'file', name: text(content, 'name'), kind: text(content, 'kind'), data: bytes(buffers[0]) }
        : null;
    case 'error':
      return { type: 'error', text: text(content, 'text'), ended: content['ended'] === true };
    default:
      return null;
  }
}

function readOpening(content: Fields): Opening | null {
  const { axes, params, palettes, names } = content;
  if (!isList(names, isText) || !Array.isArray(axes) || !Array.isArray(params) || !isFields(palettes)) {
    return null;
  }
  return {
    type: 'opening',
    machine: text(content, 'machine'),
    names,
    scalars: content['scalars'] === true,
    axes: axes as Axis[],
    params: params as Param[],
    palettes: palettes as Record<string, string>
  };
}

function readStatus(content: Fields): Status | null {
  const { params, probes, recorded } = content;
  if (!isFields(params) || !isList(probes, (cell): cell is number[] => isList(cell, isWhole))) {
    return null;
  }
  return {
    type: 'status',
    running: content['running'] === true,
    pace: numberOrNull(content['pace']),
    limits: text(content, 'limits'),
    recorded: numberOrNull(recorded),
    probes,
    waitsFor: text(content, 'waitsFor'),
    note: text(content, 'note'),
    params: params as Record<string, number | null>
  };
}

function readFrame(content: Fields, bodies: readonly ArrayBufferView[]): Frame | null {
  const kind = content['kind'] === 'line' || content['kind'] === 'points' ? content['kind'] : 'plane';
  const line = kind === 'line';
  const described = content['planes'];
  const apart = !line && bodies.length === 0;
  if (!Array.isArray(described)) {
    return null;
  }
  const [first, ...others] = described.map((plane, number) => readPlane(plane, apart ? null : bodies[number], line));
  const known = [first, ...others].every(plane => plane && (plane.particles !== null) === (kind === 'points'));
  if (!first || !known) {
    return null;
  }
  return {
    type: 'frame',
    number: whole(content, 'number'),
    kind,
    name: text(content, 'name'),
    subject: text(content, 'subject'),
    unit: text(content, 'unit'),
    step: whole(content, 'step'),
    time: text(content, 'time'),
    low: numberOrNull(content['low']) ?? 0,
    high: numberOrNull(content['high']) ?? 0,
    palette: text(content, 'palette'),
    wrong: typeof content['wrong'] === 'string' ? content['wrong'] : null,
    thinning: text(content, 'thinning'),
    apart,
    planes: [first, ...(others as Plane[])]
  };
}

/** `body`: null where it does not come here, undefined where it should. */
function readPlane(content: unknown, body: ArrayBufferView | null | undefined, line: boolean): Plane | null {
  if (!isFields(content) || body === undefined || !isFields(content['across']) || !Array.isArray(content['cuts'])) {
    return null;
  }
  const rows = whole(content, 'rows');
  const columns = whole(content, 'columns');
  const { shown } = content;
  const stride = whole(content, 'stride');
  const packed = content['packed'] === true;
  const particles = readParticles(content['particles']);
  const length = particles ? BYTES_A_PARTICLE * particles.count : line ? 4 * columns * (stride > 1 ? 2 : 1) : rows * columns;
  const fits = !body || (packed ? body.byteLength <= length : body.byteLength === length);
  if (!fits || !isList(shown, isWhole)) {
    return null;
  }
  return {
    rows,
    columns,
    minimum: numberOrNull(content['minimum']),
    maximum: numberOrNull(content['maximum']),
    notNumbers: whole(content, 'notNumbers'),
    infinite: whole(content, 'infinite'),
    stride,
    shown,
    across: content['across'] as unknown as Axis,
    up: isFields(content['up']) ? (content['up'] as unknown as Axis) : null,
    cuts: content['cuts'] as Cut[],
    particles,
    codes: line || !body ? new Uint8Array(0) : bytes(body),
    packed,
    points: line && body ? floats(body) : new Float32Array(0)
  };
}

function readParticles(content: unknown): Particles | null {
  if (!isFields(content) || !Array.isArray(content['followed'])) {
    return null;
  }
  const { followed } = content;
  return { count: whole(content, 'count'), radius: whole(content, 'radius'), followed: followed as Particles['followed'] };
}

function bytes(body: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength);
}

/** Floats need an offset that is a multiple of four; a message's body may lie anywhere. */
function floats(body: ArrayBufferView): Float32Array {
  return new Float32Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength));
}

function isList<Item>(value: unknown, holds: (item: unknown) => item is Item): value is Item[] {
  return Array.isArray(value) && value.every(holds);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value);
}

function isDrawing(value: unknown): value is ChartDrawing {
  return isFields(value) && isText(value['svg']) && isText(value['words']);
}

function whole(content: Fields, key: string): number {
  const value = content[key];
  return typeof value === 'number' && Number.isInteger(value) ? value : 0;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
