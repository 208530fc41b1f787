// Codes of a picture from the few bytes in which they came; the other half is workbench/views/packing.py.

import { Z_FINISH, Z_STREAM_END, ZStream, zlibInflate, zlibInflateInit2, zlibInflateReset } from 'pako';

const RAW = -15; // window bits: a raw deflate stream, without header and checksum
const NOTHING = new Uint8Array(0);

/** One for all frames: a new one for each leaves garbage, and a frame waits while the browser collects it. */
const stream = new ZStream();
zlibInflateInit2(stream, RAW);

/**
 * Fill `codes` (rows of `columns` cells) from a raw deflate stream of the differences to the row above. False if the
 * stream is damaged or has another length; `codes` then hold nothing of use.
 */
export function unpack(body: Uint8Array, columns: number, codes: Uint8Array<ArrayBuffer>): boolean {
  if (!inflate(body, codes)) {
    return false;
  }
  for (let cell = columns; cell < codes.length; cell++) {
    codes[cell] = (codes[cell] as number) + (codes[cell - columns] as number);
  }
  return true;
}

function inflate(body: Uint8Array, codes: Uint8Array<ArrayBuffer>): boolean {
  zlibInflateReset(stream);
  Object.assign(stream, { input: body, next_in: 0, avail_in: body.length });
  Object.assign(stream, { output: codes, next_out: 0, avail_out: codes.length });
  const whole = zlibInflate(stream, Z_FINISH) === Z_STREAM_END && stream.total_out === codes.length;
  stream.input = stream.output = NOTHING; // keeps no frame alive
  return whole;
}
