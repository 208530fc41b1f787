// Messages between a Bokeh pane and the kernel process: unknown objects in, typed values out. The other half is
// workbench/views/page/bokeh_pane.py. Imports nothing, so that it is tested without a page.

import { isFields, text, type Fields } from './fields.js';

export interface Tool {
  kind: 'button' | 'choice' | 'search';
  name: string;
  label: string;
  title: string;
  /** Where there is little room it waits behind another button. */
  seldom: boolean;
}

export interface ToolState {
  name: string;
  disabled: boolean;
  /** There is nothing that it could do here. */
  hidden: boolean;
  pressed: boolean | null;
  label: string;
  value: string;
  options: string[];
}

export interface LegendEntry {
  text: string;
  /** An SVG file's text. */
  picture: string;
}

export interface LibraryMessage {
  type: 'library';
  version: string;
  source: string;
}

export interface DocumentMessage {
  type: 'document';
  /** Which page it is for; "" for all. */
  view: string;
  version: string;
  label: string;
  keys: string[];
  tools: Tool[];
  legend: LegendEntry[];
  json: object;
}

export interface PatchMessage {
  type: 'patch';
  number: number;
  patch: object;
  buffers: Map<string, ArrayBuffer>;
}

export interface StatusMessage {
  type: 'status';
  text: string;
}

export interface ToolsMessage {
  type: 'tools';
  states: ToolState[];
}

export interface FileMessage {
  type: 'file';
  name: string;
  mime: string;
  body: ArrayBuffer;
}

/** Lines for the reader to paste elsewhere. */
export interface CopyMessage {
  type: 'copy';
  text: string;
}

export type ToPane =
  | LibraryMessage
  | DocumentMessage
  | PatchMessage
  | StatusMessage
  | ToolsMessage
  | FileMessage
  | CopyMessage;

export type FromPane =
  | { type: 'opened'; view: string; bokeh: string; dark: boolean }
  | { type: 'drawn'; number: number }
  | { type: 'theme'; dark: boolean }
  | { type: 'key'; key: string }
  | { type: 'tool'; name: string; value: string }
  | { type: 'patch'; patch: object };

/** The message as a typed value; null for one that this version does not know or that is damaged. */
export function readPaneMessage(content: unknown, buffers: readonly ArrayBufferView[]): ToPane | null {
  if (!isFields(content)) {
    return null;
  }
  const body = buffers[0];
  switch (content['type']) {
    case 'library':
      return body ? { type: 'library', version: text(content, 'version'), source: decoded(body) } : null;
    case 'document':
      return body ? readDocument(content, body) : null;
    case 'patch':
      return readPatch(content, buffers);
    case 'status':
      return { type: 'status', text: text(content, 'text') };
    case 'copy':
      return { type: 'copy', text: text(content, 'text') };
    case 'tools':
      return Array.isArray(content['states']) ? { type: 'tools', states: content['states'] as ToolState[] } : null;
    case 'file':
      return body
        ? { type: 'file', name: text(content, 'name'), mime: text(content, 'mime'), body: bytes(body) }
        : null;
    default:
      return null;
  }
}

function readDocument(content: Fields, body: ArrayBufferView): DocumentMessage | null {
  const { keys, tools } = content;
  const json = parsed(decoded(body));
  if (!json || !Array.isArray(keys) || !Array.isArray(tools)) {
    return null;
  }
  return {
    type: 'document',
    view: text(content, 'view'),
    version: text(content, 'version'),
    label: text(content, 'label'),
    keys: keys as string[],
    tools: tools as Tool[],
    legend: Array.isArray(content['legend']) ? (content['legend'] as LegendEntry[]) : [],
    json
  };
}

function readPatch(content: Fields, buffers: readonly ArrayBufferView[]): PatchMessage | null {
  const { names, number } = content;
  const patch = parsed(text(content, 'content'));
  if (!patch || !Array.isArray(names) || names.length !== buffers.length || typeof number !== 'number') {
    return null;
  }
  const found = new Map<string, ArrayBuffer>();
  names.forEach((name: unknown, index) => {
    const buffer = buffers[index];
    if (buffer) {
      found.set(String(name), bytes(buffer));
    }
  });
  return { type: 'patch', number, patch, buffers: found };
}

/** A key with what is held beside it, as Python names it: "Control+z", "Shift+ArrowUp", "Enter". */
export function keyName(event: { key: string; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean; altKey: boolean }): string {
  const control = event.ctrlKey || event.metaKey ? 'Control+' : '';
  const alt = event.altKey ? 'Alt+' : '';
  const letter = event.key.length === 1;
  const shift = event.shiftKey && (!letter || control !== '') ? 'Shift+' : '';
  return `${control}${alt}${shift}${letter && control !== '' ? event.key.toLowerCase() : event.key}`;
}

function bytes(body: ArrayBufferView): ArrayBuffer {
  return body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength) as ArrayBuffer;
}

function decoded(body: ArrayBufferView): string {
  return new TextDecoder().decode(body);
}

function parsed(source: string): object | null {
  try {
    const value: unknown = JSON.parse(source);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}
