import { closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseJsonLine } from '../../contract/json-line.js';
import { openForAppending, textOrNull } from '../../files/regular-file.js';

/** In the directory of an attempt: a line for each time it is submitted, written before that. */
const FILE = 'slurm.jsonl';
const LARGEST = 1 << 20;

/** Of the submissions of an attempt, oldest first. */
export function readKeys(folder: string): string[] {
  const lines = (textOrNull(join(folder, FILE), LARGEST) ?? '').split('\n');
  return lines.flatMap((line) => {
    const { key } = parseJsonLine(line) ?? {};
    return typeof key === 'string' ? [key] : [];
  });
}

/**
 * For whoever comes after this process. It is not waited for the disk: should the machine stop, whoever does not find the line
 * withdraws the attempt, and the job leaves. @throws What the system says.
 */
export function writeKey(folder: string, key: string): void {
  const opened = openForAppending(join(folder, FILE));
  if (opened.kind !== 'file') throw new Error(opened.kind === 'absent' ? 'it is gone' : opened.reason);
  try {
    writeSync(opened.descriptor, `${JSON.stringify({ key })}\n`);
  } finally {
    closeSync(opened.descriptor);
  }
}
