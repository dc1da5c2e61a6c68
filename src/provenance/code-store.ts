import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sweepFiles } from '../contract/files.js';
import { writeWhole } from '../files/whole-file.js';

/** Digits of the hash in a name; 64 bits. */
const DIGITS = 16;

/**
 * Keeps a text in the sweep's `code` folder under the name of its content: 48 runs of one state of the code share one file.
 * For the owner alone: unpublished code is private.
 *
 * @param name Gives the file's name from the hash.
 * @returns The path below the sweep's directory.
 */
export function keepCode(sweepDirectory: string, bytes: Buffer, name: (hash: string) => string): string {
  const file = name(createHash('sha256').update(bytes).digest('hex').slice(0, DIGITS));
  if (!existsSync(join(sweepDirectory, sweepFiles.code, file))) writeCode(sweepDirectory, file, bytes);
  return `${sweepFiles.code}/${file}`;
}

/** Replaces a file of the `code` folder in one step. */
export function writeCode(sweepDirectory: string, file: string, content: Buffer | string): void {
  const folder = join(sweepDirectory, sweepFiles.code);
  mkdirSync(folder, { recursive: true });
  writeWhole(join(folder, file), content, { mode: 0o600 });
}
