import { readFile } from 'node:fs/promises';
import { askProgram } from '../../processes/short-call.js';

/** What was found. `warn`: works, but not as well as it could. `bad`: something will not work. `fix`: what to do, as an order. */
export type Finding = { state: 'ok' | 'warn' | 'bad'; found: string; fix?: string };

/** Where `doctor` looks from. */
export type Place = {
  /** Absolute; need not exist. */
  runsDirectory: string;
  environment: Readonly<Record<string, string>>;
  /** Of the terminal on stdout; null when there is none. */
  size: { columns: number; rows: number } | null;
  uid: number;
};

export const topics = ['Machine', 'Terminal', 'Runs directory', 'Limits', 'Survival', 'Slurm'] as const;
type Topic = (typeof topics)[number];

/** One thing to look at. `look` changes nothing, and is given up after `patienceMs` (default 2 s). */
export type Check = {
  topic: Topic;
  name: string;
  patienceMs?: number;
  look: (place: Place) => Finding | Promise<Finding>;
};

export type Checked = Finding & { topic: Topic; name: string };

export function ok(found: string): Finding {
  return { state: 'ok', found };
}

export function warn(found: string, fix: string): Finding {
  return { state: 'warn', found, fix };
}

export function bad(found: string, fix: string): Finding {
  return { state: 'bad', found, fix };
}

/** What a program says on stdout, without the last newline; null when it is missing, fails, or takes more than a second. */
export async function ask(
  { environment }: Pick<Place, 'environment'>,
  program: string,
  ...args: string[]
): Promise<string | null> {
  const answer = await askProgram({ program, args, environment, patienceMs: 1000 });
  return answer.kind === 'answered' ? answer.stdout.trimEnd() : null;
}

/** Text of a small file; null when it cannot be read. */
export async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return null;
  }
}

/** The number in such a file; null also for `max`. */
export async function numberIn(path: string): Promise<number | null> {
  const text = await textOf(path);
  return text !== null && /^\d+\s*$/.test(text) ? Number(text) : null;
}
