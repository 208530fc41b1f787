// Icons: small drawings for buttons that have no room for their words, in the colour of the text around them.

const SVG = 'http://www.w3.org/2000/svg';

/** Lines on 16 by 16 units, by the name of what a button does. */
const LINES: Readonly<Record<string, string>> = {
  flip: 'M2 6h10l-3-3M14 10H4l3 3',
  sync: 'M2 4h4M2 8h4M2 12h4M9 1v14M12 8h3',
  undo: 'M6 3L2 7l4 4M2 7h8a4 4 0 0 1 0 7H7',
  redo: 'M10 3l4 4-4 4M14 7H6a4 4 0 0 0 0 7h3',
  fold: 'M2 2h12v12H2zM5 8h6',
  numbers: 'M6 2L4 14M12 2l-2 12M2 6h12M2 10h12',
  closer: 'M7 2a5 5 0 1 0 0 10A5 5 0 1 0 7 2M11 11l4 4M5 7h4M7 5v4',
  farther: 'M7 2a5 5 0 1 0 0 10A5 5 0 1 0 7 2M11 11l4 4M5 7h4',
  fit: 'M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
  compiler: 'M5 4L1 8l4 4M11 4l4 4-4 4',
  copy: 'M5 5h9v9H5zM11 5V2H2v9h3',
  whole: 'M8 1v5M5.5 3.5L8 1l2.5 2.5M8 15v-5M5.5 12.5L8 15l2.5-2.5M2 8h12'
};

/** The drawing for a button of this name; null if there is none. Screen readers pass over it. */
function icon(name: string): SVGElement | null {
  const lines = LINES[name];
  if (lines === undefined) {
    return null;
  }
  const drawing = document.createElementNS(SVG, 'svg');
  drawing.setAttribute('viewBox', '0 0 16 16');
  drawing.setAttribute('class', 'swb-icon');
  drawing.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', lines);
  drawing.append(path);
  return drawing;
}

/** The words stay a button's name where only its drawing is seen. */
export function labelButton(button: HTMLButtonElement, name: string, label: string): void {
  const words = document.createElement('span');
  words.className = 'swb-words';
  words.textContent = label;
  const drawing = icon(name);
  button.classList.toggle('swb-with-icon', drawing !== null);
  button.replaceChildren(...(drawing ? [drawing] : []), words);
}
