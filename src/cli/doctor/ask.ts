import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Place } from './check.js';

/** What a program says on stdout, without the last newline; null when it is missing, fails, or takes more than a second. */
export function ask(
  { environment }: Pick<Place, 'environment'>,
  program: string,
  ...words: string[]
): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, words, { env: environment, timeout: 1000, killSignal: 'SIGKILL' }, (error, stdout) =>
      resolve(error === null ? stdout.trimEnd() : null),
    );
  });
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
