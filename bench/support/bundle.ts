import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { yogaWithoutFetch } from '../../scripts/yoga-without-fetch.js';

// dist/ when bundled, bench/support/ in the source tree.
const here = dirname(fileURLToPath(import.meta.url));
const root = here.endsWith('support') ? dirname(dirname(here)) : dirname(here);

/** Makes one file of a program, as it is shipped; gives its path. */
export async function bundle(folder: string, entry: string, name: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minify: true,
    keepNames: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    alias: { 'react-devtools-core': join(root, 'scripts/no-devtools.js') },
    plugins: [yogaWithoutFetch],
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
    logLevel: 'error',
  });
  return outfile;
}
