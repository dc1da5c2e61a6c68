/**
 * `npm run bench [NAME …] [-- --beside COMMIT …] [--rounds N] [--write]`: the budgets, measured here and now, each beside its peer or
 * its limit, and in the end one table of all: now, at the commit before, at the first published one (or at those that are named), wanted.
 * `--write` puts the table into docs/figures.md.
 *
 * Every file of bench/ exports one function `bench…(): Promise<string[]>` that gives the lines to print.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { readArguments } from './arguments.js';
import { compareBuilds, isInTable, writeTable } from './bench-table.js';
import { programOptions } from './program-options.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const all = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => basename(file, '.ts'));
const { values: options, positionals } = readArguments({
  beside: { type: 'string', multiple: true },
  rounds: { type: 'string', default: '1' },
  write: { type: 'boolean', default: false },
});
const unknown = positionals.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`No bench named ${unknown.join(', ')}.\n\n→ Choose among: ${all.join(', ')}.`);
  process.exit(2);
}
const names = all.filter((bench) => positionals.length === 0 || positionals.includes(bench));

console.log(`${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}\n`);
if (process.env.BENCH_ALONE === '1') await runHere(names);
else await runBeside();

async function runBeside() {
  const inTable = names.filter(isInTable);
  await runHere(names.filter((name) => !isInTable(name)));
  if (inTable.length === 0) return;
  const lines = compareBuilds(root, inTable, {
    commits: options.beside ?? [before(), '0c54fb9'],
    rounds: Number(options.rounds),
    onFirst: (text) => console.log(text),
  });
  console.log(lines.join('\n'));
  if (options.write) writeTable(join(root, 'docs/figures.md'), lines);
}

/** What the working tree is compared with: the last commit, or the one before it where nothing has been changed since. */
function before() {
  const changes = execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], {
    cwd: root,
    encoding: 'utf8',
  });
  return changes === '' ? 'HEAD^' : 'HEAD';
}

async function runHere(benches) {
  for (const name of benches) await runBench(name);
}

async function runBench(name) {
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
