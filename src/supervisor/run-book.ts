import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
} from 'node:fs';
import { unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { RunId } from '../base/ids.js';
import { UserError } from '../base/user-error.js';
import { supervisorFiles } from '../contract/files.js';
import { Plan, type PlannedRun } from '../spec/planned-run.js';

export type Environment = Readonly<Record<string, string>>;
/** One submit. */
export type Page = { plan: Plan; runs: ReadonlyMap<RunId, PlannedRun>; environment: Environment };

const Environments = z.record(z.string(), z.string());

/**
 * What each run is, kept beside the journal: commands in `plans/`, the person's environment in `environments/`, readable by
 * the owner alone, because an environment holds keys and passwords. The journal names these files and says nothing of them.
 *
 * A key is `PLAN/ENVIRONMENT`, both named by their content, so submitting the same again costs nothing.
 */
export class RunBook {
  readonly #plans: string;
  readonly #environments: string;
  readonly #pages = new Map<string, Page>();

  constructor(runsDirectory: string) {
    const folder = join(runsDirectory, supervisorFiles.directory);
    this.#plans = join(folder, supervisorFiles.plans);
    this.#environments = join(folder, supervisorFiles.environments);
    this.#makeFolders();
  }

  /** Keeps a plan, safely on disk, and gives the key under which it is found again. */
  add(plan: Plan, environment: Environment): string {
    const planName = keep(this.#plans, JSON.stringify(plan));
    const environmentName = keep(this.#environments, JSON.stringify(environment));
    const key = `${planName}/${environmentName}`;
    this.#pages.set(key, pageOf(plan, environment));
    return key;
  }

  /** Writes again what someone has deleted, as far as it is known here. */
  secure(): void {
    this.#makeFolders();
    for (const [key, { plan, environment }] of this.#pages) {
      const [planName, environmentName] = key.split('/');
      if (!isKept(this.#plans, planName!)) keep(this.#plans, JSON.stringify(plan), planName);
      if (isKept(this.#environments, environmentName!)) continue;
      keep(this.#environments, JSON.stringify(environment), environmentName);
    }
  }

  #makeFolders(): void {
    for (const path of [this.#plans, this.#environments]) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      chmodSync(path, 0o700);
    }
  }

  /** Throws a UserError when the files of that key are gone. */
  page(key: string): Page {
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const [planName, environmentName] = key.split('/');
    const plan = Plan.parse(load(this.#plans, planName!));
    const page = pageOf(plan, Environments.parse(load(this.#environments, environmentName!)));
    this.#pages.set(key, page);
    return page;
  }

  /** Deletes what no key in use refers to. */
  forgetOthers(inUse: ReadonlySet<string>): void {
    const names = new Set([...inUse].flatMap((key) => key.split('/')));
    for (const folder of [this.#plans, this.#environments]) {
      for (const file of readdirSync(folder)) if (!names.has(file.replace('.json', ''))) unlinkSync(join(folder, file));
    }
    for (const key of this.#pages.keys()) if (!inUse.has(key)) this.#pages.delete(key);
  }
}

/** File of the environment that belongs to a key, below `.supervisor`. */
export function environmentFile(key: string): string {
  return `${supervisorFiles.environments}/${key.split('/')[1]!}.json`;
}

function pageOf(plan: Plan, environment: Environment): Page {
  return { plan, runs: new Map(plan.runs.map((run) => [run.id, run])), environment };
}

/** Writes the text under the name of its hash, unless it has one already, and gives the name. */
function keep(folder: string, text: string, known?: string): string {
  const name = known ?? createHash('sha256').update(text).digest('hex').slice(0, 16);
  const path = join(folder, `${name}.json`);
  const file = openSync(`${path}.tmp`, 'w', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.tmp`, path);
  return name;
}

function isKept(folder: string, name: string): boolean {
  return existsSync(join(folder, `${name}.json`));
}

function load(folder: string, name: string): unknown {
  const path = join(folder, `${name}.json`);
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UserError(`${path} cannot be read.`, 'Submit the sweep again: it holds the commands of its runs.', {
      cause: error,
    });
  }
}
