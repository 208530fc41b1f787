// Pane: numbered, coloured lines in one or two columns; a cursor that keys and clicks move. Knows no kernel.

import type { Fold, Line, Row, Side } from '../kernel/listing';
import { element } from '../element';
import { foldOf, rowOfLine, rowsOf, shownRows } from './rows';

const BLOCK = 100; // rows drawn together; the browser skips blocks that nobody sees
let made = 0;

export interface PaneContent {
  before: Side | null;
  after: Side;
  rows: readonly Row[];
  folds: readonly Fold[];
  /** Words above a line of the text on the right. */
  notes: ReadonlyMap<number, string>;
}

export class Pane {
  readonly node = element('div', 'swb-code');

  /** `activated(line)`: a line of the text on the right was clicked, or Enter pressed on it. */
  constructor(
    label: string,
    private readonly activated: (line: number) => void
  ) {
    this.prefix = `swb-code-${made++}`;
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'listbox');
    this.node.setAttribute('aria-label', label);
    this.node.addEventListener('keydown', event => this.press(event));
    this.node.addEventListener('click', event => this.click(event));
    this.shown.observe(this.node);
  }

  /** Watch no more. */
  remove(): void {
    this.shown.disconnect();
  }

  open(content: PaneContent): void {
    this.content = content.before ? content : { ...content, rows: rowsOf(content.after), folds: [] };
    this.opened.clear();
    this.marked = new Set();
    this.cursor = -1;
    this.draw();
  }

  /** Mark lines, and bring the first one into view. */
  mark(lines: readonly number[], bring: boolean): void {
    this.marked = new Set(lines);
    const first = lines[0];
    if (first !== undefined && bring) {
      this.bring(first);
    }
    for (const [line, node] of this.nodes) {
      node.classList.toggle('swb-marked', this.marked.has(line));
      node.setAttribute('aria-selected', String(this.marked.has(line)));
    }
  }

  found(lines: readonly number[]): void {
    const wanted = new Set(lines);
    for (const [line, node] of this.nodes) {
      node.classList.toggle('swb-found', wanted.has(line));
    }
  }

  /** Show a line, opening what hides it, and put the cursor there. */
  bring(line: number): void {
    const row = rowOfLine(this.content.rows, this.content.after, line);
    const fold = foldOf(row, this.content.folds);
    if (fold >= 0 && !this.opened.has(fold)) {
      this.opened.add(fold);
      this.draw();
    }
    const node = this.nodes.get(line);
    this.waiting = this.node.clientHeight === 0 ? line : 0; // in a tab that nobody sees there is nothing to scroll
    if (node) {
      this.point(this.places.indexOf(node), false);
      const lead = Math.min(120, this.node.clientHeight / 3);
      const top = node.getBoundingClientRect().top - this.node.getBoundingClientRect().top;
      this.node.scrollTop += top - lead;
    }
  }

  /** The line under the cursor, 0 if there is none. */
  get line(): number {
    return Number(this.places[this.cursor]?.dataset['line'] ?? 0);
  }

  openAll(): void {
    this.content.folds.forEach((_, index) => this.opened.add(index));
    this.draw();
  }

  private draw(): void {
    const { before, rows, folds } = this.content;
    this.node.classList.toggle('swb-two', before !== null);
    this.nodes.clear();
    this.places = [];
    const blocks: HTMLElement[] = [];
    let block: HTMLElement | null = null;
    shownRows(rows, folds, this.opened).forEach((shown, place) => {
      if (!block || place % BLOCK === 0) {
        block = element('div', 'swb-block');
        block.setAttribute('role', 'presentation');
        blocks.push(block);
      }
      const row = rows[shown.index];
      const node = shown.kind === 'fold' ? this.foldNode(shown.index, shown.rows) : row ? this.rowNode(row) : null;
      if (node) {
        node.id = `${this.prefix}-${place}`;
        node.setAttribute('role', 'option');
        block.append(node);
        this.places.push(node);
      }
    });
    this.node.replaceChildren(...blocks);
    this.mark([...this.marked], false);
  }

  private foldNode(index: number, rows: number): HTMLElement {
    const node = element('div', 'swb-fold', `${rows} equal lines: show them`);
    node.dataset['fold'] = String(index);
    return node;
  }

  private rowNode(row: Row): HTMLElement {
    const { before, after } = this.content;
    const node = element('div', `swb-line-row swb-${row.kind}`);
    const right = row.after ? after.lines[row.after - 1] : undefined;
    if (before) {
      const left = row.before ? before.lines[row.before - 1] : undefined;
      node.append(lineNode(left, left && row.kind !== 'same' ? '\u2212' : '', 'swb-before'));
    }
    const cell = lineNode(right, right && row.kind !== 'same' && before ? '+' : '', 'swb-after');
    const note = right && this.content.notes.get(right.number);
    if (note) {
      cell.prepend(element('div', 'swb-note', note));
    }
    node.append(cell);
    if (right) {
      node.dataset['line'] = String(right.number);
      node.classList.toggle('swb-linked', right.linked);
      if (right.label) {
        node.title = right.cell.length ? `${right.label}: line ${right.cell.join(', ')} of the cell` : right.label;
      }
      this.nodes.set(right.number, node);
    }
    return node;
  }

  private click(event: MouseEvent): void {
    if (!(event.target instanceof Element) || document.getSelection()?.type === 'Range') {
      return; // somebody selects text
    }
    const node = event.target.closest<HTMLElement>('[role=option]');
    if (node) {
      this.point(this.places.indexOf(node), false);
      this.activate();
    }
  }

  private activate(): void {
    const node = this.places[this.cursor];
    const fold = node?.dataset['fold'];
    if (fold !== undefined) {
      const place = this.cursor;
      this.opened.add(Number(fold));
      this.draw();
      this.point(place, true);
    } else if (this.line) {
      this.activated(this.line);
    }
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const page = Math.max(1, Math.floor(this.node.clientHeight / 18) - 2);
    const last = this.places.length - 1;
    const moves: Record<string, number> = {
      ArrowDown: this.cursor + 1,
      ArrowUp: this.cursor - 1,
      PageDown: this.cursor + page,
      PageUp: this.cursor - page,
      Home: 0,
      End: last
    };
    const target = moves[event.key];
    if (target !== undefined) {
      this.point(Math.min(last, Math.max(0, target)), true);
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.activate();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private point(place: number, scroll: boolean): void {
    this.places[this.cursor]?.classList.remove('swb-cursor');
    const node = this.places[place];
    this.cursor = node ? place : -1;
    if (node) {
      node.classList.add('swb-cursor');
      this.node.setAttribute('aria-activedescendant', node.id);
      if (scroll) {
        node.scrollIntoView({ block: 'nearest' });
      }
    }
  }

  private content: PaneContent = { before: null, after: { title: '', lines: [] }, rows: [], folds: [], notes: new Map() };
  private readonly shown = new ResizeObserver(() => {
    if (this.waiting && this.node.clientHeight > 0) {
      this.bring(this.waiting);
    }
  });
  private waiting = 0;
  private readonly opened = new Set<number>();
  private readonly nodes = new Map<number, HTMLElement>();
  private readonly prefix: string;
  private marked = new Set<number>();
  private places: HTMLElement[] = [];
  private cursor = -1;
}

function lineNode(line: Line | undefined, sign: string, className: string): HTMLElement {
  const node = element('div', `swb-line ${className}`);
  if (!line) {
    node.classList.add('swb-absent');
    return node;
  }
  const number = element('span', 'swb-number-of-line', String(line.number));
  const text = element('span', 'swb-line-text');
  for (let index = 0; index + 1 < line.pieces.length; index += 2) {
    const kind = line.pieces[index];
    const piece = line.pieces[index + 1] ?? '';
    text.append(kind ? element('span', `swb-${kind}`, piece) : piece);
  }
  node.append(number, element('span', 'swb-sign', sign), text);
  return node;
}
