// Where a cell of the domain lies in a picture. Imports nothing but types.

import type { Plane } from '../kernel/protocol';

/** Shares of the picture's width and height, from the lower left corner. */
export interface Place {
  across: number;
  up: number;
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

/** The cell that a row and a column of the picture (row 0 on top) show. */
export function cellOf(plane: Plane, column: number, row: number): number[] {
  const cell: number[] = [];
  for (const cut of plane.cuts) {
    cell[cut.axis] = cut.index;
  }
  const [across, up] = plane.shown;
  if (across !== undefined) {
    cell[across] = column * plane.stride;
  }
  if (up !== undefined) {
    cell[up] = (plane.rows - 1 - row) * plane.stride;
  }
  return cell;
}
