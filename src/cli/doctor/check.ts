import { readFile } from 'node:fs/promises';
import { askProgram } from '../../processes/short-call.js';
import type { Answers } from '../answers/schemas.js';

/**
 * The result of a check. `warn`: works, but not as well as it could. `bad`: something will not work. `fix`: what to do, as an
 * imperative.
 */
export type Finding = Omit<Checked, 'topic' | 'name'>;

/** The environment that `doctor` examines. */
export type Place = {
  /** Absolute path; need not exist. */
  runsDirectory: string;
  environment: Readonly<Record<string, string>>;
  /** Size of the terminal on stdout; null: there is none. */
  size: { columns: number; rows: number } | null;
  uid: number;
};

/** One check. `look` changes nothing, and is abandoned after `patienceMs` (default 2 s). */
export type Check = {
  topic: Checked['topic'];
  name: string;
  patienceMs?: number;
  look: (place: Place) => Finding | Promise<Finding>;
};

export type Checked = Answers['doctor']['checks'][number];

export function ok(found: string): Finding {
  return { state: 'ok', found };
}

export function warn(found: string, fix: string): Finding {
  return { state: 'warn', found, fix };
}

export function bad(found: string, fix: string): Finding {
  return { state: 'bad', found, fix };
}

/** The output of a program, without the last newline; null: it is missing, fails, or takes more than a second. */
export async function ask(
  { environment }: Pick<Place, 'environment'>,
  program: string,
  ...args: string[]
): Promise<string | null> {
  const answer = await askProgram({ program, args, environment, patienceMs: 1000 });
  return answer.kind === 'answered' ? answer.stdout.trimEnd() : null;
}

/** Text of a small file; null: it is not readable. */
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
