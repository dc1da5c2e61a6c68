import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions } from 'esbuild';
import { programOptions } from '../../scripts/program-options.js';

// dist/ when bundled, bench/support/ in the source tree.
const here = dirname(fileURLToPath(import.meta.url));
const root = here.endsWith('support') ? dirname(dirname(here)) : dirname(here);

/** Makes one file of a program, as it is shipped or otherwise; gives its path. */
export async function bundle(
  folder: string,
  entry: string,
  name: string,
  otherwise: BuildOptions = {},
): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    ...programOptions,
    ...otherwise,
    logLevel: 'error',
  });
  return outfile;
}
