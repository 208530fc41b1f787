// Colour tables: hexadecimal text from the kernel process to 256 pixels, and codes to pixels. Imports nothing.

/** 256 pixels as canvas memory holds them on little-endian machines (alpha, blue, green, red from the top byte). */
export function readTable(hexadecimal: string): Uint32Array {
  if (hexadecimal.length !== 256 * 6 || /[^0-9a-f]/i.test(hexadecimal)) {
    throw new Error(`a colour table has 256 colours of 6 digits, not ${hexadecimal.length} characters`);
  }
  const table = new Uint32Array(256);
  for (let code = 0; code < 256; code++) {
    const rgb = parseInt(hexadecimal.slice(6 * code, 6 * code + 6), 16);
    const red = rgb >> 16;
    const green = (rgb >> 8) & 255;
    const blue = rgb & 255;
    table[code] = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }
  return table;
}

/** One pixel for each code; `pixels` is at least as long. */
export function paint(codes: Uint8Array, table: Uint32Array, pixels: Uint32Array): void {
  for (let cell = 0; cell < codes.length; cell++) {
    pixels[cell] = table[codes[cell] as number] as number;
  }
}
