import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new empty directory that is gone when the test is over. */
export function tempDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'memrl-lab-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
