import * as z from 'zod';
import { Outcome } from '../base/outcome.js';
import type { RunState } from './run-state.js';
import { Slot } from './placement/slot.js';

const time = z.number();

const StopCause = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('asked') }),
  z.object({ kind: z.literal('rule'), rule: z.string() }),
  z.object({ kind: z.literal('timeout'), seconds: z.number() }),
]);

const Ending = z.object({ outcome: Outcome, since: time.nullable(), at: time });

const up = { slot: Slot, pid: z.int(), since: time };

/** The state of a run as it is written down. */
export const RunStateSchema: z.ZodType<RunState> = z.discriminatedUnion('phase', [
  z.object({
    phase: z.literal('waiting'),
    notBefore: time.nullable(),
    last: Ending.nullable(),
  }),
  z.object({ phase: z.literal('starting'), slot: Slot, stop: StopCause.nullable() }),
  z.object({ phase: z.literal('running'), ...up, pausedAt: time.nullable(), pausedMs: time }),
  z.object({ phase: z.literal('stopping'), ...up, stop: StopCause, killAt: time }),
  z.object({ phase: z.literal('killing'), ...up, stop: StopCause }),
  z.object({ phase: z.literal('ended'), ...Ending.shape }),
]);
