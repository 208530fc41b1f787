// The range of a slider for a param: within its limits, and around its first value where there are none. Imports only types.

import type { Limits } from '../kernel/protocol';

export interface Range {
  low: number;
  high: number;
  step: number;
}

/** Within the limits; where one is missing 0 to twice the value, -1 to 1 for zero; whole steps for whole numbers. */
export function rangeOf(value: number | null, kind: 'int' | 'float', limits: Limits): Range {
  const free = around(value ?? 0, kind);
  const { above, most } = limits;
  const least = limits.least ?? above;
  if (least === null && most === null) {
    return free;
  }
  const low = least ?? Math.min(free.low, (most ?? 0) - 1);
  const high = most ?? Math.max(free.high, low + 1);
  const step = kind === 'int' ? 1 : Number(((high - low) / 100).toPrecision(2)) || 1;
  return { low: limits.least === null && above !== null ? low + step : low, high, step };
}

function around(value: number, kind: 'int' | 'float'): Range {
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
