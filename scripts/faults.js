/**
 * `npm run faults [KILLS [SEED]]`: kills supervisors, clients, and the shims, commands and groups of runs, again and again with
 * a hundred runs alive, and does what else befalls them; then calls every run to account. `npm test` does the same with fewer
 * kills. Exit code 1 if anything was lost, doubled, misreported or left behind.
 *
 * `WITHOUT=NAME,…` leaves out kinds of faults, to look at others alone.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [kills = 2400, seed = 1] = process.argv.slice(2).map(Number);
process.chdir(root);

// The clients that are killed are those that are shipped.
const built = spawnSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
if (built.status !== 0) process.exit(built.status ?? 1);

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
const without = (process.env.WITHOUT ?? '').split(',').filter(Boolean);
// A hundred runs and more are not left behind when somebody has had enough.
const broken = new Promise((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => reject(new Error(`Ended by ${signal}: no verdict.`)));
});
const rounds = Math.max(1, Math.round(kills / 400));
// Of one turn, computed.
const computingMs = 50;
const files = 10_000;
const keep = join(tmpdir(), `faults-${process.pid}`);
const figure = await ordeal({ kills, rounds, seed, without, broken, computingMs, files, keep }).catch((error) => {
  console.error(/no verdict/.test(error.message) ? error.message : error);
  process.exit(1);
});

const counts = [...Object.entries(figure.deaths), ...Object.entries(figure.kills)];
const width = Math.max(...counts.map(([what]) => what.length));
const table = (of) => Object.entries(of).map(([what, count]) => `  ${what.padEnd(width)} ${String(count).padStart(5)}`);
console.log(['kill -9', ...table(figure.kills), 'supervisors, at', ...table(figure.deaths)].join('\n'));
for (const trial of figure.trials) console.log(`besides: ${trial}`);
for (const reason of figure.skipped) console.log(`SKIPPED: ${reason}`);
for (const violation of figure.violations) console.log(`VIOLATED: ${violation}`);
const total = Object.values(figure.kills).reduce((sum, count) => sum + count, 0);
const told = ({ ms, computedMs }) => `${ms.toFixed(0)} ms (${computedMs?.toFixed(0) ?? '?'} ms of computing)`;
const { longest, computing } = figure.turns ?? {};
const turns =
  longest === undefined ? 'not measured' : `${told(longest)}, the one that computed most ${told(computing)}`;
console.log(
  `${total} kills, ${figure.runs} runs, at least ${figure.alive} of them alive at each kill of a supervisor by the clock, ` +
    `longest turn of a supervisor ${turns}, ${figure.seconds.toFixed(0)} s, seed ${seed}: ${figure.violations.length} violations`,
);
if (figure.violations.length > 0) console.log(`Their files: ${keep}`);
process.exit(figure.violations.length === 0 ? 0 : 1);
