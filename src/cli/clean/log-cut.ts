import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { attemptRule } from '../../contract/files.js';
import { openRegular } from '../../files/regular-file.js';

const PART = 1 << 20;
/** Upper bound for the length of the line between two attempts, bytes. */
const LINE = 256;
const start = Buffer.from('\n──── attempt ');

/** Offset of the last attempt in a log, bytes; null: the log has one attempt, or is not readable. */
export function lastAttemptAt(path: string): number | null {
  const opened = openRegular(path, { noLink: true });
  if (opened.kind !== 'file') return null;
  try {
    for (let end = opened.stat.size; end > 0; end -= PART) {
      const from = Math.max(0, end - PART);
      const bytes = Buffer.alloc(Math.min(opened.stat.size - from, end - from + LINE));
      const part = bytes.subarray(0, readSync(opened.descriptor, bytes, 0, bytes.length, from));
      const at = lastRuleIn(part);
      if (at !== null) return from + at;
    }
    return null;
  } catch {
    return null;
  } finally {
    closeSync(opened.descriptor);
  }
}

function lastRuleIn(bytes: Buffer): number | null {
  for (let at = bytes.lastIndexOf(start); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(start, at - 1)) {
    const end = bytes.indexOf(10, at + 1);
    if (attemptRule.test(bytes.toString('utf8', at + 1, end < 0 ? bytes.length : end))) return at + 1;
  }
  return null;
}

/** Copies the part of a file from an offset on into a new file. @throws The error of the operating system. */
export function copyFrom(path: string, at: number, target: string): void {
  const opened = openRegular(path, { noLink: true });
  if (opened.kind !== 'file') throw new Error(`${path} cannot be read.`);
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const copy = openSync(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, opened.stat.mode & 0o777);
    try {
      const bytes = Buffer.alloc(PART);
      for (let from = at; ;) {
        const got = readSync(opened.descriptor, bytes, 0, PART, from);
        if (got === 0) return;
        for (let done = 0; done < got;) done += writeSync(copy, bytes, done, got - done);
        from += got;
      }
    } finally {
      closeSync(copy);
    }
  } finally {
    closeSync(opened.descriptor);
  }
}
