import { hostname } from 'node:os';
import type { RunId } from '../base/ids.js';
import type { Outcome } from '../base/outcome.js';
import type { AttemptRecord, RunRecord } from '../contract/run-record.js';
import type { PlannedRun } from '../spec/planned-run.js';
import { readRunRecord, writeRunRecord } from '../store/run-record-file.js';
import { type GitState, readGitState } from './git-state.js';

export type AttemptStart = { number: number; slot: string; startedAt: number };
export type AttemptEnd = { number: number; endedAt: number; outcome: Outcome };

/**
 * Keeps `run.json` of each run. Written when clients are about to be told, so that whoever hears of an end can read of it,
 * and a run that lasts a moment is written once.
 */
export class Records {
  readonly #records = new Map<RunId, { run: PlannedRun; record: RunRecord }>();
  readonly #unwritten = new Set<RunId>();
  readonly #git = new Map<string, GitState | null>();
  readonly #log: (line: string) => void;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Finds out the commit of the runs' working directories, in the background. */
  async lookUpCode(folders: ReadonlySet<string>): Promise<void> {
    for (const folder of folders) this.#git.set(folder, await readGitState(folder));
  }

  started(run: PlannedRun, start: AttemptStart): void {
    const old = this.#recordOf(run);
    const others = (old?.attempts ?? []).filter(({ number }) => number !== start.number);
    this.#keep(run, { ...old, ...this.#facts(run), attempts: [...others, { ...start, endedAt: null, outcome: null }] });
  }

  /** An attempt that never started is not recorded: it has no history but the reason, which the journal keeps. */
  ended(run: PlannedRun, { number, endedAt, outcome }: AttemptEnd): void {
    const record = this.#recordOf(run);
    if (record === null) return;
    const attempts = record.attempts.map((attempt): AttemptRecord =>
      attempt.number === number ? { ...attempt, endedAt, outcome } : attempt,
    );
    this.#keep(run, { ...record, git: this.#git.get(run.cwd) ?? record.git, attempts });
  }

  /** Writes what is still to be written. */
  flush(): void {
    for (const id of this.#unwritten) this.#write(id);
    this.#unwritten.clear();
  }

  #facts(run: PlannedRun) {
    const { sweep, group, subgroup, name, identity, parameters, argv, cwd } = run;
    const git = this.#git.get(cwd) ?? null;
    return {
      version: 1 as const,
      sweep,
      group,
      subgroup,
      name,
      identity,
      parameters,
      argv,
      cwd,
      host: hostname(),
      git,
    };
  }

  #recordOf(run: PlannedRun): RunRecord | null {
    return this.#records.get(run.id)?.record ?? readRunRecord(run.directory);
  }

  #keep(run: PlannedRun, record: RunRecord): void {
    this.#records.set(run.id, { run, record });
    this.#unwritten.add(run.id);
  }

  #write(id: RunId): void {
    const kept = this.#records.get(id);
    if (kept === undefined) return;
    try {
      writeRunRecord(kept.run.directory, kept.record);
    } catch (error) {
      this.#log(`run.json of ${id} could not be written: ${(error as Error).message}`);
    }
    if (kept.record.attempts.at(-1)?.outcome) this.#records.delete(id);
  }
}
