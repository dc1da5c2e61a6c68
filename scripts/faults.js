/**
 * `npm run faults [KILLS [SEED]]`: kills the supervisor again and again with a hundred runs alive, and calls every run to
 * account. `npm test` does the same with fewer kills. Exit code 1 if anything was lost, doubled, misreported or left behind.
 */
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [kills = 500, seed = 1] = process.argv.slice(2).map(Number);
process.chdir(root);

// Below the root, so that the packages it needs are found.
const outfile = join(root, 'dist', `faults-${process.pid}.mjs`);
await build({
  entryPoints: ['test/faults/ordeal.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
});
const { ordeal } = await import(pathToFileURL(outfile).href).finally(() => rmSync(outfile));
const figure = await ordeal({ kills, short: kills * 3, seed });

const deaths = Object.entries(figure.deaths);
const width = Math.max(...deaths.map(([where]) => where.length));
console.log(deaths.map(([where, count]) => `  ${where.padEnd(width)} ${String(count).padStart(4)}`).join('\n'));
for (const violation of figure.violations) console.log(`  VIOLATED: ${violation}`);
console.log(
  `${figure.kills} kills -9 of the supervisor, ${figure.runs} runs, at least ${figure.alive} of them alive at each kill by ` +
    `the clock, ${figure.seconds.toFixed(0)} s, seed ${seed}: ${figure.violations.length} violations`,
);
process.exit(figure.violations.length === 0 ? 0 : 1);
