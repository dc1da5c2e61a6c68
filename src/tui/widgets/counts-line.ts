import { type Line, span } from '../surface/span.js';
import { stateLook, statesInOrder, unhealthyGlyph } from '../model/state-look.js';
import type { Tally } from '../model/tally.js';

/** `●2 ✓14 ✗1 !1`, states without runs left out; `!`: runs with which something is wrong that their state does not tell. */
export function countsLine({ counts, unhealthy }: Tally): Line {
  const present = statesInOrder.filter((state) => counts[state] > 0);
  const states = present.map((state, index) =>
    span(`${index > 0 ? ' ' : ''}${stateLook[state].glyph}${counts[state]}`, stateLook[state].tone),
  );
  const sum = [...unhealthy.values()].reduce((total, count) => total + count, 0);
  return sum === 0 ? states : [...states, span(` ${unhealthyGlyph}${sum}`, 'warn')];
}
