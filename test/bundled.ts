import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { programOptions } from '../scripts/program-options.js';

/** Environment variable: folder of this run of all tests, in which each bundled program is made once. Absent outside of tests. */
export const testPrograms = 'MEMRL_TEST_PROGRAMS';

/**
 * Bundles programs as they are shipped. The first test file that needs them makes them, the others of the same run wait and share.
 *
 * @param name Of the folder, one for each set of programs.
 * @param finish Puts more into the folder, before others see it.
 * @returns The folder.
 */
export async function bundled(
  name: string,
  entryPoints: Record<string, string>,
  finish?: (folder: string) => void,
): Promise<string> {
  const folder = join(process.env[testPrograms]!, name);
  const unfinished = `${folder}.unfinished`;
  if (!existsSync(folder) && isFirst(unfinished)) {
    await build({ entryPoints, outdir: unfinished, ...programOptions, logLevel: 'error' });
    finish?.(unfinished);
    renameSync(unfinished, folder);
  }
  // A hook or a test that waits for a bundle that failed ends with its own time.
  while (!existsSync(folder)) await new Promise((resolve) => setTimeout(resolve, 20));
  return folder;
}

/** Bundles one program of the tests. @returns Its file. */
export async function bundledFile(entry: string): Promise<string> {
  const name = entry.replace(/\.ts$/, '').replaceAll('/', '-');
  return join(await bundled(name, { [name]: entry }), `${name}.js`);
}

/** Whether this process has made the folder, which only one can. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
