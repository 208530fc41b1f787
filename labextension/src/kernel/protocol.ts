// Messages between a view and the kernel process: unknown objects in, typed values out. The other half is
// workbench/views/messages.py. Imports nothing, so that it is tested without a page.

export interface Axis {
  name: string;
  unit: string;
  cells: number;
  first: number;
  last: number;
}

export interface Param {
  name: string;
  unit: string;
  kind: 'bool' | 'int' | 'float';
  value: number;
}

export interface Opening {
  type: 'opening';
  machine: string;
  name: string;
  axes: Axis[];
  params: Param[];
  palettes: Record<string, string>;
}

export interface Cut {
  axis: number;
  index: number;
  label: Axis;
}

export interface Frame {
  type: 'frame';
  number: number;
  kind: 'line' | 'plane';
  rows: number;
  columns: number;
  name: string;
  unit: string;
  step: number;
  time: number | null;
  low: number;
  high: number;
  minimum: number | null;
  maximum: number | null;
  notNumbers: number;
  infinite: number;
  palette: string;
  stride: number;
  across: Axis;
  up: Axis | null;
  cuts: Cut[];
  /** Codes of a plane, one byte a cell, rows from top; empty for a line. */
  codes: Uint8Array;
  /** Values of a line; empty for a plane. */
  points: Float32Array;
}

export interface Status {
  type: 'status';
  running: boolean;
  held: boolean;
  params: Record<string, number>;
}

export interface Point {
  type: 'point';
  column: number;
  row: number;
  text: string;
}

export interface Failure {
  type: 'error';
  text: string;
}

export type FromKernel = Opening | Frame | Status | Point | Failure;

export type ToKernel =
  | { type: 'ready' }
  | { type: 'drawn'; number: number }
  | { type: 'play' | 'pause' | 'step' | 'reset' }
  | { type: 'pace'; value: number | null }
  | { type: 'set'; name: string; value: number | boolean }
  | { type: 'cut'; axis: number; index: number }
  | { type: 'turn'; across: number; up: number }
  | { type: 'hold'; value: boolean }
  | { type: 'palette'; value: string }
  | { type: 'point'; column: number; row: number };

type Fields = Record<string, unknown>;

/** The message as a typed value; null for one that this version does not know or that is damaged. */
export function readMessage(content: unknown, buffers: readonly ArrayBufferView[]): FromKernel | null {
  if (!isFields(content)) {
    return null;
  }
  switch (content['type']) {
    case 'opening':
      return readOpening(content);
    case 'frame':
      return readFrame(content, buffers[0]);
    case 'status':
      return isFields(content['params'])
        ? {
            type: 'status',
            running: content['running'] === true,
            held: content['held'] === true,
            params: content['params'] as Record<string, number>
          }
        : null;
    case 'point':
      return { type: 'point', column: whole(content, 'column'), row: whole(content, 'row'), text: text(content, 'text') };
    case 'error':
      return { type: 'error', text: text(content, 'text') };
    default:
      return null;
  }
}

function readOpening(content: Fields): Opening | null {
  const { axes, params, palettes } = content;
  if (!Array.isArray(axes) || !Array.isArray(params) || !isFields(palettes)) {
    return null;
  }
  return {
    type: 'opening',
    machine: text(content, 'machine'),
    name: text(content, 'name'),
    axes: axes as Axis[],
    params: params as Param[],
    palettes: palettes as Record<string, string>
  };
}

function readFrame(content: Fields, body: ArrayBufferView | undefined): Frame | null {
  const rows = whole(content, 'rows');
  const columns = whole(content, 'columns');
  const line = content['kind'] === 'line';
  const bytes = line ? 4 * columns : rows * columns;
  if (!body || body.byteLength !== bytes || !isFields(content['across']) || !Array.isArray(content['cuts'])) {
    return null;
  }
  return {
    type: 'frame',
    number: whole(content, 'number'),
    kind: line ? 'line' : 'plane',
    rows,
    columns,
    name: text(content, 'name'),
    unit: text(content, 'unit'),
    step: whole(content, 'step'),
    time: numberOrNull(content['time']),
    low: numberOrNull(content['low']) ?? 0,
    high: numberOrNull(content['high']) ?? 0,
    minimum: numberOrNull(content['minimum']),
    maximum: numberOrNull(content['maximum']),
    notNumbers: whole(content, 'notNumbers'),
    infinite: whole(content, 'infinite'),
    palette: text(content, 'palette'),
    stride: whole(content, 'stride'),
    across: content['across'] as unknown as Axis,
    up: isFields(content['up']) ? (content['up'] as unknown as Axis) : null,
    cuts: content['cuts'] as Cut[],
    codes: line ? new Uint8Array(0) : new Uint8Array(body.buffer, body.byteOffset, bytes),
    points: line ? floats(body) : new Float32Array(0)
  };
}

/** Floats need an offset that is a multiple of four; a message's body may lie anywhere. */
function floats(body: ArrayBufferView): Float32Array {
  return new Float32Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(content: Fields, key: string): string {
  const value = content[key];
  return typeof value === 'string' ? value : '';
}

function whole(content: Fields, key: string): number {
  const value = content[key];
  return typeof value === 'number' && Number.isInteger(value) ? value : 0;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
