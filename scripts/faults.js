/**
 * `npm run faults [KILLS [SEED]]`: kills supervisors, clients, and the shims, commands and groups of runs, again and again with
 * a hundred runs alive, and does what else befalls them; then calls every run to account. Many kills are several ordeals, each
 * with a runs directory and a seed of its own, as a supervisor with thousands of ended runs is killed before it starts the next.
 * `npm test` does the same with fewer kills. Exit code 1 if anything was lost, doubled, misreported or left behind.
 *
 * `WITHOUT=NAME,…` leaves out kinds of faults, to look at others alone.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { readNumbers } from './arguments.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [kills, seed] = readNumbers([2400, 1]);
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
// Of one turn, computed.
const computingMs = 50;
const files = 10_000;
/** Kills of one ordeal, at most. */
const MOST_KILLS = 300;

const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);
const told = ({ ms, computedMs }) => `${ms.toFixed(0)} ms (${computedMs?.toFixed(0) ?? '?'} ms of computing)`;

async function undergone(share, ownSeed) {
  const keep = join(tmpdir(), `faults-${process.pid}-${ownSeed}`);
  const options = { kills: share, seed: ownSeed, without, broken, computingMs, files, keep };
  const figure = await ordeal(options).catch((error) => {
    console.error(/no verdict/.test(error.message) ? error.message : error);
    process.exit(1);
  });
  const counts = [...Object.entries(figure.deaths), ...Object.entries(figure.kills)];
  const width = Math.max(...counts.map(([what]) => what.length));
  const table = (of) =>
    Object.entries(of).map(([what, count]) => `  ${what.padEnd(width)} ${String(count).padStart(5)}`);
  console.log(['kill -9', ...table(figure.kills), 'supervisors, at', ...table(figure.deaths)].join('\n'));
  for (const trial of figure.trials) console.log(`besides: ${trial}`);
  for (const reason of figure.skipped) console.log(`SKIPPED: ${reason}`);
  for (const violation of figure.violations) console.log(`VIOLATED: ${violation}`);
  const { longest, computing } = figure.turns ?? {};
  const turns =
    longest === undefined ? 'not measured' : `${told(longest)}, the one that computed most ${told(computing)}`;
  console.log(
    `${sum(figure.kills)} kills, ${figure.runs} runs, at least ${figure.alive} of them alive at each kill of a supervisor by the clock, ` +
      `longest turn of a supervisor ${turns}, ${figure.seconds.toFixed(0)} s, seed ${ownSeed}: ${figure.violations.length} violations`,
  );
  if (figure.violations.length > 0) console.log(`Their files: ${keep}`);
  return figure;
}

const figures = [];
const ordeals = Math.max(1, Math.ceil(kills / MOST_KILLS));
for (let n = 0; n < ordeals; n++) figures.push(await undergone(Math.ceil(kills / ordeals), seed + n));
const all = (of) => figures.reduce((total, figure) => total + of(figure), 0);
const violations = all((figure) => figure.violations.length);
console.log(
  `in all ${all((figure) => sum(figure.kills))} kills, ${all(({ runs }) => runs)} runs, ` +
    `${all(({ seconds }) => seconds).toFixed(0)} s: ${violations} violations`,
);
process.exit(violations === 0 ? 0 : 1);
