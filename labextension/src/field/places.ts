// Where a cell of the domain lies in a picture. Imports nothing but types.

import type { Plane } from '../kernel/protocol';

/** Shares of the picture's width and height, from the lower left corner. */
export interface Place {
  across: number;
  up: number;
}

/** The middle of a cell of the picture, row 0 on top. */
export function middleOf({ rows, columns }: Plane, column: number, row: number): Place {
  return { across: (column + 0.5) / columns, up: (rows - row - 0.5) / rows };
}

/** Where the cells that are probed, or the particles, lie; null for those that the picture does not show. */
export function placesOf(plane: Plane, probes: readonly (readonly number[])[]): (Place | null)[] {
  const { particles } = plane;
  return particles ? particles.followed.map(at => at && middleOf(plane, ...at)) : probes.map(cell => placeOf(plane, cell));
}

/** The middle of a cell; null if the picture does not show it. */
export function placeOf(plane: Plane, cell: readonly number[]): Place | null {
  if (plane.cuts.some(cut => cell[cut.axis] !== cut.index)) {
    return null;
  }
  const middle = (axis: number | undefined, cells: number): number =>
    axis === undefined ? 0.5 : (Math.floor((cell[axis] ?? 0) / plane.stride) + 0.5) / cells;
  return { across: middle(plane.shown[0], plane.columns), up: middle(plane.shown[1], plane.rows) };
}

