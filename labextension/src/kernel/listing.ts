// Messages between a listing and the kernel process: unknown objects in, typed values out. The other half is
// workbench/views/page/listing.py. Imports nothing, so that it is tested without a page.

import { isFields, text, type Fields } from './fields.js';

/** One line of text: kinds and texts by turns, and what it is linked with. */
export interface Line {
  number: number;
  pieces: string[];
  cell: number[];
  label: string;
  linked: boolean;
}

/** A text beside another one; rows say which lines stand side by side. */
export interface Side {
  title: string;
  lines: Line[];
}

/** A part of the text to jump to, and what the compiler says about it. */
export interface Part {
  name: string;
  title: string;
  first: number;
  last: number;
  report: string;
}

export type RowKind = 'same' | 'changed' | 'removed' | 'added';

/** Line numbers from 1; 0 where a side has none. */
export interface Row {
  kind: RowKind;
  before: number;
  after: number;
}

/** Rows (from 0, both included) that hide at first. */
export interface Fold {
  first: number;
  last: number;
}

export interface Option {
  value: string;
  label: string;
}

export interface Choice {
  name: string;
  label: string;
  value: string;
  options: Option[];
}

export interface Button {
  name: string;
  label: string;
  title: string;
  disabled: boolean;
}

export interface Text {
  type: 'text';
  title: string;
  choices: Choice[];
  buttons: Button[];
  cell: Line[];
  before: Side | null;
  after: Side;
  parts: Part[];
  rows: Row[];
  folds: Fold[];
}

export interface Column {
  label: string;
  title: string;
  numeric: boolean;
}

export interface TableRow {
  name: string;
  cells: string[];
}

export interface Table {
  type: 'table';
  title: string;
  caption: string;
  choices: Choice[];
  buttons: Button[];
  columns: Column[];
  rows: TableRow[];
  notes: string[];
  values: Option[];
}

export interface Selected {
  type: 'selected';
  text: string;
  lines: number[];
  cell: number[];
  rows: string[];
  value: string;
}

export interface Buttons {
  type: 'buttons';
  buttons: Button[];
}

export interface Said {
  type: 'status' | 'error' | 'answer';
  text: string;
}

export type ToListing = Text | Table | Selected | Buttons | Said;

export type FromListing =
  | { type: 'ready' }
  | { type: 'drawn'; number: number }
  | { type: 'line'; number: number }
  | { type: 'cell'; number: number }
  | { type: 'part'; name: string }
  | { type: 'row'; name: string }
  | { type: 'choice'; name: string; value: string }
  | { type: 'button'; name: string }
  | { type: 'ask'; first: string; second: string };

/** The message as a typed value; null for one that this version does not know or that is damaged. */
export function readListingMessage(content: unknown, buffers: readonly ArrayBufferView[]): ToListing | null {
  if (!isFields(content)) {
    return null;
  }
  switch (content['type']) {
    case 'text':
      return readText(body(buffers[0]));
    case 'table':
      return readTable(body(buffers[0]));
    case 'selected':
      return {
        type: 'selected',
        text: text(content, 'text'),
        lines: list<number>(content, 'lines'),
        cell: list<number>(content, 'cell'),
        rows: list<string>(content, 'rows'),
        value: text(content, 'value')
      };
    case 'buttons':
      return { type: 'buttons', buttons: list<Button>(content, 'buttons') };
    case 'status':
    case 'error':
    case 'answer':
      return { type: content['type'], text: text(content, 'text') };
    default:
      return null;
  }
}

function readText(found: Fields | null): Text | null {
  const after = found && readSide(found['after']);
  if (!found || !after) {
    return null;
  }
  return {
    type: 'text',
    title: text(found, 'title'),
    choices: list<Choice>(found, 'choices'),
    buttons: list<Button>(found, 'buttons'),
    cell: readLines(found['cell']),
    before: readSide(found['before']),
    after,
    parts: list<Part>(found, 'parts'),
    rows: list<[RowKind, number, number]>(found, 'rows').map(([kind, before, line]) => ({ kind, before, after: line })),
    folds: list<[number, number]>(found, 'folds').map(([first, last]) => ({ first, last }))
  };
}

function readSide(value: unknown): Side | null {
  return isFields(value) ? { title: text(value, 'title'), lines: readLines(value['lines']) } : null;
}

/** A line comes as [number, pieces, cell lines, label, linked], because there are thousands of them. */
function readLines(value: unknown): Line[] {
  const rows = Array.isArray(value) ? (value as [number, string[], number[], string, boolean][]) : [];
  return rows.map(([number, pieces, cell, label, linked]) => ({ number, pieces, cell, label, linked }));
}

function readTable(found: Fields | null): Table | null {
  if (!found || !Array.isArray(found['columns'])) {
    return null;
  }
  return {
    type: 'table',
    title: text(found, 'title'),
    caption: text(found, 'caption'),
    choices: list<Choice>(found, 'choices'),
    buttons: list<Button>(found, 'buttons'),
    columns: list<Column>(found, 'columns'),
    rows: list<TableRow>(found, 'rows'),
    notes: list<string>(found, 'notes'),
    values: list<Option>(found, 'values')
  };
}

function body(buffer: ArrayBufferView | undefined): Fields | null {
  if (!buffer) {
    return null;
  }
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(buffer));
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function list<Item>(content: Fields, key: string): Item[] {
  const value = content[key];
  return Array.isArray(value) ? (value as Item[]) : [];
}
