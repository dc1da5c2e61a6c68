import { dirname } from 'node:path';
import { type Redact, redactor } from '../text/redaction.js';
import type { GitRecord } from '../contract/run-record.js';
import type { PlannedRun } from '../spec/planned-run.js';
import { readCodeDiff } from './code-diff.js';
import { keepCode } from './code-store.js';
import { readGitState } from './git-state.js';
import { packageLookup } from './packages.js';

/** The code of a run when it was submitted, as `run.json` refers to it. */
export type CodeState = { git: GitRecord | null; packages: string | null };

type Environment = Readonly<Record<string, string>>;
type Repository = { git: GitRecord; top: string } | null;

/** Keys that are looked up for one submit; a sweep with more is not one program. */
const MOST_LOOKUPS = 200;

/** Runs with the same key have the same code: one lookup is enough for them. */
export function codeKey({ group, cwd, argv, env }: PlannedRun): string {
  return JSON.stringify([group, cwd, argv[0], env['PATH'] ?? null]);
}

/**
 * Finds out the code of runs of one sweep, and keeps its files in the sweep's directory. A folder, or an interpreter, is
 * looked into once, however many runs share it. One after the other: this is work for the background.
 */
export class CodeReader {
  readonly #runs: readonly PlannedRun[];
  readonly #environment: Environment;
  readonly #redact: Redact;
  readonly #repositories = new Map<string, Repository>();
  readonly #packages = new Map<string, string | null>();

  /** @param redact Made of the environment. What the sweep file sets for the runs is taken out as well. */
  constructor(runs: readonly PlannedRun[], environment: Environment, redact: Redact) {
    this.#runs = [...new Map(runs.map((run) => [codeKey(run), run])).values()].slice(0, MOST_LOOKUPS);
    this.#environment = environment;
    const own = redactor(joined(this.#runs.map(({ env }) => env)));
    this.#redact = (text) => redact(own(text));
  }

  /** By `codeKey`. Takes up to some seconds; rejects only when files cannot be written. */
  async read(): Promise<Map<string, CodeState>> {
    const found = new Map<string, CodeState>();
    for (const run of this.#runs) found.set(codeKey(run), await this.#stateOf(run));
    return found;
  }

  async #stateOf(run: PlannedRun): Promise<CodeState> {
    const environment = { ...this.#environment, ...run.env };
    const known = this.#repositories.get(run.cwd);
    const repository = known === undefined ? await this.#readRepository(run, environment) : known;
    this.#repositories.set(run.cwd, repository);
    const folders = repository === null ? [run.cwd] : [run.cwd, repository.top];
    return { git: repository?.git ?? null, packages: await this.#keepPackages(run, folders, environment) };
  }

  async #readRepository(run: PlannedRun, environment: Environment): Promise<Repository> {
    const state = await readGitState(run.cwd, { environment });
    if (state === null) return null;
    const sweepDirectory = dirname(run.directory);
    const diff = await readCodeDiff(state, { environment, redact: this.#redact, except: dirname(sweepDirectory) });
    const path = diff === null ? null : keepCode(sweepDirectory, diff, (hash) => `${hash}.diff`);
    const { top, ...facts } = state;
    return { git: { ...facts, diff: path }, top };
  }

  async #keepPackages(run: PlannedRun, folders: readonly string[], environment: Environment): Promise<string | null> {
    const lookup = packageLookup(run.argv, { cwd: run.cwd, environment });
    const known = this.#packages.get(lookup.key);
    if (known !== undefined) return known;
    const packages = await lookup.read(folders);
    const text = packages === null ? null : this.#redact(`${JSON.stringify(packages, null, 2)}\n`);
    const path =
      text === null ? null : keepCode(dirname(run.directory), Buffer.from(text), (hash) => `packages-${hash}.json`);
    this.#packages.set(lookup.key, path);
    return path;
  }
}

/** One environment with all values, also of variables that differ from run to run. */
function joined(environments: readonly Environment[]): Environment {
  const entries = environments.flatMap((each, index) =>
    Object.entries(each).map(([name, value]) => [`${index}_${name}`, value] as const),
  );
  return Object.fromEntries(entries);
}
