import { closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseJsonLine } from '../../contract/json-line.js';
import { openForAppending, textOrNull } from '../../files/regular-file.js';

/** In the directory of an attempt: a line for each time it is submitted, before that, and one with its job after. */
const FILE = 'slurm.jsonl';
const LARGEST = 1 << 20;

/** One try to submit an attempt. `job`: its address in Slurm (`12`, `12_3`); null: not known, it may never have come there. */
export type Submission = { key: string; job: string | null };

/** Of an attempt, oldest first. */
export function readSubmissions(folder: string): Submission[] {
  const found = new Map<string, Submission>();
  for (const line of (textOrNull(join(folder, FILE), LARGEST) ?? '').split('\n')) {
    const { key, job } = parseJsonLine(line) ?? {};
    if (typeof key === 'string') found.set(key, { key, job: typeof job === 'string' ? job : null });
  }
  return [...found.values()];
}

/**
 * For whoever comes after this process. It is not waited for the disk: should the machine stop, whoever does not find the line
 * withdraws the attempt, and the job leaves. @throws What the system says.
 */
export function writeSubmission(folder: string, submission: Submission): void {
  const opened = openForAppending(join(folder, FILE));
  if (opened.kind !== 'file') throw new Error(opened.kind === 'absent' ? 'it is gone' : opened.reason);
  try {
    writeSync(opened.descriptor, `${JSON.stringify(submission)}\n`);
  } finally {
    closeSync(opened.descriptor);
  }
}
