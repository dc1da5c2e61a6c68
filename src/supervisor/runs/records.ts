import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, relative } from 'node:path';
import type { RunId } from '../../base/ids.js';
import type { Outcome } from '../../base/outcome.js';
import { runFiles } from '../../contract/files.js';
import type { AttemptRecord, RunRecord } from '../../contract/run-record.js';
import { isShortOfRoom } from '../../files/disk-room.js';
import { obstacleOf } from '../../files/regular-file.js';
import {
  hasStart,
  isStartRecorded,
  readRunRecord,
  recordObstacle,
  writeRunRecord,
} from '../../files/run-directory/run-record-file.js';
import { codeKey, CodeReader } from '../../provenance/code-state.js';
import { machineRecord, type Provenance, readProvenance, writeProvenance } from '../../provenance/provenance.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { environmentDigest } from '../../spec/expand/identity.js';
import { policyWords } from '../../spec/policy/policy-words.js';
import { type Redact, redactedParameters, redactShapes, redactWords } from '../../text/redaction.js';
import { isTurnOver, nextTurn } from '../../processes/turn.js';

type AttemptStart = { number: number; slot: string; startedAt: number };
type AttemptEnd = { number: number; startedAt?: number; endedAt: number; outcome: Outcome };

/** What is known of the submit a run came with. `environment`: the file in `.supervisor` that keeps it. */
type Origin = { redact: Redact; environment?: string };

/** Who submitted, from where: the environment, the redactor made of it, and the names of the machine's GPUs. */
type Submitter = { environment: Readonly<Record<string, string>>; redact: Redact; gpus: readonly string[] };

/** `captures`: number of submits whose code state is still being read. `started`: runs that started meanwhile. */
type UnderWay = { captures: number; started: Set<PlannedRun> };

/** Between attempts to write what the disk has refused, ms; doubled each time, up to the longest. */
const AGAIN_MS = 1000;
const LONGEST_AGAIN_MS = 60_000;

/**
 * Keeps `run.json` of each run. Written when clients are about to be told, so that whoever hears of an end can read of it,
 * and a run that lasts a moment is written once. What is slow to find out (the code) is added when it is known.
 */
export class Records {
  readonly #records = new Map<RunId, { run: PlannedRun; record: RunRecord }>();
  readonly #unwritten = new Set<RunId>();
  /** What the disk has refused, with what was said of it; retried later. */
  readonly #refused = new Map<RunId, string>();
  #again: NodeJS.Timeout | null = null;
  #againMs = AGAIN_MS;
  /** By the sweep's directory. */
  readonly #captures = new Map<string, Provenance>();
  /** By the sweep's directory. */
  readonly #underWay = new Map<string, UnderWay>();
  readonly #log: (line: string) => void;
  readonly #originOf: (run: PlannedRun) => Origin;
  readonly #hindered: (id: RunId, words: string | null) => void;

  /**
   * @param originOf Asked at each start and end; must be quick.
   * @param hindered Told what is wrong with the record of a run, in words; null: nothing any more.
   */
  constructor(
    log: (line: string) => void,
    originOf: (run: PlannedRun) => Origin = () => ({ redact: redactShapes }),
    hindered: (id: RunId, words: string | null) => void = () => undefined,
  ) {
    this.#log = log;
    this.#originOf = originOf;
    this.#hindered = hindered;
  }

  /**
   * Finds out commit, differences and packages of a plan's runs, and keeps them in its sweep's directory. To be called at
   * the submit, and not waited for: takes up to some seconds, never rejects.
   */
  async capture(plan: Plan, { environment, redact, gpus }: Submitter): Promise<void> {
    const [first] = plan.runs;
    if (first === undefined) return;
    const directory = dirname(first.directory);
    const captured: Provenance = { ...this.#capturedOf(directory), machine: machineRecord(gpus) };
    this.#captures.set(directory, captured);
    const underWay = this.#underWay.get(directory) ?? { captures: 0, started: new Set() };
    this.#underWay.set(directory, underWay);
    underWay.captures += 1;
    try {
      const found = await new CodeReader(plan.runs, environment, redact).read();
      for (const [key, state] of found) captured.code.set(key, state);
      writeProvenance(directory, captured);
    } catch (error) {
      this.#log(`the code of ${plan.sweep} could not be saved: ${(error as Error).message}`);
    }
    underWay.captures -= 1;
    if (underWay.captures > 0) return;
    this.#underWay.delete(directory);
    await this.#complete(underWay.started, captured);
  }

  started(run: PlannedRun, start: AttemptStart): void {
    const kept = this.#records.get(run.id)?.record;
    // Adopted: an earlier supervisor has written this already, and a thousand files are not written again for nothing.
    if (kept === undefined ? isStartRecorded(run.directory, start) : hasStart(kept, start)) return;
    const old = this.#recordOf(run);
    const others = (old?.attempts ?? []).filter(({ number }) => number !== start.number);
    const facts = this.#facts(run);
    const attempt: AttemptRecord = { ...start, endedAt: null, outcome: null, ...codeOfAttempt(facts) };
    this.#keep(run, { ...old, ...facts, attempts: [...others, attempt], state: undefined });
    this.#underWay.get(dirname(run.directory))?.started.add(run);
  }

  /** An attempt that never started is not recorded: it has no history but the reason, which the journal keeps. */
  ended(run: PlannedRun, { number, outcome, ...times }: AttemptEnd): void {
    const record = this.#recordOf(run);
    if (record === null) return;
    const safe = redactedOutcome(outcome, this.#originOf(run).redact);
    const attempts = record.attempts.map((attempt): AttemptRecord =>
      attempt.number === number ? { ...attempt, ...times, outcome: safe } : attempt,
    );
    this.#keep(run, { ...record, attempts, state: undefined });
  }

  /** Where the run is that has had attempts and is not up; written for those who read when no supervisor is there. */
  standsAt(run: PlannedRun, state: RunRecord['state']): void {
    const record = this.#recordOf(run);
    if (record !== null && record.state !== state) this.#keep(run, { ...record, state });
  }

  /** It has turned out that there was no such attempt. */
  retracted(run: PlannedRun, number: number): void {
    const record = this.#recordOf(run);
    if (record === null || !record.attempts.some((attempt) => attempt.number === number)) return;
    this.#keep(run, { ...record, attempts: record.attempts.filter((attempt) => attempt.number !== number) });
  }

  /** The files of the run are about to go: nothing is written there any more before it starts again. */
  forget(id: RunId): void {
    this.#records.delete(id);
    this.#unwritten.delete(id);
    this.#refused.delete(id);
  }

  /**
   * Makes sure that an attempt is recorded, start and end: the supervisor that saw it may have died before it was. A directory that
   * is gone was deleted, and is not created for it.
   *
   * @param attempt Its outcome is null where it was not up after all.
   */
  confirm(run: PlannedRun, attempt: AttemptStart & { endedAt: number; outcome: Outcome | null }): void {
    const { number, slot, startedAt, endedAt, outcome } = attempt;
    if (!existsSync(run.directory)) return;
    if (outcome === null) return this.retracted(run, number);
    const known = this.#recordOf(run)?.attempts.find((each) => each.number === number);
    if (known === undefined) this.started(run, { number, slot, startedAt });
    if (known === undefined || known.outcome === null) this.ended(run, { number, endedAt, outcome });
  }

  /**
   * Writes what is still to be written, as far as the disk lets it; what it refuses is retried later.
   *
   * @param untilMs On the line of `performance.now()`: when that is past, the rest is left for the next call.
   * @returns Whether nothing is left.
   */
  flush(untilMs = Infinity): boolean {
    for (const id of this.#unwritten) {
      this.#unwritten.delete(id);
      this.#write(id);
      if (performance.now() >= untilMs) break;
    }
    return this.#unwritten.size === 0;
  }

  /** Writes the records of some runs that are still to be written: a run is about to start that may read them. */
  secure(isAmong: (id: RunId) => boolean): void {
    for (const id of this.#unwritten) {
      if (!isAmong(id)) continue;
      this.#unwritten.delete(id);
      this.#write(id);
    }
  }

  /** Writes what it can, for the last time. */
  close(): void {
    if (this.#again !== null) clearTimeout(this.#again);
    this.#takeUpRefused();
    this.flush();
    if (this.#again !== null) clearTimeout(this.#again);
  }

  #facts(run: PlannedRun) {
    const { sweep, group, subgroup, name, identity, parameters, argv, cwd } = run;
    const { folders, patterns } = run.metrics;
    const { redact, environment } = this.#originOf(run);
    const { machine, code } = this.#capturedOf(dirname(run.directory));
    const { git, packages } = code.get(codeKey(run)) ?? { git: null, packages: null };
    const policy = policyWords(run).map(redact);
    return {
      version: 1 as const,
      ...{ sweep, group, subgroup, name, identity },
      parameters: redactedParameters(parameters, redact),
      argv: redactWords(argv, redact),
      ...{ cwd, snapshot: snapshotOf(run), host: hostname(), machine, git, packages },
      ...(environment === undefined ? {} : { environment }),
      environmentDigest: environmentDigest(run),
      ...(folders === undefined && patterns === undefined ? {} : { metrics: { folders, patterns } }),
      policy: policy.length === 0 ? undefined : policy,
    };
  }

  /** Runs that began before their code was known are told of it now, whether they still run or not. */
  async #complete(runs: ReadonlySet<PlannedRun>, { code }: Provenance): Promise<void> {
    for (const run of runs) {
      if (isTurnOver()) await nextTurn();
      const record = this.#recordOf(run);
      const state = code.get(codeKey(run));
      const last = record?.attempts.at(-1);
      if (record === null || last === undefined || state === undefined) continue;
      const attempts = [...record.attempts.slice(0, -1), { ...last, ...codeOfAttempt({ ...record, ...state }) }];
      this.#keep(run, { ...record, ...state, attempts });
      this.#write(run.id);
      this.#unwritten.delete(run.id);
    }
  }

  #capturedOf(directory: string): Provenance {
    let known = this.#captures.get(directory);
    if (known === undefined) {
      known = readProvenance(directory) ?? { machine: machineRecord([]), code: new Map() };
      this.#captures.set(directory, known);
    }
    return known;
  }

  #recordOf(run: PlannedRun): RunRecord | null {
    const record = this.#records.get(run.id)?.record ?? readRunRecord(run.directory);
    const obstacle = record === null ? recordObstacle(run.directory) : null;
    if (obstacle !== null) {
      this.#hindered(
        run.id,
        `${runFiles.record} could not be read (${obstacle}): what it said of earlier attempts is lost`,
      );
    }
    return record;
  }

  #keep(run: PlannedRun, record: RunRecord): void {
    this.#records.set(run.id, { run, record });
    this.#unwritten.add(run.id);
  }

  #write(id: RunId): void {
    const kept = this.#records.get(id);
    if (kept === undefined) return void this.#refused.delete(id);
    try {
      writeRunRecord(kept.run.directory, kept.record);
      this.#againMs = AGAIN_MS;
      if (this.#refused.delete(id)) this.#hindered(id, null);
    } catch (error) {
      this.#refuse(id, error as Error);
      return;
    }
    if (kept.record.attempts.at(-1)?.outcome) this.#records.delete(id);
  }

  /** One line for all of them: there may be thousands, and the disk that is full may be that of the log. */
  #refuse(id: RunId, error: Error): void {
    const isNews = this.#refused.get(id) !== error.message;
    this.#refused.set(id, error.message);
    // A disk that is full is said once, of all runs.
    const obstacle = obstacleOf(error);
    if (!isShortOfRoom(error) && obstacle.kind === 'unreadable') {
      this.#hindered(id, `${runFiles.record} cannot be written: ${obstacle.reason}`);
    }
    if (this.#again !== null) return;
    if (isNews) this.#log(`run.json of ${id} could not be written, will be retried: ${error.message}`);
    this.#again = setTimeout(() => {
      this.#takeUpRefused();
      this.flush();
    }, this.#againMs).unref();
    this.#againMs = Math.min(LONGEST_AGAIN_MS, this.#againMs * 2);
  }

  #takeUpRefused(): void {
    this.#again = null;
    for (const id of this.#refused.keys()) this.#unwritten.add(id);
  }
}

function codeOfAttempt({ git, snapshot }: Pick<RunRecord, 'git' | 'snapshot'>): Partial<AttemptRecord> {
  return {
    ...(git === null ? {} : { commit: git.commit, diff: git.diff ?? null }),
    ...(snapshot === undefined ? {} : { snapshot: snapshot.path }),
  };
}

/** The copy of the code as the record names it. */
function snapshotOf({ snapshot, directory }: PlannedRun): RunRecord['snapshot'] {
  if (snapshot === undefined || snapshot.path === null) return undefined;
  return { path: relative(dirname(directory), snapshot.path), cwd: snapshot.cwd };
}

/** The outcome without secrets in its words, which come from the run's own log: for the journal, clients and `run.json`. */
export function redactedOutcome(outcome: Outcome, redact: Redact): Outcome {
  switch (outcome.kind) {
    case 'failed':
    case 'signal':
      return outcome.line === undefined ? outcome : { ...outcome, line: redact(outcome.line) };
    case 'oom':
      return { ...outcome, line: redact(outcome.line) };
    case 'lost':
      return { ...outcome, reason: redact(outcome.reason) };
    default:
      return outcome;
  }
}
