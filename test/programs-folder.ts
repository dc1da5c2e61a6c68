import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testPrograms } from './bundled.js';
import { removeFolder } from './remove-folder.js';

/** Runs once before all test files; the function returned runs after them. */
export default function makeFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'memrl-programs-'));
  process.env[testPrograms] = folder;
  return () => removeFolder(folder);
}
