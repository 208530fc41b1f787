// Rows: which lines of two texts stand side by side, which hide, and where a search finds something. Draws nothing.

import type { Fold, Line, Row, Side } from '../kernel/listing';

/** What is seen from top to bottom: a row of lines, or a number of rows that hide. */
export type Shown = { kind: 'row'; index: number } | { kind: 'fold'; index: number; rows: number };

/** Rows of a text alone: each line by itself. Rows count lines from 1, whatever number a line shows. */
export function rowsOf(after: Side): Row[] {
  return after.lines.map((_, index) => ({ kind: 'same', before: 0, after: index + 1 }));
}

/** Everything that is seen, in order; `opened` are folds (by their place in `folds`) whose rows are shown. */
export function shownRows(rows: readonly Row[], folds: readonly Fold[], opened: ReadonlySet<number>): Shown[] {
  const shown: Shown[] = [];
  let row = 0;
  folds.forEach((fold, index) => {
    if (opened.has(index)) {
      return;
    }
    for (; row < fold.first; row++) {
      shown.push({ kind: 'row', index: row });
    }
    shown.push({ kind: 'fold', index, rows: fold.last - fold.first + 1 });
    row = fold.last + 1;
  });
  for (; row < rows.length; row++) {
    shown.push({ kind: 'row', index: row });
  }
  return shown;
}

/** The fold that hides a row, or -1. */
export function foldOf(row: number, folds: readonly Fold[]): number {
  return folds.findIndex(fold => fold.first <= row && row <= fold.last);
}

/** The row in which the line with this number stands on the right, or -1. */
export function rowOfLine(rows: readonly Row[], after: Side, number: number): number {
  return rows.findIndex(row => after.lines[row.after - 1]?.number === number);
}

export function plainText(line: Line): string {
  return line.pieces.filter((_, index) => index % 2 === 1).join('');
}

/** Lines, by number, that hold the words; small letters stand for capitals too. */
export function findLines(lines: readonly Line[], words: string): number[] {
  const wanted = words.toLowerCase();
  if (wanted === '') {
    return [];
  }
  return lines.filter(line => plainText(line).toLowerCase().includes(wanted)).map(line => line.number);
}

/** The next of some ascending lines after `line` (direction 1) or before it (-1), round the end; null if none. */
export function nextLine(lines: readonly number[], line: number, direction: 1 | -1): number | null {
  const ordered = direction === 1 ? lines : [...lines].reverse();
  return ordered.find(found => (found - line) * direction > 0) ?? ordered[0] ?? null;
}
