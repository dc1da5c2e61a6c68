import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sweepFiles } from '../contract/files.js';

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
  const path = join(sweepDirectory, sweepFiles.code, file);
  if (!existsSync(path)) writeWhole(path, join(sweepDirectory, sweepFiles.code), bytes);
  return `${sweepFiles.code}/${file}`;
}

/** Replaces the file in one step. */
export function writeWhole(path: string, folder: string, bytes: Buffer | string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${path}.tmp`, bytes, { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}
