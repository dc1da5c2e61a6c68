import { parse } from 'yaml';
import { fnv1a64 } from '../spec/expand/identity.js';
import { expandSweep } from '../spec/expand/expand-sweep.js';
import { wandbConfigFile } from '../spec/expand/wandb-run.js';
import { parseSweepFile } from '../spec/file/parse-sweep-file.js';
import type { Plan, PlannedRun } from '../spec/planned-run.js';
import { Search } from '../spec/search/search.js';
import type { Trial } from '../spec/search/trials.js';

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
export class InnerSweep {
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
