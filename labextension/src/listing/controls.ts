// Elements: the controls that every part of a listing has.

import { element } from '../element';
import { labelButton } from '../icons';

/** `name`: of what it does, for its icon where there is little room. */
export function button(label: string, title: string, pressed: () => void, name = ''): HTMLButtonElement {
  const node = element('button', 'swb-button');
  labelButton(node, name, label);
  node.type = 'button';
  node.title = title;
  node.addEventListener('click', pressed);
  return node;
}

/** A list to choose from, with its words in front. */
export function chooser(
  label: string,
  options: readonly { value: string; label: string }[],
  value: string,
  chosen: (value: string) => void
): { node: HTMLElement; select: HTMLSelectElement } {
  const node = element('label', 'swb-label');
  const select = element('select', 'swb-select');
  for (const option of options) {
    const item = element('option', '', option.label);
    item.value = option.value;
    select.append(item);
  }
  select.setAttribute('aria-label', label);
  select.title = label;
  select.value = value;
  select.addEventListener('change', () => chosen(select.value));
  node.append(element('span', 'swb-chooser-words', label), select);
  return { node, select };
}

/** Put a text on the clipboard; pages that may not do so themselves select it and ask the browser. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element('textarea', 'swb-copying');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
