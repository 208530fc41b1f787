// Codes of a picture from the few bytes in which they came; the other half is workbench/views/field/packing.py. Imports nothing.

/**
 * `cells` codes from a raw deflate stream of the differences between neighbours; null if the stream is damaged or has
 * another length. Goes to the worker as text (sharing.ts): it may use nothing of this file.
 */
export async function unpack(body: Uint8Array<ArrayBuffer>, cells: number): Promise<Uint8Array | null> {
  const [zero, far] = [7, 15]; // half bytes
  try {
    const stream = new Blob([body]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const steps = new Uint8Array(await new Response(stream).arrayBuffer());
    const half = Math.ceil(cells / 2);
    const codes = new Uint8Array(cells);
    let [next, code] = [half, 0]; // next: the next difference that is far
    for (let cell = 0; cell < cells; cell++) {
      const step = cell < half ? (steps[cell] as number) & 15 : (steps[cell - half] as number) >> 4;
      code += step === far ? (steps[next++] as number) : step - zero;
      codes[cell] = code;
    }
    return next === steps.length ? codes : null;
  } catch {
    return null;
  }
}
