/**
 * A plan as text, for keeping: a line that says what it is, then one line a run. What many runs have in common (resources,
 * metrics, rules) stands there once, and is one object for all of them in memory, too.
 *
 * Written and read in blocks, so that fifty thousand runs need not be one turn of anybody's loop. Version 1 was one JSON value,
 * and up to version 2 the cores of a run stood there also where the sweep file said nothing of them.
 */
import * as z from 'zod';
import { knownPart } from '../base/known-part.js';
import { Plan, PlannedRun } from './planned-run.js';

/** What is a run's own; all else is mostly alike. */
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

/** Some runs of a plan, as they are sent: what they have in common, where no page before said it, and each with its number. */
export const PlanPage = z.object({ parts: z.array(Shared), runs: z.array(z.tuple([z.int().nonnegative(), Own])) });
export type PlanPage = z.infer<typeof PlanPage>;

const HEADER = { type: 'plan', version: 3 } as const;
/** How the text of version 2 and later begins. */
const MARK = '{"type":"plan"';
/** Runs of one block. */
const BLOCK = 500;

/** Makes one object of what runs have in common. */
export class SharedParts {
  readonly #places = new Map<string, number>();
  readonly #parts: Shared[] = [];
  /** Numbers by an object that is in a part: runs that share parts are not put in words to find it. */
  readonly #byObject = new Map<object, number>();

  /** The same run, with the parts of others that are like its own. */
  share(run: PlannedRun): PlannedRun {
    return joined(this.#parts[this.placeOf(run)]!, run);
  }

  /** Number of its common part, counted from 0 as they come. */
  placeOf(run: PlannedRun): number {
    const near = this.#byObject.get(run.metrics);
    const shared = sharedOf(run);
    if (near !== undefined && isSame(this.#parts[near]!, shared)) return near;
    const known = this.#places.get(JSON.stringify(shared));
    if (known !== undefined) return known;
    this.add(shared);
    return this.size - 1;
  }

  /** The runs of a page, which are the next of its plan; undefined where it makes no sense. */
  take({ parts, runs }: PlanPage): PlannedRun[] | undefined {
    for (const part of parts) this.add(part);
    const taken = runs.map(([place, own]) => {
      const shared = this.get(place);
      return shared === undefined ? null : joined(shared, own);
    });
    return taken.every((run) => run !== null) ? taken : undefined;
  }

  /** These runs, which are the next of their plan, as a page. */
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

/** The text of a plan, in blocks of whole lines. The same plan gives the same text, also once it was read from it. */
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

/** Reads what `planBlocks` writes. What it is given is trusted to be whole: who keeps a plan keeps its hash. */
export class PlanReader {
  readonly #parts = new SharedParts();
  readonly #runs: PlannedRun[] = [];
  #frame: Plan | null = null;
  #version = 0;

  /** @param block Whole lines. Throws where they make no sense. */
  push(block: string): void {
    // One value of them all: a call for each line would take as long again. No line break is within a line.
    const lines = JSON.parse(`[${block.trimEnd().replaceAll('\n', ',')}]`) as unknown[];
    for (const line of lines) this.#take(line);
  }

  /** The plan, when all of its text was pushed. */
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

/** Reads a plan of any version. Throws where it makes no sense. */
export function parsePlan(text: string): Plan {
  if (!text.startsWith(MARK)) return withSharedParts(firstPlan(text));
  const reader = new PlanReader();
  reader.push(text);
  return reader.plan();
}

/** Whether a text that begins so is that of a plan of version 2 or later, which can be read in blocks. */
export function isInBlocks(beginning: string): boolean {
  return beginning.startsWith(MARK);
}

/** The same plan, in less room. */
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

/** A newer version may have written keys that this one does not have: these are lost, and nothing else. */
function known(json: unknown): Plan {
  const parsed = knownPart(Plan, json);
  if (parsed.success) return parsed.data;
  throw parsed.error;
}

/** What was meant for runs without a GPU must not bind those on one. */
function withoutUsualCores<Part extends Shared>(part: Part): Part {
  const { cpus, ...rest } = part.resources;
  return cpus === 1 ? { ...part, resources: rest } : part;
}

/** Every field by its name, in one order: spreading takes many times as long, and the text depends on the order. */
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
  return shared;
}

/** Whether they are the same objects throughout. */
function isSame(a: Shared, b: Shared): boolean {
  for (const key in a) if (a[key as keyof Shared] !== b[key as keyof Shared]) return false;
  // May be in one alone.
  return a.snapshot === b.snapshot;
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
  if (own.files !== undefined) run.files = own.files;
  if (own.neededRuns !== undefined) run.neededRuns = own.neededRuns;
  if (own.doneArgv !== undefined) run.doneArgv = own.doneArgv;
  return run;
}
