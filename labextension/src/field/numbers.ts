// Numbers on axes and colour bars: round steps, few digits. Imports nothing. The other half is workbench/views/drawing/numbers.py.

/** Tell any two numbers apart. */
const MOST_DIGITS = 17;
/** Of the numbers themselves: ends nearer than that have no round numbers between them. */
const LEAST_SHARE = 1e-13;
const LEAST_SPAN = 1e-300;
/** Beside an axis. */
const LONGEST_TEXT = 9;

/**
 * At most `most` round numbers between both ends, which may be reversed: 1, 2 or 5 times a power of ten apart, or `nearest`
 * if that is more. Where only one is between them, they are the next finer ones, if these are not too many.
 */
export function ticks(first: number, last: number, most: number, nearest = 0): number[] {
  const low = Math.min(first, last);
  const high = Math.max(first, last);
  if (!(high > low)) {
    return Number.isFinite(low) ? [low] : [];
  }
  const least = LEAST_SPAN + LEAST_SHARE * Math.max(Math.abs(low), Math.abs(high));
  if (!(least <= high - low && high - low < Infinity)) {
    return Number.isFinite(low) && Number.isFinite(high) ? [low, high] : [];
  }
  const rough = (high - low) / Math.max(1, most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find(each => each * power >= rough * (1 - 1e-9)) ?? 10;
  const found = multiples(low, high, Math.max(nearest, factor * power));
  const finer = found.length > 1 ? [] : multiples(low, high, Math.max(nearest, (factor === 5 ? 0.4 : 0.5) * factor * power));
  return finer.length > found.length && finer.length <= most ? finer : found;
}

function multiples(low: number, high: number, step: number): number[] {
  const found: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    found.push(k === 0 ? 0 : Number((k * step).toPrecision(15)));
  }
  return found;
}

/** So many significant digits, an exponent (and one digit less) where the number would be long. */
export function short(value: number, digits = 4): string {
  if (value === 0) {
    return '0';
  }
  if (isLong(value, digits)) {
    return value.toExponential(digits - 2).replace(/(\.\d*?)0+e/, '$1e').replace('.e', 'e').replace('e+', 'e').replaceAll('-', '\u2212');
  }
  return String(Number(value.toPrecision(digits))).replace('-', '\u2212');
}

/** Short texts of numbers in order, with as many digits as it takes to see how far they are apart. */
export function apart(values: readonly number[]): string[] {
  const gaps = values.slice(1).map((value, index) => Math.abs(value - (values[index] ?? value)));
  const allowed = Math.min(...gaps.filter(gap => gap > 0)) / 20;
  let digits = 4;
  while (digits < MOST_DIGITS && values.some(value => Math.abs(rounded(value, digits) - value) > allowed)) {
    digits += 1;
  }
  return values.map(value => short(value, digits));
}

/** The same for an axis, where a text has little room: long ones are told as distances from the shortest. */
export function beside(values: readonly number[]): string[] {
  const texts = apart(values);
  const lengths = texts.map(text => text.length);
  const base = values[lengths.indexOf(Math.min(...lengths))];
  if (base === undefined || Math.max(...lengths) <= LONGEST_TEXT) {
    return texts;
  }
  const exact = texts[values.indexOf(base)] ?? '';
  const rounded = [6, 5, 4].map(digits => short(base, digits));
  const near = `\u2248${rounded.find(text => text.length < LONGEST_TEXT) ?? short(base)}`;
  const text = exact.length > LONGEST_TEXT ? near : exact;
  return values.map(value => (value === base ? text : (value > base ? '+' : '') + short(value - base)));
}

/** Where a value lies between two limits, 0 to 1, also for limits as far apart as numbers go; in the middle of none. */
export function shareOf(value: number, low: number, high: number): number {
  const scale = Number.isFinite(high - low) ? 1 : 0.5;
  return high === low ? 0.5 : (value * scale - low * scale) / (high * scale - low * scale);
}

function isLong(value: number, digits: number): boolean {
  return Math.abs(value) >= 10 ** (digits + 1) || Math.abs(value) < 1e-3;
}

/** The number that `short` writes. */
function rounded(value: number, digits: number): number {
  return Number(isLong(value, digits) ? value.toExponential(digits - 2) : value.toPrecision(digits));
}
