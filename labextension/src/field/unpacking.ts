// Codes of a picture from the few bytes in which they came; the other half is workbench/views/packing.py.

import { inflateSync } from 'fflate';

/**
 * Fill `codes` (rows of `columns` cells) from a raw deflate stream of the differences to the row above. False if the
 * stream is damaged or has another length; `codes` then hold nothing of use.
 */
export function unpack(body: Uint8Array, columns: number, codes: Uint8Array): boolean {
  try {
    if (inflateSync(body, { out: codes }).length !== codes.length) {
      return false;
    }
  } catch {
    return false;
  }
  for (let cell = columns; cell < codes.length; cell++) {
    codes[cell] = (codes[cell] as number) + (codes[cell - columns] as number);
  }
  return true;
}
