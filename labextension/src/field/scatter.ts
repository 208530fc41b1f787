// Particles to pixels; the other half is workbench/views/field/particles.py. Imports nothing that runs.

import type { Discs } from './drawing';

/**
 * A disc for each particle on black, a later one above earlier ones; `body` is what drawing.ts says. A particle of level 1
 * is not there. Goes to the worker as text (sharing.ts): it may use nothing of this file.
 */
export function scatter(body: Uint8Array, { count, radius }: Discs, columns: number, table: Uint32Array, pixels: Uint32Array): void {
  const [background, black] = [1, 0xff000000];
  const rows = pixels.length / columns;
  const halves: number[] = []; // of the disc's rows
  for (let down = -radius; down <= radius; down++) {
    halves.push(Math.floor(Math.sqrt(radius * radius - down * down)));
  }
  const place = (at: number, side: number): number => Math.floor((((body[at] as number) | ((body[at + 1] as number) << 8)) * side) / 65536);
  pixels.fill(black);
  for (let particle = 0; particle < count; particle++) {
    const level = body[4 * count + particle] as number;
    if (level !== background) {
      const colour = table[level] as number;
      const column = place(2 * particle, columns);
      const top = rows - 1 - place(2 * (count + particle), rows) - radius;
      for (let index = 0; index < halves.length; index++) {
        const half = halves[index] as number;
        if (top + index >= 0 && top + index < rows) {
          const start = (top + index) * columns;
          pixels.fill(colour, start + Math.max(0, column - half), start + Math.min(columns, column + half + 1));
        }
      }
    }
  }
}
