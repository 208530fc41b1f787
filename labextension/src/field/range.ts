// The range of a slider for a param of which only the value is known. Imports nothing.

export interface Range {
  low: number;
  high: number;
  step: number;
}

/** Around the first value: 0 to twice it; -1 to 1 for zero; whole steps for whole numbers. */
export function rangeOf(value: number, kind: 'int' | 'float'): Range {
  if (kind === 'int') {
    const far = Math.max(10, 2 * Math.abs(value));
    return { low: value < 0 ? -far : 0, high: far, step: 1 };
  }
  if (value === 0 || !Number.isFinite(value)) {
    return { low: -1, high: 1, step: 0.01 };
  }
  const step = Number((Math.abs(value) / 50).toPrecision(2));
  return value > 0 ? { low: 0, high: 2 * value, step } : { low: 2 * value, high: 0, step };
}
