// Code: generated text with its cell beside it, tools above and words below. Says what is wanted; knows no kernel.

import type { Button, FromListing, Selected, Text } from '../kernel/listing';
import { element } from '../element';
import { button, chooser, copyText } from './controls';
import { Pane } from './pane';
import { findLines, nextLine, plainText } from './rows';

export class Code {
  readonly node = element('div', 'swb-source');

  constructor(
    private readonly ask: (message: FromListing) => void,
    private readonly say: (text: string) => void
  ) {
    this.search.type = 'search';
    this.search.placeholder = 'search';
    this.search.setAttribute('aria-label', 'search in the text');
    this.search.addEventListener('input', () => this.seek(1, false));
    this.search.addEventListener('keydown', event => {
      if (event.key === 'Enter') {
        event.preventDefault();
        this.seek(event.shiftKey ? -1 : 1, true);
      }
    });
    this.count.setAttribute('role', 'status');
    this.node.addEventListener('keydown', event => {
      if (event.key === '/' && event.target !== this.search) {
        event.preventDefault();
        event.stopPropagation();
        this.search.focus();
      }
    });
    this.columns.append(this.cellPart, this.codePart);
    this.node.append(this.tools, this.columns);
  }

  open(text: Text): void {
    const kept = this.text?.title === text.title ? this.pane.line : 0;
    this.text = text;
    this.drawTools(text);
    const notes = new Map(text.parts.filter(part => part.report).map(part => [part.first, `${part.title}: ${part.report}`]));
    this.pane.open({ before: text.before, after: text.after, rows: text.rows, folds: text.folds, notes });
    this.cellPane.open({
      before: null,
      after: { title: '', lines: text.cell },
      rows: [],
      folds: [],
      notes: new Map()
    });
    this.cellPart.hidden = text.cell.length === 0;
    this.cellPart.replaceChildren(element('div', 'swb-heading', 'the cell'), this.cellPane.node);
    this.codePart.replaceChildren(this.headings(text), this.pane.node);
    if (kept && !text.before) {
      this.pane.bring(Math.min(kept, text.after.lines.length));
    }
  }

  /** Watch no more. */
  remove(): void {
    this.pane.remove();
    this.cellPane.remove();
  }

  /** What can be pressed may change while the text stays. */
  showButtons(buttons: readonly Button[]): void {
    const nodes = buttons.map(tool => {
      const node = button(tool.label, tool.title, () => this.ask({ type: 'button', name: tool.name }), tool.name);
      node.disabled = tool.disabled;
      return node;
    });
    this.buttons.replaceChildren(...nodes);
  }

  select(selected: Selected): void {
    const shownAlready = selected.lines.includes(this.pane.line);
    this.pane.mark(selected.lines, !shownAlready);
    this.cellPane.mark(selected.cell, !selected.cell.includes(this.cellPane.line));
  }

  private headings(text: Text): HTMLElement {
    const heading = element('div', 'swb-headings');
    if (text.before) {
      heading.append(element('div', 'swb-heading', text.before.title));
    }
    heading.append(element('div', 'swb-heading', text.after.title));
    return heading;
  }

  private drawTools(text: Text): void {
    const words = this.search.value;
    const choices = text.choices.map(
      choice =>
        chooser(choice.label, choice.options, choice.value, value => this.ask({ type: 'choice', name: choice.name, value }))
          .node
    );
    const parts = text.parts.map(part => ({ value: part.name, label: part.title }));
    const jump = chooser('jump to', [{ value: '', label: 'function \u2026' }, ...parts], '', name => this.jump(name));
    const seeking = element('span', 'swb-seeking');
    seeking.append(
      this.search,
      button('\u2191', 'previous line found (Shift+Enter)', () => this.seek(-1, true)),
      button('\u2193', 'next line found (Enter)', () => this.seek(1, true)),
      this.count
    );
    this.showButtons(text.buttons);
    const whole = button('Whole', 'show equal lines too', () => this.pane.openAll(), 'whole');
    const copying = button('Copy', 'copy the text', () => void this.copy(), 'copy');
    this.tools.replaceChildren(...choices, jump.node, seeking, this.buttons, ...(text.before ? [whole] : []), copying);
    this.search.value = words;
  }

  private jump(name: string): void {
    const part = this.text?.parts.find(known => known.name === name);
    if (part) {
      this.pane.bring(part.first);
      this.pane.node.focus();
      this.ask({ type: 'part', name });
    }
  }

  private seek(direction: 1 | -1, onwards: boolean): void {
    const lines = this.text ? findLines(this.text.after.lines, this.search.value) : [];
    this.pane.found(lines);
    const from = onwards ? this.pane.line : this.pane.line - 1;
    const line = nextLine(lines, from, direction);
    if (line !== null) {
      this.pane.bring(line);
      this.pane.found(lines);
    }
    const place = line === null ? '' : `${lines.indexOf(line) + 1} of ${lines.length}`;
    this.count.textContent = this.search.value === '' ? '' : place || 'nothing found';
  }

  private async copy(): Promise<void> {
    const lines = this.text?.after.lines ?? [];
    const done = await copyText(`${lines.map(plainText).join('\n')}\n`);
    this.say(done ? `${lines.length} lines copied` : 'The browser does not allow copying.');
  }

  private readonly tools = element('div', 'swb-row swb-code-tools');
  private readonly columns = element('div', 'swb-columns-of-code');
  private readonly cellPart = element('div', 'swb-cell-part');
  private readonly codePart = element('div', 'swb-code-part');
  private readonly buttons = element('span', 'swb-seeking');
  private readonly search = element('input', 'swb-search');
  private readonly count = element('span', 'swb-count');
  private readonly pane = new Pane('generated text', line => this.ask({ type: 'line', number: line }));
  private readonly cellPane = new Pane('lines of the cell', line => this.ask({ type: 'cell', number: line }));
  private text: Text | null = null;
}
