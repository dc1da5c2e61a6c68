/**
 * The stream of events that `memrl-tui events` prints: what has happened to sweeps and runs, in the order in which it happened. The
 * supervisor writes it to a file, one JSON object per line, below a line that names the stream.
 */
import * as z from 'zod';

export const streamedEvents = [
  'submitted',
  'started',
  'retrying',
  'done',
  'failed',
  'killed',
  'lost',
  'held',
  'released',
  'paused',
  'continued',
  'resumed',
  'closed',
  'forgotten',
  'finished',
  'warning',
  'best',
] as const;

/** One event. `runs`: number of runs that it is about, where it is about several; `run`: the name of the one, else of the first. */
export const StreamedEvent = z.object({
  event: z.enum(streamedEvents),
  sweep: z.string(),
  group: z.string().optional(),
  run: z.string().optional(),
  runs: z.int().optional(),
  attempt: z.int().optional(),
  slot: z.string().optional(),
  /** Why: the error of a failed run, the evidence of a warning, what holds runs. */
  reason: z.string().optional(),
  /** Exit code of the process. */
  code: z.int().optional(),
  /** Of a warning: the health of the run in a word. */
  health: z.string().optional(),
  /** At the end of a sweep: number of runs by state. */
  counts: z.record(z.string(), z.int()).optional(),
  /** Of the best value of any row of a run that is done, in its group so far; chance included. */
  metric: z.string().optional(),
  goal: z.enum(['minimize', 'maximize']).optional(),
  value: z.number().optional(),
});
export type StreamedEvent = z.infer<typeof StreamedEvent>;

/** Which event of the journal a line tells; several lines may tell the same. `at`: its time on the scheduler's line, ms. */
export const Source = z.object({ at: z.number(), key: z.string() });
export type Source = z.infer<typeof Source>;

/** A line of the file. `n`: its number in the stream, from 1 on. `at`: ISO 8601. `from`: absent where no event of the journal is behind it. */
export const StreamLine = StreamedEvent.extend({ n: z.int(), at: z.string(), from: Source.optional() });
export type StreamLine = z.infer<typeof StreamLine>;

/** The first line of a file. `next`: the number of its first event. What earlier files told, as far as it decides what is told next. */
export const StreamHead = z.object({
  stream: z.string().regex(/^[0-9a-f]{8}$/),
  next: z.int(),
  from: Source.optional(),
  best: z.record(z.string(), z.number()),
});
export type StreamHead = z.infer<typeof StreamHead>;

/** A place in the stream: `3f2a9c01.128` is behind its 128th event. */
export function cursorText(stream: string, n: number): string {
  return `${stream}.${n}`;
}

/** The parts of a cursor; null: the text is none. */
export function parseCursor(text: string): { stream: string; n: number } | null {
  const [, stream = '', n = ''] = /^([0-9a-f]{8})\.(\d{1,15})$/.exec(text) ?? [];
  return stream === '' ? null : { stream, n: Number(n) };
}
