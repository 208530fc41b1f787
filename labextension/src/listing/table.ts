// Table: rows to choose from, notes below, and a question about two values. Says what is wanted; knows no kernel.

import type { FromListing, Selected, Table as TableMessage } from '../kernel/listing';
import { element } from '../element';
import { button, chooser, copyText } from './controls';

export class Table {
  readonly node = element('div', 'swb-plan');

  constructor(
    private readonly ask: (message: FromListing) => void,
    private readonly say: (text: string) => void
  ) {
    this.answer.setAttribute('role', 'status');
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute('role', 'region');
    this.node.append(this.tools, this.scroller, this.notes, this.question, this.answer);
  }

  open(table: TableMessage): void {
    this.table = table;
    const choices = table.choices.map(
      choice =>
        chooser(choice.label, choice.options, choice.value, value => this.ask({ type: 'choice', name: choice.name, value }))
          .node
    );
    const buttons = table.buttons.map(tool => button(tool.label, tool.title, () => this.ask({ type: 'button', name: tool.name })));
    this.tools.replaceChildren(...choices, ...buttons, button('Copy', 'copy the table', () => void this.copy(), 'copy'));
    this.scroller.setAttribute('aria-label', table.title);
    this.scroller.replaceChildren(this.drawn(table));
    this.notes.replaceChildren(...table.notes.map(note => element('div', 'swb-plan-note', note)));
    this.drawQuestion(table);
  }

  select(selected: Selected): void {
    for (const [name, row] of this.rows) {
      row.classList.toggle('swb-marked', selected.rows.includes(name));
      row.querySelector('button')?.setAttribute('aria-pressed', String(selected.rows.includes(name)));
    }
    if (selected.value && this.second && this.first && this.first.value !== selected.value) {
      this.second.value = this.first.value;
      this.first.value = selected.value;
    }
  }

  reply(text: string): void {
    this.answer.textContent = text;
  }

  private drawn(table: TableMessage): HTMLElement {
    const node = element('table', 'swb-table');
    node.setAttribute('role', 'table'); // roles are told, because blocks of a narrow page are no table for a browser
    node.append(element('caption', '', table.caption));
    const heads = node.createTHead();
    heads.setAttribute('role', 'rowgroup');
    const head = heads.insertRow();
    head.setAttribute('role', 'row');
    for (const column of table.columns) {
      const cell = element('th', column.numeric ? 'swb-numeric' : '', column.label);
      cell.scope = 'col';
      cell.setAttribute('role', 'columnheader');
      cell.title = column.title;
      head.append(cell);
    }
    this.rows.clear();
    const body = node.createTBody();
    body.setAttribute('role', 'rowgroup');
    for (const row of table.rows) {
      const line = body.insertRow();
      line.setAttribute('role', 'row');
      row.cells.forEach((text, index) => {
        if (index === 0) {
          const header = element('th', '');
          header.scope = 'row';
          header.setAttribute('role', 'rowheader');
          const chosen = button('', 'select this sub-kernel', () => this.ask({ type: 'row', name: row.name }));
          chosen.className = 'swb-link';
          // Long names break between their words.
          chosen.append(...text.split(/(?<=_)/).flatMap(word => [word, document.createElement('wbr')]));
          header.append(chosen);
          line.append(header);
        } else {
          const column = table.columns[index];
          const cell = element('td', column?.numeric ? 'swb-numeric' : '', text);
          cell.setAttribute('role', 'cell');
          cell.dataset['head'] = column?.label ?? '';
          cell.title = column?.title ?? '';
          line.append(cell);
        }
      });
      this.rows.set(row.name, line);
    }
    return node;
  }

  private drawQuestion(table: TableMessage): void {
    const known = [this.first?.value ?? '', this.second?.value ?? ''].map((value, index) =>
      table.values.some(option => option.value === value) ? value : (table.values[index]?.value ?? '')
    );
    const put = (): void => {
      if (this.first && this.second) {
        this.ask({ type: 'ask', first: this.first.value, second: this.second.value });
      }
    };
    const one = chooser('why are', table.values, known[0] ?? '', put);
    const two = chooser('and', table.values, known[1] ?? '', put);
    this.first = one.select;
    this.second = two.select;
    const tell = button('Explain', 'say why the two values are, or are not, in one sub-kernel', put);
    this.question.hidden = table.values.length < 2;
    this.question.replaceChildren(one.node, two.node, element('span', '', 'where they are?'), tell);
    this.answer.textContent = '';
  }

  private async copy(): Promise<void> {
    const table = this.table;
    const lines = [table?.columns.map(column => column.label) ?? [], ...(table?.rows.map(row => row.cells) ?? [])];
    const done = await copyText(`${lines.map(cells => cells.join('\t')).join('\n')}\n`);
    this.say(done ? `${lines.length - 1} rows copied` : 'The browser does not allow copying.');
  }

  private readonly tools = element('div', 'swb-row');
  private readonly scroller = element('div', 'swb-table-scroller');
  private readonly notes = element('div', 'swb-plan-notes');
  private readonly question = element('div', 'swb-row');
  private readonly answer = element('div', 'swb-answer');
  private readonly rows = new Map<string, HTMLElement>();
  private table: TableMessage | null = null;
  private first: HTMLSelectElement | null = null;
  private second: HTMLSelectElement | null = null;
}
