import { createHash, type Hash, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { type FileHandle, open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { RunId } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { supervisorFiles } from '../../contract/files.js';
import { makeFolder } from '../../files/make-folder.js';
import { passTurn } from '../../processes/turn.js';
import type { SchedulerState } from '../../scheduler/state.js';
import { isInBlocks, parsePlan, planBlocks, PlanReader, withSharedParts } from '../../spec/plan-text.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { unrecorded } from '../core/event-loop.js';
import { writeAll } from '../core/journal.js';

export type Environment = Readonly<Record<string, string>>;
/** One submit. */
export type Submission = { plan: Plan; runs: ReadonlyMap<RunId, PlannedRun>; environment: Environment };

const Environments = z.record(z.string(), z.string());

/** Bytes of a plan that are read before others get their turn. */
const BLOCK = 256 << 10;

/**
 * What each run is, kept beside the journal: commands in `plans/`, the person's environment in `environments/`, readable by
 * the owner alone, because an environment holds keys and passwords. The journal names these files and says nothing of them.
 *
 * A key is `PLAN/ENVIRONMENT`, both named by their content, so submitting the same again costs nothing; and a plan that has
 * its name still is what was written, and need not be looked at run by run.
 */
export class SubmissionStore {
  readonly #plans: string;
  readonly #environments: string;
  readonly #submissions = new Map<string, Submission>();

  constructor(runsDirectory: string) {
    const folder = join(runsDirectory, supervisorFiles.directory);
    this.#plans = join(folder, supervisorFiles.plans);
    this.#environments = join(folder, supervisorFiles.environments);
    this.#makeFolders();
  }

  /** Keeps a plan, safely on disk, and gives the key under which it is found again. Takes turns. */
  async add(plan: Plan, environment: Environment): Promise<string> {
    const planName = await keep(this.#plans, planWriter(plan));
    const environmentName = await keep(this.#environments, textWriter(JSON.stringify(environment)));
    const key = `${planName}/${environmentName}`;
    if (!this.#submissions.has(key)) this.#submissions.set(key, submissionOf(plan, environment));
    return key;
  }

  /** Writes again what someone has deleted, as far as it is known here. */
  async secure(): Promise<void> {
    this.#makeFolders();
    for (const [key, { plan, environment }] of this.#submissions) {
      const [planName, environmentName] = key.split('/');
      if (!isKept(this.#plans, planName!)) await this.#keepAgain(planName!, plan);
      if (isKept(this.#environments, environmentName!)) continue;
      await keep(this.#environments, textWriter(JSON.stringify(environment)), environmentName);
    }
  }

  /**
   * Another version of this program may have made other text of the plan, and so another name. Under that name the plan is written as
   * version 1 has it, as later texts are refused where they do not have the name of their content.
   */
  async #keepAgain(name: string, plan: Plan): Promise<void> {
    if ((await keep(this.#plans, planWriter(plan))) === name) return;
    await keep(this.#plans, textWriter(JSON.stringify(plan)), name);
  }

  #makeFolders(): void {
    for (const path of [this.#plans, this.#environments]) {
      makeFolder(path, 0o700, dirname(dirname(path)));
      chmodSync(path, 0o700);
    }
  }

  /** Reads what belongs to these keys, in turns. What cannot be read is found out when it is asked for. */
  async prepare(keys: Iterable<string>): Promise<void> {
    for (const key of keys) {
      const [planName, environmentName] = key.split('/');
      try {
        const plan = await readInTurns(this.#plans, planName!);
        this.#submissions.set(key, submissionOf(plan, this.#environmentOf(environmentName!)));
      } catch {
        // Nobody has asked for it yet.
      }
    }
  }

  /** Throws a UserError when the files of that key are gone, or are not what they were. */
  of(key: string): Submission {
    const known = this.#submissions.get(key);
    if (known !== undefined) return known;
    const [planName, environmentName] = key.split('/');
    const plan = load(this.#plans, planName!, (bytes) => planIn(bytes, planName!));
    const submission = submissionOf(plan, this.#environmentOf(environmentName!));
    this.#submissions.set(key, submission);
    return submission;
  }

  #environmentOf(name: string): Environment {
    return load(this.#environments, name, (bytes) => Environments.parse(JSON.parse(bytes.toString())));
  }

  /** Deletes what no key in use refers to. */
  forgetOthers(inUse: ReadonlySet<string>): void {
    const names = new Set([...inUse].flatMap((key) => key.split('/')));
    for (const folder of [this.#plans, this.#environments]) {
      for (const file of readdirSync(folder)) if (!names.has(file.replace('.json', ''))) unlinkSync(join(folder, file));
    }
    for (const key of this.#submissions.keys()) if (!inUse.has(key)) this.#submissions.delete(key);
  }
}

/** File of the environment that belongs to a key, below `.supervisor`. */
function environmentFile(key: string): string {
  return `${supervisorFiles.environments}/${key.split('/')[1]!}.json`;
}

function submissionOf(plan: Plan, environment: Environment): Submission {
  return { plan, runs: new Map(plan.runs.map((run) => [run.id, run])), environment };
}

/** Writes into a file that is new, and gives the name that the content has. */
type Writer = (file: FileHandle) => Promise<string>;

/** Writes a plan in turns. */
function planWriter(plan: Plan): Writer {
  return async (file) => {
    const hash = createHash('sha256');
    let at = 0;
    for (const block of planBlocks(plan)) {
      const bytes = Buffer.from(block);
      hash.update(bytes);
      await writeAll(file, bytes, at);
      at += bytes.length;
      await passTurn();
    }
    return nameOf(hash);
  };
}

function textWriter(text: string): Writer {
  return async (file) => {
    await file.writeFile(text);
    return hashOf(text);
  };
}

/**
 * Keeps what is written, safely on disk, under the name of its content, and gives that. What the disk takes for it holds nobody up.
 *
 * @param known The name to keep it under in place of that.
 */
async function keep(folder: string, write: Writer, known?: string): Promise<string> {
  const draft = join(folder, `${randomUUID()}.tmp`);
  try {
    const file = await open(draft, 'wx', 0o600);
    const name = await safely(file, write);
    await rename(draft, join(folder, `${known ?? name}.json`));
    return known ?? name;
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw unrecorded(error as Error);
  }
}

async function safely(file: FileHandle, write: Writer): Promise<string> {
  try {
    const name = await write(file);
    await file.sync();
    return name;
  } finally {
    await file.close();
  }
}

function hashOf(content: string | Buffer): string {
  return nameOf(createHash('sha256').update(content));
}

function nameOf(hash: Hash): string {
  return hash.digest('hex').slice(0, 16);
}

function isKept(folder: string, name: string): boolean {
  return existsSync(join(folder, `${name}.json`));
}

function load<Content>(folder: string, name: string, read: (bytes: Buffer) => Content): Content {
  const path = join(folder, `${name}.json`);
  try {
    return read(readFileSync(path));
  } catch (error) {
    throw new UserError(`${path} cannot be read.`, 'Submit the sweep again: it holds the commands of its runs.', {
      cause: error,
    });
  }
}

function planIn(bytes: Buffer, name: string): Plan {
  if (isInBlocks(beginningOf(bytes)) && hashOf(bytes) !== name) throw damaged();
  return parsePlan(bytes.toString());
}

/** As `planIn`, for a plan that may be long. */
async function readInTurns(folder: string, name: string): Promise<Plan> {
  const bytes = await readFile(join(folder, `${name}.json`));
  if (!isInBlocks(beginningOf(bytes))) return withSharedParts(parsePlan(bytes.toString()));
  const [reader, hash] = [new PlanReader(), createHash('sha256')];
  for (let from = 0; from < bytes.length;) {
    const lineEnd = bytes.indexOf(10, Math.min(from + BLOCK, bytes.length - 1));
    const block = bytes.subarray(from, lineEnd < 0 ? bytes.length : lineEnd + 1);
    hash.update(block);
    reader.push(block.toString());
    from += block.length;
    await passTurn();
  }
  if (hash.digest('hex').slice(0, 16) !== name) throw damaged();
  return reader.plan();
}

function beginningOf(bytes: Buffer): string {
  return bytes.toString('utf8', 0, 100);
}

function damaged(): Error {
  return new Error('it is not what was written under this name');
}

/** What the runs of the scheduler's state are: it knows of each only the key of its submission. */
export class PlannedRuns {
  readonly #state: SchedulerState;
  readonly #submissions: SubmissionStore;

  constructor(state: SchedulerState, submissions: SubmissionStore) {
    this.#state = state;
    this.#submissions = submissions;
  }

  /** What was submitted under that key. Throws a UserError when it is gone. */
  submission(key: string): Submission {
    return this.#submissions.of(key);
  }

  /** Null for a run that is forgotten. Throws a UserError when its plan is gone. */
  of(id: RunId): PlannedRun | null {
    return this.submitted(id)?.run ?? null;
  }

  /** As it goes on when its present attempt has ended, where its budget was raised meanwhile; else null. */
  next(id: RunId): PlannedRun | null {
    const next = this.#state.runs.get(id)?.next ?? null;
    return next === null ? null : (this.#submissions.of(next.plan).runs.get(id) ?? null);
  }

  /** The run with the environment of its submit; see `of`. */
  submitted(id: RunId): { run: PlannedRun; environment: Environment } | null {
    const known = this.#state.runs.get(id);
    if (known === undefined) return null;
    const { runs, environment } = this.#submissions.of(known.plan);
    const run = runs.get(id);
    return run === undefined ? null : { run, environment };
  }

  /** Where the environment of its submit is kept, below `.supervisor`; nothing for a run that is forgotten. */
  environmentFileOf(id: RunId): { environment?: string } {
    const run = this.#state.runs.get(id);
    return run === undefined ? {} : { environment: environmentFile(run.plan) };
  }

  /** The keys of what these runs are, or all; and of what is still being taken in. */
  keys(ids: Iterable<RunId> = this.#state.runs.keys(), intakes = this.#state.intakes): Set<string> {
    const keys = new Set(intakes.map(({ submission }) => submission.plan));
    for (const id of ids) {
      const { plan, next, group } = this.#state.runs.get(id)!;
      keys.add(plan);
      const { open } = this.#state.groups.get(group)!;
      if (open !== null) keys.add(open.plan);
      if (next !== null) keys.add(next.plan);
    }
    return keys;
  }
}
