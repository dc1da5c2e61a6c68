/**
 * Words on the socket, one JSON object a line.
 *
 * A client says hello, and gets all there is in pages, then `ready`, then only what changes. Its requests carry a number
 * and are answered with that number once they are safely written down.
 */
import * as z from 'zod';
import { AnnotationChange } from '../base/annotation.js';
import { Name, RunId } from '../base/ids.js';
import { PlanPage } from '../spec/plan-text.js';
import { Plan } from '../spec/planned-run.js';
import { FleetStatus, type RunSummary, SweepSummary } from './run-summary.js';
import { plainVerbs } from './run-verbs.js';

/** Room the person grants; what is left out stays as it is, or is the whole machine. */
export const RequestedSlots = z.object({
  /** Runs at a time on CPU slots. */
  slots: z.int().nonnegative().optional(),
  gpus: z.union([z.array(z.int().nonnegative()), z.literal('none')]).optional(),
  /** Runs that share one GPU; overrides the sweep file. */
  perGpu: z.int().positive().optional(),
});

/** A run verb, with what it needs besides the runs. */
export const RunCommand = z.discriminatedUnion('verb', [
  z.object({ verb: z.enum(plainVerbs), ids: z.array(RunId) }),
  z.object({ verb: z.literal('priority'), ids: z.array(RunId), priority: z.int() }),
]);
export type RunCommand = z.infer<typeof RunCommand>;

/** What of a run's directory is to be set aside: a file or folder as it was seen, by its path relative to that directory. */
const Discard = z.object({
  path: z.string().max(4096),
  ...{ dev: z.number(), ino: z.number(), size: z.number(), mtimeMs: z.number() },
  replacement: z.string().max(255).optional(),
});

/** What a client can ask for once it is connected. */
export const Command = z.discriminatedUnion('verb', [
  RunCommand,
  /** GPUs by index; `drained` false fills them again. */
  z.object({ verb: z.literal('drain'), gpus: z.array(z.int().nonnegative()), drained: z.boolean() }),
  z.object({ verb: z.literal('stop-sweep'), sweep: Name }),
  z.object({ verb: z.literal('forget-sweep'), sweep: Name }),
  z.object({ verb: z.literal('set-slots'), slots: RequestedSlots }),
  /**
   * `mark`: chosen at random; the names that things get are made of it. `what`: the whole of a run that is not done (`all`) or that
   * is (`done`), or parts of it.
   */
  z.object({
    verb: z.literal('discard'),
    id: RunId,
    mark: z.string().regex(/^[0-9a-f]{16}$/),
    what: z.union([z.enum(['all', 'done']), z.array(Discard)]),
  }),
  /** A copy of the code: the name of its folder. `mark`: as of `discard`. */
  z.object({
    verb: z.literal('discard-snapshot'),
    sweep: Name,
    name: z.string().regex(/^snapshot-[0-9a-f]+(-[0-9]+)?$/),
    mark: z.string().regex(/^[0-9a-f]{16}$/),
  }),
  z.object({ verb: z.literal('annotate'), ids: z.array(RunId), change: AnnotationChange }),
]);

/** The answer to a request. `ok`: it is written down and will be done, whatever happens to the supervisor. */
export const Ack = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), message: z.string() }),
  z.object({ ok: z.literal(false), message: z.string(), fix: z.string().nullable() }),
]);

export type { Plan } from '../spec/planned-run.js';

/** Raised when an older program would misread a newer one. */
export const PROTOCOL_VERSION = 1;

/** Runs in one line, so that the first screen need not wait for the last run. */
export const PAGE = 100;

const request = z.int().nonnegative();

export const ClientMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), version: z.int() }),
  z.object({
    type: z.literal('submit'),
    request,
    /** The first page names the sweep and its groups; all pages bring runs. */
    plan: Plan,
    environment: z.record(z.string(), z.string()),
    slots: RequestedSlots,
    /** All runs of the file, in its order, where the plan has only some of them: new ones stand where the file has them. */
    order: z.array(RunId).optional(),
    /** Another page of the same request follows. */
    more: z.boolean(),
  }),
  /**
   * Runs of a plan that is submitted by the same request: pages come first, then the rest. A supervisor that does not know them
   * says so. `of`: runs of the whole plan.
   */
  z.object({ type: z.literal('page'), request, page: PlanPage, of: z.int().nonnegative() }),
  z.object({ type: z.literal('command'), request, command: Command }),
]);
export type ClientMessage = z.infer<typeof ClientMessage>;

/** What has a number is to be answered, also by who does not know what it is. */
export const NumberedMessage = z.object({ type: z.string(), request });

/** The changed fields of one run. */
export type RunPatch = Partial<RunSummary> & Pick<RunSummary, 'id'>;

/**
 * Rows come by the thousand from a supervisor of the same version, so that they are objects with an id is all that is checked.
 * People's input is checked in full on its way in.
 */
const row = <Row extends { id: RunId }>() =>
  z.custom<Row>((value) => RunId.safeParse((value as Row | null)?.id).success);

export const ServerMessage = z.discriminatedUnion('type', [
  /** `program`: version of the supervisor's program; those up to 0.1.0 do not say it. */
  z.object({ type: z.literal('hello'), version: z.int(), pid: z.int(), program: z.string().optional() }),
  z.object({ type: z.literal('sweeps'), sweeps: z.array(SweepSummary) }),
  z.object({ type: z.literal('runs'), seq: z.int(), runs: z.array(row<RunSummary>()) }),
  z.object({ type: z.literal('patches'), seq: z.int(), patches: z.array(row<RunPatch>()) }),
  z.object({ type: z.literal('removed'), seq: z.int(), ids: z.array(RunId) }),
  z.object({ type: z.literal('status'), status: FleetStatus }),
  /** Everything there was at hello has been sent. */
  z.object({ type: z.literal('ready'), seq: z.int() }),
  z.object({ type: z.literal('ack'), request, ack: Ack }),
  /** The last word. `refused`: coming again is of no use. */
  z.object({ type: z.literal('bye'), kind: z.enum(['leaving', 'refused']), reason: z.string() }),
]);
export type ServerMessage = z.infer<typeof ServerMessage>;

export type RequestedSlots = z.infer<typeof RequestedSlots>;
export type Command = z.infer<typeof Command>;
export type Ack = z.infer<typeof Ack>;
