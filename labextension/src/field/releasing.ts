// Memory of messages, given back at once. Imports nothing.

/** Newer than the oldest browser that the page must work in. */
interface TransferableBuffer extends ArrayBuffer {
  transfer?: (length: number) => ArrayBuffer;
}

/**
 * Free the memory of bytes that nobody reads again, if it holds nothing else: a large message for each frame makes the
 * browser look through all of the page's memory every few seconds, and then a frame waits for a tenth of a second.
 */
export function release(bytes: Uint8Array): void {
  const memory = bytes.buffer as TransferableBuffer;
  if (bytes.byteLength === memory.byteLength) {
    memory.transfer?.(0);
  }
}
