import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { removeFolder } from '../remove-folder.js';

/** A new empty directory that is gone when the test is over. */
export function tempDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'memrl-lab-'));
  onTestFinished(() => removeFolder(path));
  return path;
}
