// BokehJS: the part of it that is used, and one copy of each version a page. A copy never stays in window.Bokeh, where
// a notebook's own plots may keep another version.

export interface BokehView {
  remove(): void;
}

export interface BokehViews extends Iterable<BokehView> {
  clear?(): void;
}

export interface BokehEvent {
  /** Whether the other end must learn of it: false for what it has asked for itself. */
  sync?: boolean;
  kind: string;
  attr?: string;
  model?: { id: string; type: string };
}

export interface BokehDocument {
  roots(): unknown[];
  on_change(callback: (event: BokehEvent) => void): void;
  create_json_patch(events: BokehEvent[]): object;
  apply_json_patch(patch: object, buffers: Map<string, ArrayBuffer>): void;
  clear(): void;
}

export interface BokehLibrary {
  version: string;
  require(name: 'document'): { Document: { from_json(json: object): BokehDocument } };
  require(name: 'embed/standalone'): {
    add_document_standalone(document: BokehDocument, element: HTMLElement): Promise<BokehViews>;
  };
}

type Holder = { Bokeh?: BokehLibrary | undefined };

const known = new Map<string, BokehLibrary>();

/** The versions that this page can draw. */
export function hasLibrary(version: string): boolean {
  return known.has(version);
}

export function versions(): string[] {
  return [...known.keys()];
}

/** Run the library's text, once for each version. */
export function install(version: string, source: string): void {
  if (known.has(version)) {
    return;
  }
  const holder = window as unknown as Holder;
  const before = holder.Bokeh;
  const script = document.createElement('script');
  script.textContent = source;
  document.head.append(script);
  script.remove();
  const made = holder.Bokeh;
  holder.Bokeh = before;
  if (made) {
    known.set(version, made);
  }
}

export function library(version: string): BokehLibrary | undefined {
  return known.get(version);
}
