import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { programOptions } from '../../scripts/program-options.js';
import { removeFolder } from '../remove-folder.js';

/** Bundles a program as it would be shipped, into a temporary folder. */
export async function bundleProgram(entry: string): Promise<{ file: string; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'memrl-window-'));
  const file = join(folder, 'program.mjs');
  await build({
    entryPoints: [entry],
    outfile: file,
    ...programOptions,
    logLevel: 'error',
  });
  return { file, remove: () => removeFolder(folder) };
}
