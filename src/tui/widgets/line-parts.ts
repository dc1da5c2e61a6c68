import { ailments } from '../../base/run-words.js';
import { textWidth } from '../../text/display-width.js';
import { healthTone, stateLook, statesInOrder, unhealthyGlyph } from '../model/state-look.js';
import type { Tally } from '../model/tally.js';
import { fitLine, type Line, lineWidth, span, type Tone } from '../surface/span.js';

/** A heading on a thin rule, with a text at the right end: `── chart ──────── s0 9.31 ──`. */
export function sectionRule(title: string, right: Line, width: number): Line {
  const head = [span('── ', 'faint'), span(title, 'accent'), span(' ', 'faint')];
  const tail = right.length === 0 ? [] : [span(' '), ...right, span(' ')];
  const rule = width - lineWidth(head) - lineWidth(tail);
  if (rule < 0) return fitLine(head, width);
  return [...head, span('─'.repeat(rule), 'faint'), ...tail];
}

/** The heading of the pane that keys act on, with a thicker, highlighted rule. */
export function inFocus(rule: Line): Line {
  return rule.map(({ text, tone, ...rest }) => {
    const isRule = /─/.test(text);
    return { text: text.replaceAll('─', '━'), tone: isRule ? 'accent' : tone === 'accent' ? 'title' : tone, ...rest };
  });
}

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

/** The last part of a metric's name, which says most: `env/all/reward/total` → `total`. */
export function shortKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

/** `●2 ✓14 ✗1 !1`, without states that have no runs; `!`: runs with a problem that their state does not show. */
export function countsLine({ counts, unhealthy }: Tally): Line {
  const present = statesInOrder.filter((state) => counts[state] > 0);
  const states = present.map((state, index) =>
    span(`${index > 0 ? ' ' : ''}${stateLook[state].glyph}${counts[state]}`, stateLook[state].tone),
  );
  const worst = ailments.find((word) => unhealthy.has(word));
  if (worst === undefined) return states;
  const sum = [...unhealthy.values()].reduce((total, count) => total + count, 0);
  return [...states, span(` ${unhealthyGlyph}${sum}`, healthTone(worst))];
}

/** A thin bar of `width` columns. `fraction`: 0 to 1; null draws an empty bar. */
export function progressBar(fraction: number | null, width: number, tone: Tone): Line {
  const halves = Math.round(Math.min(1, Math.max(0, fraction ?? 0)) * width * 2);
  const full = Math.floor(halves / 2);
  const tip = halves % 2 === 1 ? '╸' : '';
  return [span('━'.repeat(full) + tip, tone), span('─'.repeat(Math.max(0, width - full - tip.length)), 'faint')];
}
