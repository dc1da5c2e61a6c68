import { type Line, span } from '../surface/span.js';
import { stateLook, statesInOrder } from '../model/state-look.js';
import type { Tally } from '../model/tally.js';

/** `●2 ✓14 ✗1`, states without runs left out. */
export function countsLine({ counts }: Tally): Line {
  const present = statesInOrder.filter((state) => counts[state] > 0);
  return present.flatMap((state, index) => [
    span(`${index > 0 ? ' ' : ''}${stateLook[state].glyph}${counts[state]}`, stateLook[state].tone),
  ]);
}
