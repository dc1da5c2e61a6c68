import * as z from 'zod';
import { Name, RunId } from '../base/ids.js';

/** Room the person grants; what is left out stays as it is, or is the whole machine. */
export const RequestedSlots = z.object({
  /** Runs at a time on CPU slots. */
  slots: z.int().nonnegative().optional(),
  gpus: z.union([z.array(z.int().nonnegative()), z.literal('none')]).optional(),
  /** Runs that share one GPU; overrides the sweep file. */
  perGpu: z.int().positive().optional(),
});
export type RequestedSlots = z.infer<typeof RequestedSlots>;

/** What a client can ask for once it is connected. */
export const Command = z.discriminatedUnion('verb', [
  z.object({ verb: z.literal('kill'), ids: z.array(RunId) }),
  z.object({ verb: z.literal('resume'), ids: z.array(RunId) }),
  z.object({ verb: z.literal('retry'), ids: z.array(RunId) }),
  z.object({ verb: z.literal('hold'), ids: z.array(RunId) }),
  z.object({ verb: z.literal('release'), ids: z.array(RunId) }),
  z.object({ verb: z.literal('pause'), ids: z.array(RunId) }),
  z.object({ verb: z.literal('continue'), ids: z.array(RunId) }),
  z.object({ verb: z.literal('priority'), ids: z.array(RunId), priority: z.int() }),
  /** GPUs by index; `drained` false fills them again. */
  z.object({ verb: z.literal('drain'), gpus: z.array(z.int().nonnegative()), drained: z.boolean() }),
  z.object({ verb: z.literal('stop-sweep'), sweep: Name }),
  z.object({ verb: z.literal('forget-sweep'), sweep: Name }),
  z.object({ verb: z.literal('set-slots'), slots: RequestedSlots }),
]);
export type Command = z.infer<typeof Command>;

/** The answer to a request. `ok`: it is written down and will be done, whatever happens to the supervisor. */
export const Ack = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), message: z.string() }),
  z.object({ ok: z.literal(false), message: z.string(), fix: z.string().nullable() }),
]);
export type Ack = z.infer<typeof Ack>;
