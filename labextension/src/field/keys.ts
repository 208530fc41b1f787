// Keys on controls: a notebook in command mode takes arrows, space and enter for itself before a control sees them, so
// the controls act on them here.

/** Do what the key does to this control; false if it does nothing, then the browser may act. */
export function obeyKey(target: EventTarget | null, key: string): boolean {
  if (target instanceof HTMLInputElement && target.type === 'range') {
    return slide(target, key);
  }
  if (target instanceof HTMLSelectElement) {
    return choose(target, key);
  }
  if (target instanceof HTMLInputElement && target.type === 'number') {
    return enter(target, key);
  }
  const summary = target instanceof HTMLElement && target.tagName === 'SUMMARY';
  const presses = key === ' ' || (key === 'Enter' && (summary || target instanceof HTMLButtonElement));
  const pressable = summary || target instanceof HTMLButtonElement || (target instanceof HTMLInputElement && target.type === 'checkbox');
  if (presses && pressable) {
    target.click();
    return true;
  }
  return false;
}

/** Steps that a key moves a slider by; Home and End go to the ends. */
export function stepsOf(key: string): number {
  const steps: Record<string, number> = {
    ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity
  };
  return steps[key] ?? 0;
}

function slide(slider: HTMLInputElement, key: string): boolean {
  const steps = stepsOf(key);
  if (steps === 0) {
    return false;
  }
  if (Number.isFinite(steps)) {
    slider.stepUp(steps);
  } else {
    slider.value = steps > 0 ? slider.max : slider.min;
  }
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  return true;
}

function enter(number: HTMLInputElement, key: string): boolean {
  if (key === 'Enter') {
    number.dispatchEvent(new Event('change', { bubbles: true }));
  }
  return key === 'Enter';
}

function choose(select: HTMLSelectElement, key: string): boolean {
  const steps = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[key] ?? 0;
  const next = select.selectedIndex + steps;
  if (steps === 0) {
    return false;
  }
  if (next >= 0 && next < select.options.length) {
    select.selectedIndex = next;
    select.dispatchEvent(new Event('change', { bubbles: true }));
  }
  return true;
}
