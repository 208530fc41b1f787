// The row of controls above a drawing: buttons, choices and a search box, all reached by keyboard. Where there is little
// room, buttons show icons instead of their words, and those that are seldom used wait behind one more.

import { labelButton } from '../icons';
import type { Tool, ToolState } from '../kernel/pane';

export type Use = (name: string, value: string) => void;

export class Toolbar {
  constructor(private readonly use: Use) {
    this.node.className = 'swb-tools-place';
    this.row.className = 'swb-row swb-tools';
    this.row.setAttribute('role', 'group');
    this.node.append(this.row);
    this.more.type = 'button';
    this.more.className = 'swb-button swb-more';
    this.more.title = 'More tools';
    this.more.addEventListener('click', () => this.showSeldom(this.more.getAttribute('aria-expanded') !== 'true'));
    labelButton(this.more, 'more', 'More');
  }

  open(tools: readonly Tool[], label: string): void {
    this.row.setAttribute('aria-label', `Tools of ${label}`);
    this.made.clear();
    const often = tools.filter(tool => !tool.seldom).map(tool => this.make(tool));
    const seldom = tools.filter(tool => tool.seldom).map(tool => this.make(tool));
    for (const node of often.length ? seldom : []) {
      node.classList.add('swb-seldom');
    }
    this.row.replaceChildren(...often, ...(often.length && seldom.length ? [this.more] : []), ...seldom);
    this.showSeldom(false);
  }

  show(states: readonly ToolState[]): void {
    for (const state of states) {
      const control = this.made.get(state.name);
      if (!control) {
        continue;
      }
      control.disabled = state.disabled;
      (control.closest('label') ?? control).hidden = state.hidden;
      if (control instanceof HTMLButtonElement) {
        if (state.pressed !== null) {
          control.setAttribute('aria-pressed', String(state.pressed));
        }
        if (state.label) {
          labelButton(control, state.name, state.label);
        }
      } else if (control instanceof HTMLSelectElement) {
        control.replaceChildren(...state.options.map(option => new Option(option, option)));
        control.value = state.value;
      } else if (document.activeElement !== control && control.getRootNode() === document) {
        control.value = state.value;
      }
    }
  }

  readonly node = document.createElement('div');

  private make(tool: Tool): HTMLElement {
    switch (tool.kind) {
      case 'button': {
        const button = document.createElement('button');
        button.type = 'button';
        button.className = 'swb-button';
        labelButton(button, tool.name, tool.label);
        button.addEventListener('click', () => this.use(tool.name, ''));
        return this.keep(tool, button, button);
      }
      case 'choice': {
        const select = document.createElement('select');
        select.className = 'swb-select';
        select.addEventListener('change', () => this.use(tool.name, select.value));
        return this.keep(tool, select, labelled(tool.label, select));
      }
      case 'search': {
        const input = document.createElement('input');
        input.type = 'search';
        input.className = 'swb-number swb-search';
        input.addEventListener('keydown', event => {
          event.stopPropagation();
          if (event.key === 'Enter') {
            this.use(tool.name, input.value);
          }
        });
        return this.keep(tool, input, labelled(tool.label, input));
      }
    }
  }

  private keep(tool: Tool, control: Control, shown: HTMLElement): HTMLElement {
    control.title = tool.title;
    control.dataset['tool'] = tool.name;
    this.made.set(tool.name, control);
    return shown;
  }

  /** Only a narrow page hides them otherwise. */
  private showSeldom(shown: boolean): void {
    this.more.setAttribute('aria-expanded', String(shown));
    this.row.classList.toggle('swb-with-seldom', shown);
  }

  private readonly row = document.createElement('div');
  private readonly more = document.createElement('button');
  private readonly made = new Map<string, Control>();
}

type Control = HTMLButtonElement | HTMLSelectElement | HTMLInputElement;

function labelled(text: string, control: HTMLElement): HTMLElement {
  const label = document.createElement('label');
  label.className = 'swb-label';
  label.append(text, control);
  return label;
}
