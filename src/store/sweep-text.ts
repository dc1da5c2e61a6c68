import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sweepFiles } from '../contract/files.js';

/** Keeps the text of a sweep file as it was submitted, for whoever reads the runs later. Whole or not at all. */
export function writeSweepText(sweepDirectory: string, text: string): void {
  mkdirSync(sweepDirectory, { recursive: true });
  const path = join(sweepDirectory, sweepFiles.text);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
