import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { openMetrics } from '../metrics/run-metrics.js';
import { readFoundFacts } from '../metrics/tree/found-facts.js';
import { expandSweep } from '../spec/expand/expand-sweep.js';
import { fnv1a64 } from '../spec/expand/identity.js';
import { wandbConfigFile } from '../spec/expand/wandb-run.js';
import { parseSweepFile } from '../spec/file/parse-sweep-file.js';
import type { Plan, PlannedRun } from '../spec/planned-run.js';
import { Search } from '../spec/search/search.js';
import type { ObjectiveValues, Trial } from '../spec/search/trials.js';

/** How a run of the program ended and what it has written, by its id. */
export type TrialReader = (run: string, metric: string | null) => Pick<Trial, 'state' | 'values'>;

/** A run as an agent gets it. `args`: the values as `wandb.init` reads them. */
type InnerRun = { readonly id: string; readonly args: Readonly<Record<string, { readonly value: unknown }>> };

type Given = InnerRun & { readonly planned: PlannedRun };

/** Path that the sweep has in messages. */
const PATH = 'the sweep of the program.yaml';

/**
 * A sweep that a program has made by `wandb.sweep(config)`. Its runs are those that a sweep file with this text would have: what it
 * means, and how points are chosen, is of `spec` alone.
 */
class InnerSweep {
  readonly id: string;
  readonly text: string;
  /** The program of its config, for an agent without a function. */
  readonly program: string;
  readonly #plan: Plan;
  readonly #search: Search | null;
  readonly #cap: number;
  readonly #suffix: string;
  readonly #given: Given[] = [];
  /** Runs that were given to an agent, which did not begin them. */
  readonly #returned: Given[] = [];

  /**
   * @param text YAML, as wandb sends it. @param place How many sweeps the program has made before this one.
   * @throws {UserError} When the config is none.
   */
  constructor(
    text: string,
    place: number,
    directory: string,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    this.id = fnv1a64(JSON.stringify([text, place])).slice(0, 8);
    this.text = text;
    this.program = programOf(text);
    this.#suffix = place === 0 ? '' : `-${place + 1}`;
    const file = parseSweepFile(withProgram(text), PATH);
    const options = { runsDirectory: directory, cwd: directory, environment };
    this.#plan = expandSweep(file, options);
    const { source, groups } = this.#plan;
    this.#search = source === undefined ? null : new Search(source, environment);
    const isCapped = 'run_cap' in configOf(text);
    this.#cap = source === undefined ? this.#plan.runs.length : isCapped ? groups[0]!.open!.cap : Infinity;
  }

  /** The next run; null: there is none left. */
  next(read: TrialReader): InnerRun | null {
    const known = this.#returned.shift();
    if (known !== undefined) return known;
    const at = this.#given.length;
    const planned = at >= this.#cap ? null : (this.#plan.runs[at] ?? this.#drawn(read));
    if (planned === null) return null;
    const run = { id: planned.name + this.#suffix, args: argsOf(planned), planned };
    this.#given.push(run);
    return run;
  }

  /** A run that no agent has begun is given again. */
  giveBack(id: string): void {
    const run = this.#given.find((each) => each.id === id);
    if (run !== undefined) this.#returned.push(run);
  }

  #drawn(read: TrialReader): PlannedRun | null {
    if (this.#search === null) return null;
    const trials = this.#given.map(({ id, planned }): Trial => {
      return { parameters: planned.parameters, ...read(id, planned.objective?.name ?? null) };
    });
    const names = new Set(this.#given.map(({ planned }) => planned.name.toLowerCase()));
    const work = this.#search.next(this.#plan.groups[0]!.name, { trials, names });
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
    }
  }
}

/** A config for a function names no program, which a file has to. */
function withProgram(text: string): string {
  const isNamed = 'program' in configOf(text) || 'command' in configOf(text);
  return isNamed ? text : `${text}\nprogram: ${programOf(text)}\n`;
}

function programOf(text: string): string {
  const { program } = configOf(text) as { program?: unknown };
  return typeof program === 'string' ? program : 'train.py';
}

function configOf(text: string): object {
  const value: unknown = parse(text, { logLevel: 'silent' });
  return typeof value === 'object' && value !== null ? value : {};
}

/** From the file in which a launched run of a sweep file finds its values. */
function argsOf({ files = {} }: PlannedRun): InnerRun['args'] {
  const entries = Object.entries(configOf(files[wandbConfigFile] ?? '') as InnerRun['args']);
  return Object.fromEntries(entries.filter(([key]) => key !== 'wandb_version'));
}

/** A command for an agent, in W&B's form. */
type AgentCommand = { type: 'run'; run_id: string; args: object; program: string } | { type: 'exit' };

/** A loop of `wandb.agent`. `heardAt`: its last heartbeat, ms. `given`: its runs, the last one at the end. */
type Agent = { readonly sweep: InnerSweep; heardAt: number; readonly given: string[] };

/** An agent that was silent for longer has ended, ms: it asks every 5 s. */
const SILENT_MS = 12_000;

/** The sweeps of one program, and their agents. */
export class SweepBook {
  readonly #sweeps = new Map<string, InnerSweep>();
  readonly #agents = new Map<string, Agent>();
  readonly #environment: Readonly<Record<string, string | undefined>>;
  /** Directory below which wandb writes. */
  readonly #directory: string;
  readonly #read: TrialReader;

  constructor(directory: string, environment: Readonly<Record<string, string | undefined>>, read: TrialReader) {
    this.#directory = directory;
    this.#environment = environment;
    this.#read = read;
  }

  /** @throws {UserError} When the config is none. */
  begin(config: string): InnerSweep {
    const sweep = new InnerSweep(config, this.#sweeps.size, this.#directory, this.#environment);
    this.#sweeps.set(sweep.id, sweep);
    return sweep;
  }

  sweep(id: string): InnerSweep | undefined {
    return this.#sweeps.get(id);
  }

  /** @returns The agent's id; null: there is no such sweep. */
  register(sweepId: string, now: number): string | null {
    const sweep = this.#sweeps.get(sweepId);
    if (sweep === undefined) return null;
    const id = `agent-${this.#agents.size + 1}`;
    this.#agents.set(id, { sweep, heardAt: now, given: [] });
    return id;
  }

  /** What an agent is to do. An agent with a run of its own gets none: what it writes may decide about the next one. */
  heartbeat(id: string, running: ReadonlySet<string>, now: number): AgentCommand[] | null {
    const agent = this.#agents.get(id);
    if (agent === undefined) return null;
    agent.heardAt = now;
    if (running.size > 0) return [];
    for (const other of this.#agents.values())
      if (other.sweep === agent.sweep && (other === agent || now - other.heardAt > SILENT_MS)) this.#takeBack(other);
    const run = agent.sweep.next(this.#read);
    if (run === null) return [{ type: 'exit' }];
    agent.given.push(run.id);
    return [{ type: 'run', run_id: run.id, args: run.args, program: agent.sweep.program }];
  }

  /** An agent that has reached its count leaves a run that it has asked for. */
  #takeBack({ sweep, given }: Agent): void {
    const last = given.at(-1);
    if (last === undefined || this.#hasBegun(sweep.id, last)) return;
    given.pop();
    sweep.giveBack(last);
  }

  /** The agent writes the values of a run before it begins. */
  #hasBegun(sweep: string, run: string): boolean {
    return existsSync(join(this.#directory, 'wandb', `sweep-${sweep}`, `config-${run}.yaml`));
  }
}

/**
 * How a run ended and what it has written of its metric, by its file of W&B; without one, it counts as running.
 *
 * @param directory Below which wandb writes.
 */
export function readTrial(directory: string, run: string, metric: string | null): Pick<Trial, 'state' | 'values'> {
  const folder = lastFolder(join(directory, 'wandb'), run);
  if (folder === null) return { state: 'running', values: null };
  const facts = readFoundFacts({ directory: folder, place: '', kind: 'W&B', files: [], folders: [] });
  const state = facts.state === null ? 'running' : facts.state === 'done' ? 'done' : 'broken';
  return { state, values: metric === null ? null : valuesOf(folder, metric) };
}

/** Names of the folders begin with the time; a run that was resumed has several. */
function lastFolder(directory: string, run: string): string | null {
  try {
    const name = readdirSync(directory)
      .filter((each) => /^(?:offline-)?run-\d+_\d+-(.*)$/.exec(each)?.[1] === run)
      .sort()
      .at(-1);
    return name === undefined ? null : join(directory, name);
  } catch {
    return null;
  }
}

function valuesOf(folder: string, metric: string): ObjectiveValues | null {
  const metrics = openMetrics(folder, { places: { folders: [], patterns: {} } }).readNow();
  const { y } = metrics.series(metric);
  // What the program has put into the summary has no rows.
  const written = y.length > 0 ? Array.from(y) : [metrics.last([metric])[metric] ?? Number.NaN];
  const values = written.filter((value) => Number.isFinite(value));
  if (values.length === 0) return null;
  return { min: Math.min(...values), max: Math.max(...values), last: values.at(-1)! };
}
