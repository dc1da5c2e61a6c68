import { textWidth } from '../../text/display-width.js';
import { type Line, span } from '../surface/span.js';

/** A key as a person reads it, and what it does where it is shown, in a word or two. */
export type KeyHint = readonly [key: string, does: string];

/** ` Enter open  Esc back `: the key stands out, and what it does follows. */
export function hintLine(hints: readonly KeyHint[]): Line {
  return hints.flatMap(([key, does]) => [span(` ${key}`, 'key'), span(` ${does} `, 'dim')]);
}

/** Columns that `hintLine` makes of one. */
export function hintWidth([key, does]: KeyHint): number {
  return textWidth(key) + textWidth(does) + 3;
}

/** As many hints as fit, in their order. The first says what to do and the last how to leave: those two stay. */
export function fittingHints(hints: readonly KeyHint[], width: number): readonly KeyHint[] {
  const kept = [...hints];
  while (kept.length > 2 && kept.reduce((sum, hint) => sum + hintWidth(hint), 0) > width) kept.splice(-2, 1);
  return kept;
}
