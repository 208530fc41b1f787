// Particles to pixels; the other half is workbench/views/field/particles.py. Imports nothing that runs.

import type { Discs } from './drawing';

/**
 * A disc for each particle on black, a later one above earlier ones; `body` is what drawing.ts says. A particle of level 1
 * is not there. Goes to the worker as text (sharing.ts): it may use nothing of this file.
 */
export function scatter(body: Uint8Array, { count, radius }: Discs, columns: number, table: Uint32Array, pixels: Uint32Array): void {
  const [background, black] = [1, 0xff000000];
  const rows = pixels.length / columns;
  const around: number[] = []; // of a disc's pixels, as numbers of pixels from its middle
  const halves: number[] = []; // of its rows
  for (let down = -radius; down <= radius; down++) {
    const half = Math.floor(Math.sqrt(radius * radius - down * down));
    halves.push(half);
    for (let across = -half; across <= half; across++) {
      around.push(down * columns + across);
    }
  }
  const place = (at: number, side: number): number => Math.floor((((body[at] as number) | ((body[at + 1] as number) << 8)) * side) / 65536);
  pixels.fill(black);
  for (let particle = 0; particle < count; particle++) {
    const level = body[4 * count + particle] as number;
    if (level === background) {
      continue;
    }
    const colour = table[level] as number;
    const column = place(2 * particle, columns);
    const row = rows - 1 - place(2 * (count + particle), rows);
    if (column >= radius && column < columns - radius && row >= radius && row < rows - radius) {
      const middle = row * columns + column;
      for (let index = 0; index < around.length; index++) {
        pixels[middle + (around[index] as number)] = colour; // a call of fill takes as long as ten of these
      }
      continue;
    }
    for (let index = 0; index < halves.length; index++) {
      const [line, half] = [row - radius + index, halves[index] as number];
      if (line >= 0 && line < rows) {
        const start = line * columns;
        pixels.fill(colour, start + Math.max(0, column - half), start + Math.min(columns, column + half + 1));
      }
    }
  }
}
