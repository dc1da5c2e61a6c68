/**
 * Messages on the socket, one JSON object per line.
 *
 * A client sends hello, and receives the whole state in pages, then `ready`, then only changes. Its requests have a number and are
 * answered with that number once they are safely recorded.
 */
import * as z from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { AnnotationChange } from '../base/annotation.js';
import { Name, RunId } from '../base/ids.js';
import { knownPart } from '../base/known-part.js';
import { LineSplitter } from '../base/line-splitter.js';
import { UserError } from '../base/user-error.js';
import { PlanPage, SharedParts } from '../spec/plan-text.js';
import { Plan } from '../spec/planned-run.js';
import { FleetStatus, type RunSummary, SweepSummary } from './run-summary.js';
import { plainVerbs } from './run-verbs.js';

/** The slots that the user grants; absent fields stay as they are, or are the whole machine. */
export const RequestedSlots = z.object({
  /** Number of CPU slots. */
  slots: z.int().nonnegative().optional(),
  gpus: z.union([z.array(z.int().nonnegative()), z.literal('none')]).optional(),
  /** Number of runs that share one GPU; overrides the sweep file. */
  perGpu: z.int().positive().optional(),
});

/** A run verb with its arguments. */
export const RunCommand = z.discriminatedUnion('verb', [
  z.object({ verb: z.enum(plainVerbs), ids: z.array(RunId) }),
  z.object({ verb: z.literal('priority'), ids: z.array(RunId), priority: z.int() }),
  /** The executor limits the length of a line, and says so. */
  z.object({ verb: z.literal('type'), ids: z.array(RunId), text: z.string() }),
]);
export type RunCommand = z.infer<typeof RunCommand>;

/** A part of a run's directory that is to be set aside: a file or folder as it was seen, by its path relative to that directory. */
const Discard = z.object({
  path: z.string().max(4096),
  ...{ dev: z.number(), ino: z.number(), size: z.number(), mtimeMs: z.number() },
  replacement: z.string().max(255).optional(),
});

/** The commands of a connected client. */
export const Command = z.discriminatedUnion('verb', [
  RunCommand,
  /** GPUs by index; `drained` false: they accept runs again. */
  z.object({ verb: z.literal('drain'), gpus: z.array(z.int().nonnegative()), drained: z.boolean() }),
  z.object({ verb: z.literal('stop-sweep'), sweep: Name }),
  z.object({ verb: z.literal('forget-sweep'), sweep: Name }),
  z.object({ verb: z.literal('set-slots'), slots: RequestedSlots }),
  /**
   * `mark`: a random text for the names of the parts that are set aside. `what`: the whole of a run that is not done (`all`) or
   * that is (`done`), or parts of it.
   */
  z.object({
    verb: z.literal('discard'),
    id: RunId,
    mark: z.string().regex(/^[0-9a-f]{16}$/),
    what: z.union([z.enum(['all', 'done']), z.array(Discard)]),
  }),
  /** Deletes a code snapshot, by the name of its folder. `mark`: as in `discard`. */
  z.object({
    verb: z.literal('discard-snapshot'),
    sweep: Name,
    name: z.string().regex(/^snapshot-[0-9a-f]+(-[0-9]+)?$/),
    mark: z.string().regex(/^[0-9a-f]{16}$/),
  }),
  z.object({ verb: z.literal('annotate'), ids: z.array(RunId), change: AnnotationChange }),
]);

/** The answer to a request. `ok`: it is recorded and will be carried out, even if the supervisor ends. */
export const Ack = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), message: z.string() }),
  z.object({ ok: z.literal(false), message: z.string(), fix: z.string().nullable() }),
]);

export type { Plan } from '../spec/planned-run.js';

/** Increased when an older program would misread a newer one. */
export const PROTOCOL_VERSION = 1;

/** Number of runs in one message, so that the first screen need not wait for the last run. */
export const PAGE = 100;

const request = z.int().nonnegative();

export const ClientMessage = z.discriminatedUnion('type', [
  /** `readOnly`: whatever this client asks for is refused. */
  z.object({ type: z.literal('hello'), version: z.int(), readOnly: z.boolean().optional() }),
  z.object({
    type: z.literal('submit'),
    request,
    /** The first page has the sweep and its groups; all pages have runs. */
    plan: Plan,
    environment: z.record(z.string(), z.string()),
    slots: RequestedSlots,
    /**
     * All runs of the file, in its order, if the plan has only some of them: new ones are inserted where the file has them. Empty:
     * the plan is of no file, and says nothing of other runs.
     */
    order: z.array(RunId).optional(),
    /** Whether another page of the same request follows. */
    more: z.boolean(),
  }),
  /**
   * Some runs of a plan that the same request submits: pages come first, then the rest. A supervisor that does not know them
   * refuses them. `of`: number of runs in the whole plan.
   */
  z.object({ type: z.literal('page'), request, page: PlanPage, of: z.int().nonnegative() }),
  z.object({ type: z.literal('command'), request, command: Command }),
]);
export type ClientMessage = z.infer<typeof ClientMessage>;

/** A message with a number must be answered, even if its type is unknown. */
export const NumberedMessage = z.object({ type: z.string(), request });

/** The changed fields of one run. */
export type RunPatch = Partial<RunSummary> & Pick<RunSummary, 'id'>;

/**
 * Rows come by the thousand from a supervisor of the same version, so only their ids are checked. User input is checked in full
 * when it arrives.
 */
const row = <Row extends { id: RunId }>() =>
  z.custom<Row>((value) => RunId.safeParse((value as Row | null)?.id).success);

export const ServerMessage = z.discriminatedUnion('type', [
  /** `program`: version of the supervisor's program; absent up to 0.1.0. */
  z.object({ type: z.literal('hello'), version: z.int(), pid: z.int(), program: z.string().optional() }),
  z.object({ type: z.literal('sweeps'), sweeps: z.array(SweepSummary) }),
  z.object({ type: z.literal('runs'), seq: z.int(), runs: z.array(row<RunSummary>()) }),
  z.object({ type: z.literal('patches'), seq: z.int(), patches: z.array(row<RunPatch>()) }),
  z.object({ type: z.literal('removed'), seq: z.int(), ids: z.array(RunId) }),
  z.object({ type: z.literal('status'), status: FleetStatus }),
  /** The initial state has been sent completely. */
  z.object({ type: z.literal('ready'), seq: z.int() }),
  z.object({ type: z.literal('ack'), request, ack: Ack }),
  /** The last message. `refused`: connecting again is useless. */
  z.object({ type: z.literal('bye'), kind: z.enum(['leaving', 'refused']), reason: z.string() }),
]);
export type ServerMessage = z.infer<typeof ServerMessage>;

export type RequestedSlots = z.infer<typeof RequestedSlots>;
export type Command = z.infer<typeof Command>;
export type Ack = z.infer<typeof Ack>;

type Submission = Omit<Extract<ClientMessage, { type: 'submit' }>, 'type' | 'more'>;

/**
 * A submission as a sequence of messages. Its runs come page by page, each encoded on demand, as encoding fifty thousand takes half
 * a second; a short submission is a single message.
 */
export function* submission({ plan, ...rest }: Submission): Generator<ClientMessage> {
  const { runs, ...frame } = plan;
  const isShort = runs.length <= PAGE;
  if (!isShort) yield* pages(rest.request, runs);
  yield { type: 'submit', ...rest, plan: { ...frame, runs: isShort ? runs : [] }, more: false };
}

function* pages(request: number, runs: Submission['plan']['runs']): Generator<ClientMessage> {
  const parts = new SharedParts();
  for (let from = 0; from < runs.length; from += PAGE) {
    yield { type: 'page', request, page: parts.pageOf(runs.slice(from, from + PAGE)), of: runs.length };
  }
}

/** Length limit of a line in bytes; a longer one is not a message of ours. */
export const LONGEST_LINE = 16 << 20;

/** Encodes one message as a line, with its newline. */
export function encode(message: ClientMessage | ServerMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * Handlers of unknown parts in a newer program's messages. `ignored`: some keys of a message were unknown; the rest was understood.
 * `answered`: returns whether an invalid line was answered separately.
 */
type Strangers<Message> = {
  ignored?: (message: Message, keys: readonly string[]) => void;
  answered?: (json: unknown) => boolean;
};

/** Parses messages of one schema from a byte stream. One instance per connection. */
export class MessageReader<Message> {
  readonly #schema: z.ZodType<Message>;
  readonly #strangers: Strangers<Message>;
  readonly #lines = new LineSplitter();

  constructor(schema: z.ZodType<Message>, strangers: Strangers<Message> = {}) {
    this.#schema = schema;
    this.#strangers = strangers;
  }

  /**
   * The messages completed by this chunk. Throws a UserError at an invalid line without an answer, as the peer speaks another
   * protocol.
   */
  push(chunk: Uint8Array): Message[] {
    const lines = this.#lines.push(chunk);
    if (this.#lines.unfinished > LONGEST_LINE) throw strange(`a line of more than ${LONGEST_LINE} bytes`);
    return lines.flatMap((line) => this.#read(line));
  }

  #read(line: string): Message[] {
    const json = jsonOf(line);
    const parsed = knownPart(this.#schema, json);
    if (!parsed.success) return this.#refuse(line, json, parsed.error);
    if (parsed.unknown.length > 0) this.#strangers.ignored?.(parsed.data, parsed.unknown);
    return [parsed.data];
  }

  #refuse(line: string, json: unknown, { issues: [issue] }: z.ZodError): never[] {
    if (this.#strangers.answered?.(json) === true) return [];
    throw strange(`${line.slice(0, 80)} (${issue?.path.join('.')}: ${issue?.message})`);
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function strange(what: string): UserError {
  return new UserError(
    `The other end of the socket said something this version does not understand: ${what}`,
    'Use the same version of memrl-tui on both ends: `memrl-tui restart` replaces the supervisor, its runs continue.',
  );
}

/** The version of this program. */
export const PROGRAM_VERSION: string = packageJson.version;

export const replaceSupervisor = '`memrl-tui restart` replaces it with this version; its runs continue.';

/**
 * The refusal of a request that an older supervisor does not know. Requests are only ever added, so it is always the older side
 * that does not understand.
 *
 * @param version The version that the supervisor sent; null: it sent none, as all up to 0.1.0.
 */
export function olderVersion(version: string | null): Extract<Ack, { ok: false }> {
  const told = version ?? '0.1.0 or earlier';
  const message = `the supervisor is an older version of memrl-tui (${told}) and does not know this request`;
  return { ok: false, message, fix: replaceSupervisor };
}

/** Why nothing can be done in a window that only looks, in a sentence. */
export const looksOnly = 'This window is read-only.';

export const looksOnlyFix = 'Open one without --read-only.';

/** The answer to whatever a client that only looks asks for. */
export const readOnlyRefusal: Ack = {
  ok: false,
  message: 'this window is read-only',
  fix: looksOnlyFix,
};
