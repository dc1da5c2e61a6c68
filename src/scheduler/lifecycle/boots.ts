import * as z from 'zod';
import type { EventOf } from '../event.js';
import type { SchedulerState } from '../state.js';

/**
 * One time that the machine was up, as the line of `at` values runs through it: `from` is where the line was when the boot
 * clock read `bootMs`. `wallAhead`: what has to be added to `at` to get what the wall clock says, as it was read last. ms.
 */
export const Boot = z.object({ bootId: z.string(), from: z.number(), bootMs: z.number(), wallAhead: z.number() });
export type Boot = z.infer<typeof Boot>;

/** Remembers how the clocks stood; nothing follows from it here. */
export function noteClock({ boots }: SchedulerState, { at, bootId, bootMs, wallMs }: EventOf<'clock-read'>): void {
  const last = boots.at(-1);
  const wallAhead = wallMs - at;
  if (last?.bootId === bootId && last.bootMs <= bootMs) boots[boots.length - 1] = { ...last, wallAhead };
  else boots.push({ bootId, from: at, bootMs, wallAhead });
}
