import { textWidth } from '../../text/display-width.js';
import { type Line, span } from '../surface/span.js';

/** A key as shown to the user, and its action in a word or two. */
export type KeyHint = readonly [key: string, does: string];

/** ` Enter open  Esc back `: each key is highlighted and followed by its action. */
export function hintLine(hints: readonly KeyHint[]): Line {
  return hints.flatMap(([key, does]) => [span(` ${key}`, 'key'), span(` ${does} `, 'dim')]);
}

/** Columns of one hint in `hintLine`. */
export function hintWidth([key, does]: KeyHint): number {
  return textWidth(key) + textWidth(does) + 3;
}

/** As many hints as fit, in order. The first (what to do) and the last (how to leave) are always kept. */
export function fittingHints(hints: readonly KeyHint[], width: number): readonly KeyHint[] {
  const kept = [...hints];
  while (kept.length > 2 && kept.reduce((sum, hint) => sum + hintWidth(hint), 0) > width) kept.splice(-2, 1);
  return kept;
}

/** The last part of a metric's name, which says most: `env/all/test/bits_known` → `bits_known`. */
export function shortKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
