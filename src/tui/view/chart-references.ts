import type { BrailleCanvas } from './braille-canvas.js';
import type { Reference } from './chart-look.js';
import type { Frame } from './chart-picture.js';
import { Ruler, valueAt } from './chart-scale.js';

/** A line seen in fewer columns of dots than this is a stroke beside the axis, and tells nothing. */
const leastDots = 16;

/**
 * Theory behind the curves: dashes, with a name where there is room for it near the right end. Lines outside of the
 * picture are not there. Comes last, so that a name finds a place that no curve goes through.
 */
export function drawReferences(canvas: BrailleCanvas, frame: Frame, references: readonly Reference[]): void {
  const lines = references
    .map((reference) => ({ text: reference.label, rows: rowsOf(reference, frame) }))
    .filter(({ rows }) => rows.filter((row) => row !== null).length >= leastDots);
  for (const { rows } of lines) {
    rows.forEach((row, column) => {
      if (row !== null && column % 4 < 2) canvas.dotBehind(column, row, 'faint');
    });
  }
  // A name must not lie on the dashes of another line.
  for (const { text, rows } of lines) label(canvas, text, rows);
}

/** The row of dots in each column of dots; null where the line is outside. */
function rowsOf({ value, isPerX }: Reference, { x, y, columns, rows }: Frame): (number | null)[] {
  const bottom = rows * 4 - 1;
  const up = new Ruler(y, bottom);
  const width = columns * 2;
  return Array.from({ length: width }, (_, column) => {
    const row = bottom - Math.round(up.at(isPerX ? value * valueAt(x, column / (width - 1)) : value));
    return row >= 0 && row <= bottom ? row : null;
  });
}

/** Above or below the line, as far right as no curve is in the way. */
function label(canvas: BrailleCanvas, text: string, rows: readonly (number | null)[]): void {
  for (let column = canvas.columns - text.length; column >= 0; column--) {
    const dots = rows.slice(column * 2, (column + text.length) * 2).filter((row) => row !== null);
    if (dots.length === 0) continue;
    const [top, bottom] = [Math.min(...dots) >> 2, Math.max(...dots) >> 2];
    // With a space before and behind it, inside the picture.
    const start = Math.max(0, column - 1);
    const length = Math.min(canvas.columns, column + text.length + 1) - start;
    const row = [top - 1, bottom + 1].find((free) => canvas.isFree(start, free, length));
    if (row === undefined) continue;
    canvas.write(column, row, text, 'faint');
    return;
  }
}
