import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { busyLines } from './support/busy.js';
import { endSupervisor, ownDist, privateEnvironment } from './support/measured-build.js';
import { endedChildrenSeconds } from './support/process-figures.js';
import { quantile } from './support/quantile.js';

const ROUNDS = 9;

/** Limits are multiples of what Node needs to do nothing. */
const commands = [
  { what: 'memrl-tui --version', program: 'memrl-tui.js', words: ['--version'], limit: 1.25 },
  { what: 'memrl-tui ls, an empty runs directory', program: 'memrl-tui.js', words: ['ls'], limit: 1.8 },
  { what: 'memrl-tui abcd --dry-run', program: 'memrl-tui.js', words: ['ABCD', '--dry-run'], limit: 4 },
  { what: 'memrl --help', program: 'memrl.js', words: ['--help'], limit: 1.8 },
] as const;

type Cost = { readonly cpu: number; readonly wall: number };

/** What commands that only say something cost, in turns with Node doing nothing; and the size of what is shipped. */
export async function benchCommands(): Promise<string[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'memrl-commands-')));
  try {
    return [...(await commandLines(folder)), sizeLine(), ...busyLines()];
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function commandLines(folder: string): Promise<string[]> {
  const costs = commands.map((): Cost[] => []);
  const bare: Cost[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const node = costOf(folder, ['-e', '0']);
    const each = commands.map(({ program, words }) => costOf(folder, [join(ownDist(), program), ...words.map(inFull)]));
    // The first round fills the caches of the disk.
    if (round === 0) continue;
    bare.push(node);
    each.forEach((cost, index) => costs[index]!.push(cost));
  }
  const node = meanCpu(bare);
  return [
    `CPU time of a whole process, mean of ${ROUNDS}; Node doing nothing: ${node.toFixed(0)} ms`,
    ...commands.map(({ what, limit }, index) => {
      const ratio = meanCpu(costs[index]!) / node;
      const least = quantile(
        costs[index]!.map(({ wall }) => wall),
        0,
      );
      return `${what}: ${meanCpu(costs[index]!).toFixed(0)} ms, ${ratio.toFixed(2)} × Node; wall ${least.toFixed(0)} ms at best; budget ${limit} ×: ${ratio <= limit ? 'held' : 'MISSED'}`;
    }),
  ];
}

function inFull(word: string): string {
  return word === 'ABCD' ? join(ownDist(), '../sweeps/abcd.yaml') : word;
}

/** Times in ms. Each command begins with a home and a runs directory in which there is nothing. */
function costOf(folder: string, words: readonly string[]): Cost {
  const cwd = mkdtempSync(join(folder, 'empty-'));
  mkdirSync(join(cwd, 'runs'));
  const before = { cpu: endedChildrenSeconds(), at: performance.now() };
  const { status, stderr } = spawnSync(process.execPath, words, {
    cwd,
    env: privateEnvironment(folder),
    encoding: 'utf8',
  });
  const cost = { wall: performance.now() - before.at, cpu: (endedChildrenSeconds() - before.cpu) * 1000 };
  endSupervisor(join(cwd, 'runs'));
  if (status !== 0) throw new Error(`${words.join(' ')} failed: ${stderr}`);
  return cost;
}

/** A mean, since the kernel counts the time of ended children in steps of 10 ms. */
function meanCpu(costs: readonly Cost[]): number {
  return costs.reduce((sum, { cpu }) => sum + cpu, 0) / costs.length;
}

/** Of what is shipped: parts of earlier builds stay for a while, and are named in a file. */
function sizeLine(): string {
  const list = join(ownDist(), '.npmignore');
  const kept = new Set(existsSync(list) ? readFileSync(list, 'utf8').split('\n') : []);
  const names = readdirSync(ownDist(), { recursive: true, encoding: 'utf8' }).filter((name) => !kept.has(`/${name}`));
  const files = names.map((name) => lstatSync(join(ownDist(), name))).filter((entry) => entry.isFile());
  const megabytes = files.reduce((sum, { size }) => sum + size, 0) / 1e6;
  return `dist: ${megabytes.toFixed(1)} MB; budget 5 MB: ${megabytes <= 5 ? 'held' : 'MISSED'}`;
}
