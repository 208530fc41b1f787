// The row of controls above a drawing: buttons, choices and a search box, all reached by keyboard.

import type { Tool, ToolState } from '../kernel/pane';

export type Use = (name: string, value: string) => void;

export class Toolbar {
  constructor(private readonly use: Use) {
    this.node.className = 'swb-row swb-tools';
    this.node.setAttribute('role', 'group');
  }

  open(tools: readonly Tool[], label: string): void {
    this.node.setAttribute('aria-label', `Tools of ${label}`);
    this.made.clear();
    this.node.replaceChildren(...tools.map(tool => this.make(tool)));
  }

  show(states: readonly ToolState[]): void {
    for (const state of states) {
      const control = this.made.get(state.name);
      if (!control) {
        continue;
      }
      control.disabled = state.disabled;
      if (control instanceof HTMLButtonElement) {
        if (state.pressed !== null) {
          control.setAttribute('aria-pressed', String(state.pressed));
        }
        if (state.label) {
          control.textContent = state.label;
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
        button.textContent = tool.label;
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

  private readonly made = new Map<string, Control>();
}

type Control = HTMLButtonElement | HTMLSelectElement | HTMLInputElement;

function labelled(text: string, control: HTMLElement): HTMLElement {
  const label = document.createElement('label');
  label.className = 'swb-label';
  label.append(text, control);
  return label;
}
