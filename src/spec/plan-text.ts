/**
 * The text form of a plan: a head line, then one line for each run. Properties that many runs share (resources, metrics, rules) are
 * written once, and are one object for all of them in memory, too.
 *
 * Plans are written and read in blocks, so that fifty thousand runs do not block the event loop. Version 1 was a single JSON value;
 * up to version 2 the cores of a run were also written where the sweep file did not set them.
 */
import * as z from 'zod';
import { knownPart } from '../base/known-part.js';
import { Plan, PlannedRun } from './planned-run.js';

/** The properties of a run that are its own; runs mostly share all others. */
const own = {
  id: true,
  name: true,
  subgroup: true,
  parameters: true,
  identity: true,
  argv: true,
  neededRuns: true,
  doneArgv: true,
} as const;
const Own = PlannedRun.pick({ ...own, directory: true, files: true });
type Own = z.infer<typeof Own>;
const Shared = PlannedRun.omit({ ...own, directory: true, files: true });
type Shared = z.infer<typeof Shared>;

/** Some runs of a plan as they are sent: the shared parts that no earlier page held, and each run with the index of its part. */
export const PlanPage = z.object({ parts: z.array(Shared), runs: z.array(z.tuple([z.int().nonnegative(), Own])) });
export type PlanPage = z.infer<typeof PlanPage>;

const HEADER = { type: 'plan', version: 3 } as const;
/** The beginning of the text since version 2. */
const MARK = '{"type":"plan"';
/** Number of runs in one block. */
const BLOCK = 500;

/** Collects the parts that runs share, one object for all equal ones. */
export class SharedParts {
  readonly #places = new Map<string, number>();
  readonly #parts: Shared[] = [];
  /** Index of a part by an object in it: for runs that already share objects no text needs to be compared. */
  readonly #byObject = new Map<object, number>();

  /** The same run, with its shared part replaced by an equal known one. */
  share(run: PlannedRun): PlannedRun {
    return joined(this.#parts[this.placeOf(run)]!, run);
  }

  /** Index of its shared part, in order of first appearance. */
  placeOf(run: PlannedRun): number {
    const near = this.#byObject.get(run.metrics);
    const shared = sharedOf(run);
    if (near !== undefined && isSame(this.#parts[near]!, shared)) return near;
    const known = this.#places.get(JSON.stringify(shared));
    if (known !== undefined) return known;
    this.add(shared);
    return this.size - 1;
  }

  /** The runs of the next page of a plan; undefined where the page is malformed. */
  take({ parts, runs }: PlanPage): PlannedRun[] | undefined {
    for (const part of parts) this.add(part);
    const taken = runs.map(([place, own]) => {
      const shared = this.get(place);
      return shared === undefined ? null : joined(shared, own);
    });
    return taken.every((run) => run !== null) ? taken : undefined;
  }

  /** The next runs of a plan as a page. */
  pageOf(runs: readonly PlannedRun[]): PlanPage {
    const known = this.size;
    const rows = runs.map((run): [number, Own] => [this.placeOf(run), ownOf(run)]);
    return { parts: this.#parts.slice(known), runs: rows };
  }

  get(place: number): Shared | undefined {
    return this.#parts[place];
  }

  add(shared: Shared): void {
    const place = this.#parts.push(shared) - 1;
    this.#places.set(JSON.stringify(shared), place);
    this.#byObject.set(shared.metrics, place);
  }

  get size(): number {
    return this.#parts.length;
  }
}

/** The text of a plan, in blocks of whole lines. The same plan gives the same text, also after it was read from it. */
export function* planBlocks(plan: Plan): Generator<string> {
  const { runs, ...frame } = plan;
  const parts = new SharedParts();
  let block = `${JSON.stringify({ ...HEADER, plan: { ...frame, runs: [] } })}\n`;
  for (const [index, run] of runs.entries()) {
    const known = parts.size;
    const place = parts.placeOf(run);
    if (place === known) block += `${JSON.stringify(parts.get(place))}\n`;
    block += `${JSON.stringify([place, ownOf(run)])}\n`;
    if (index % BLOCK < BLOCK - 1) continue;
    yield block;
    block = '';
  }
  yield block;
}

/** Reads what `planBlocks` writes. It trusts the text to be complete: whoever stores a plan also stores its hash. */
export class PlanReader {
  readonly #parts = new SharedParts();
  readonly #runs: PlannedRun[] = [];
  #frame: Plan | null = null;
  #version = 0;

  /** @param block Whole lines. Throws where they are malformed. */
  push(block: string): void {
    // All lines are parsed as one array, as a call for each line would take twice as long. JSON has no line breaks within a line.
    const lines = JSON.parse(`[${block.trimEnd().replaceAll('\n', ',')}]`) as unknown[];
    for (const line of lines) this.#take(line);
  }

  /** The plan, after all of its text was pushed. */
  plan(): Plan {
    if (this.#frame === null) throw new Error('the text of a plan has no first line');
    return { ...this.#frame, runs: this.#runs };
  }

  #take(line: unknown): void {
    if (this.#frame === null) [this.#version, this.#frame] = frameOf(line);
    else if (Array.isArray(line)) this.#runs.push(this.#runOf(line as [number, Own]));
    else this.#parts.add(this.#version < 3 ? withoutUsualCores(line as Shared) : (line as Shared));
  }

  #runOf([place, own]: [number, Own]): PlannedRun {
    const shared = this.#parts.get(place);
    if (shared === undefined) throw new Error(`a run refers to part ${place}, which is not there`);
    return joined(shared, own);
  }
}

/** Parses a plan of any version. Throws where it is malformed. */
export function parsePlan(text: string): Plan {
  if (!text.startsWith(MARK)) return withSharedParts(firstPlan(text));
  const reader = new PlanReader();
  reader.push(text);
  return reader.plan();
}

/** Whether a text with this beginning is a plan of version 2 or later, which can be read in blocks. */
export function isInBlocks(beginning: string): boolean {
  return beginning.startsWith(MARK);
}

/** The same plan with equal parts shared, which takes less memory. */
export function withSharedParts(plan: Plan): Plan {
  const parts = new SharedParts();
  return { ...plan, runs: plan.runs.map((run) => parts.share(run)) };
}

function frameOf(line: unknown): [version: number, plan: Plan] {
  const { version, plan } = line as { version?: unknown; plan?: unknown };
  if (version !== 2 && version !== HEADER.version) throw new Error(`a plan of version ${String(version)}`);
  return [version, known(plan)];
}

function firstPlan(text: string): Plan {
  const plan = known(JSON.parse(text));
  return { ...plan, runs: plan.runs.map(withoutUsualCores) };
}

/** Parses a plan of a newer version: only the keys that this version does not know are lost. */
function known(json: unknown): Plan {
  const parsed = knownPart(Plan, json);
  if (parsed.success) return parsed.data;
  throw parsed.error;
}

/** Removes the default number of cores, which older versions wrote for every run, so that it does not bind runs on a GPU. */
function withoutUsualCores<Part extends Shared>(part: Part): Part {
  const { cpus, ...rest } = part.resources;
  return cpus === 1 ? { ...part, resources: rest } : part;
}

/** All fields are listed by name, in a fixed order: object spreads take many times as long, and the text depends on the order. */
function sharedOf(run: PlannedRun): Shared {
  const shared: Shared = {
    sweep: run.sweep,
    group: run.group,
    resumeArgs: run.resumeArgs,
    env: run.env,
    cwd: run.cwd,
    needs: run.needs,
    done: run.done,
    stopWhen: run.stopWhen,
    resources: run.resources,
    grace: run.grace,
    timeout: run.timeout,
    priority: run.priority,
    retry: run.retry,
    objective: run.objective,
    earlyTerminate: run.earlyTerminate,
    metrics: run.metrics,
  };
  if (run.snapshot !== undefined) shared.snapshot = run.snapshot;
  if (run.input !== undefined) shared.input = run.input;
  if (run.start !== undefined) shared.start = run.start;
  return shared;
}

/** Whether two parts have the same objects throughout. */
function isSame(a: Shared, b: Shared): boolean {
  for (const key in a) if (a[key as keyof Shared] !== b[key as keyof Shared]) return false;
  // Only one of the two may have these keys.
  return a.snapshot === b.snapshot && a.input === b.input && a.start === b.start;
}

function ownOf(run: PlannedRun): Own {
  const own: Own = {
    id: run.id,
    name: run.name,
    subgroup: run.subgroup,
    parameters: run.parameters,
    identity: run.identity,
    argv: run.argv,
    directory: run.directory,
  };
  if (run.files !== undefined) own.files = run.files;
  if (run.neededRuns !== undefined) own.neededRuns = run.neededRuns;
  if (run.doneArgv !== undefined) own.doneArgv = run.doneArgv;
  return own;
}

function joined(shared: Shared, own: Own): PlannedRun {
  const run: PlannedRun = {
    id: own.id,
    sweep: shared.sweep,
    group: shared.group,
    subgroup: own.subgroup,
    name: own.name,
    parameters: own.parameters,
    identity: own.identity,
    argv: own.argv,
    resumeArgs: shared.resumeArgs,
    env: shared.env,
    cwd: shared.cwd,
    directory: own.directory,
    needs: shared.needs,
    done: shared.done,
    stopWhen: shared.stopWhen,
    resources: shared.resources,
    grace: shared.grace,
    timeout: shared.timeout,
    priority: shared.priority,
    retry: shared.retry,
    objective: shared.objective,
    earlyTerminate: shared.earlyTerminate,
    metrics: shared.metrics,
  };
  if (shared.snapshot !== undefined) run.snapshot = shared.snapshot;
  if (shared.input !== undefined) run.input = shared.input;
  if (shared.start !== undefined) run.start = shared.start;
  if (own.files !== undefined) run.files = own.files;
  if (own.neededRuns !== undefined) run.neededRuns = own.neededRuns;
  if (own.doneArgv !== undefined) run.doneArgv = own.doneArgv;
  return run;
}
