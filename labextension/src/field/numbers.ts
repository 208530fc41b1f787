// Numbers on axes and colour bars: round steps, few digits. Imports nothing.

/** At most `most` round numbers (1, 2 or 5 times a power of ten apart) between both ends, which may be reversed. */
export function ticks(first: number, last: number, most: number): number[] {
  const low = Math.min(first, last);
  const high = Math.max(first, last);
  if (!(high > low) || !Number.isFinite(high - low)) {
    return Number.isFinite(low) ? [low] : [];
  }
  const rough = (high - low) / Math.max(1, most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find(factor => factor * power >= rough * (1 - 1e-9)) ?? 10);
  const found: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    found.push(k === 0 ? 0 : Number((k * step).toPrecision(12)));
  }
  return found;
}

/** Four significant digits, an exponent where the number would be long. */
export function short(value: number): string {
  if (value === 0) {
    return '0';
  }
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    return value.toExponential(2).replace(/\.?0+e/, 'e').replace('e+', 'e').replace('-', '\u2212');
  }
  return String(Number(value.toPrecision(4))).replace('-', '\u2212');
}
