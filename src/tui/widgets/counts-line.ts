import { type Line, span } from '../surface/span.js';
import { ailments } from '../../base/run-words.js';
import { healthTone, stateLook, statesInOrder, unhealthyGlyph } from '../model/state-look.js';
import type { Tally } from '../model/tally.js';

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
