/** What memrl-tui here asks memrl-tui on another host to do: one word on its command line, as no shell between them may touch it. */
import * as z from 'zod';

/** An order that does nothing: whether the program knows orders at all. */
export const KNOWN = 'known';

export const HostOrder = z.object({
  /** Words as typed, without those about hosts. */
  words: z.array(z.string()),
  /** Where they are typed, as it were: a path on the host, relative to the home directory there; null: the home directory. */
  directory: z.string().nullable(),
  /** The sweep file that is launched, so that its absence is told in words about hosts; null: none is. */
  file: z.object({ path: z.string(), isHere: z.boolean() }).nullable().default(null),
  /** The host as it was typed. */
  host: z.string(),
  /** Variables that say how output looks: `NO_COLOR`, `COLUMNS`. */
  look: z.record(z.string(), z.string()).default({}),
  /**
   * Not words to be run: stand between a window elsewhere and the supervisor and files of this host. `runs`: the runs directory;
   * `takesOver`: may take the place of a supervisor on a third host; `readOnly`: none is started.
   */
  window: z
    .object({ runs: z.string().optional(), takesOver: z.boolean(), readOnly: z.boolean().optional() })
    .optional(),
});
export type HostOrder = z.input<typeof HostOrder>;

/** Raised when an older program would misread the lines of a window's link. */
export const WIRE_VERSION = 1;

/**
 * First characters of these lines: hello, and before it words for a person, or why there is none; then a line of the supervisor's
 * protocol, a question or an answer about files.
 */
export const wireMarks = { told: 't', refused: 'e', greeting: 'h', supervisor: 's', files: 'f' } as const;

/** Letters, digits, `-` and `_` alone: nothing that any shell acts on. */
export function encodeOrder(order: HostOrder): string {
  return Buffer.from(JSON.stringify(order)).toString('base64url');
}

/** @throws {SyntaxError | z.ZodError} When the text is no order. */
export function decodeOrder(text: string): z.infer<typeof HostOrder> {
  return HostOrder.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
}
