/**
 * `npm run bench [NAME …]`: the budgets, measured here and now, each beside its peer or its limit.
 *
 * Every file of bench/ exports one function `bench…(): Promise<string[]>` that gives the lines to print.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { programOptions } from './program-options.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wanted = process.argv.slice(2);
const benches = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => basename(file, '.ts'));
const unknown = wanted.filter((name) => !benches.includes(name));
if (unknown.length > 0) {
  console.error(`No bench named ${unknown.join(', ')}.\n\n→ Choose among: ${benches.join(', ')}.`);
  process.exit(2);
}

console.log(`${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}\n`);
for (const name of benches.filter((bench) => wanted.length === 0 || wanted.includes(bench))) {
  // Beside the shipped bundles, so that what they look for next to themselves (kernels.wasm) is found.
  const outfile = join(root, 'dist', `bench-${name}.js`);
  mkdirSync(dirname(outfile), { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: [`bench/${name}.ts`],
    outfile,
    ...programOptions,
    external: ['@lydell/node-pty', '@xterm/headless', 'esbuild'],
    logLevel: 'warning',
  });
  const exported = await import(pathToFileURL(outfile).href);
  console.log(`── ${name} ${'─'.repeat(Math.max(0, 70 - name.length))}`);
  for (const run of Object.values(exported).filter((value) => typeof value === 'function')) {
    console.log((await run()).join('\n'));
  }
  console.log();
  rmSync(outfile);
}
