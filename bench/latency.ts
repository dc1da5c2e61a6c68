import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { plainInk } from '../scripts/lean-ink.js';
import { bundle } from './support/bundle.js';
import { busyLines } from './support/busy.js';
import { DrivenProgram } from './support/driven-program.js';
import { cpuSeconds, residentMegabytes } from './support/process-figures.js';
import { quantile } from './support/quantile.js';

const budget = { p50: 2, p99: 16, cpu: 4, megabytes: 100 };
const keys = 40;
const warmUpMs = 1500;
const lookMs = 3000;
const down = '\u001b[B';
const updatesPerSecond = 10;

type Mode = 'painter' | 'ink' | 'none';
type Case = { runs: number; cols: number; rows: number };
type Usage = { cpu: number; rss: number; bytes: number };
type Result = Usage & { times: number[] };

const cases: Case[] = [
  { runs: 1000, cols: 120, rows: 40 },
  { runs: 1000, cols: 200, rows: 60 },
  { runs: 10_000, cols: 120, rows: 40 },
  { runs: 10_000, cols: 200, rows: 60 },
];

/**
 * From a key to the frame that answers it, through a real pseudo-terminal, while every run is updated ten times a second.
 * Beside it the same lines through Ink's own output, and what it costs the bench to make the updates, with no window.
 */
export async function benchLatency(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'memrl-latency-'));
  try {
    const entry = 'bench/programs/live-window.tsx';
    const program = await bundle(folder, entry, 'live-window');
    // Ink as it comes: ours is without what draws.
    const peer = await bundle(folder, entry, 'ink-window', { plugins: [plainInk] });
    const lines: string[] = [
      `key → frame, every run updated ${updatesPerSecond} times a second, ${keys} keys each`,
      '                                   p50      p95      p99      CPU      RSS     output',
    ];
    for (const each of cases) lines.push(...(await compare(program, peer, each)));
    const idle = await atRest(program, { runs: 1000, cols: 120, rows: 40 }, 'painter', 0);
    return [...lines, ...idleLines(idle), ...busyLines()];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function compare(program: string, inkProgram: string, { runs, cols, rows }: Case): Promise<string[]> {
  const where = { runs, cols, rows };
  const none = await atRest(program, where, 'none', updatesPerSecond);
  const ours = await measure(program, where, 'painter');
  const untouched = await atRest(program, where, 'painter', updatesPerSecond);
  const peer = await measure(inkProgram, where, 'ink');
  return [
    `${runs.toLocaleString('en')} runs, ${cols} × ${rows}`,
    line('control window', ours),
    line("same lines, Ink's output", peer),
    `  control window while no key is pressed: CPU ${untouched.cpu.toFixed(1)} %, RSS ${untouched.rss.toFixed(0)} MB`,
    `  the updates alone, without a window: CPU ${none.cpu.toFixed(1)} %, RSS ${none.rss.toFixed(0)} MB; ${verdict(ours, peer, none)}`,
  ];
}

/** The budget is stated for 1000 runs at 120 × 40; what the bench itself needs to make the updates is not the window's. */
function verdict(ours: Result, peer: Result, none: Usage): string {
  const [p50, p99] = [quantile(ours.times, 0.5), quantile(ours.times, 0.99)];
  const cpu = ours.cpu - none.cpu;
  const misses = [
    ...(p50 <= budget.p50 ? [] : [`p50 > ${budget.p50} ms`]),
    ...(p99 <= budget.p99 ? [] : [`p99 > ${budget.p99} ms`]),
    ...(cpu <= budget.cpu ? [] : [`${cpu.toFixed(1)} % CPU > ${budget.cpu} %`]),
    ...(ours.rss <= budget.megabytes ? [] : [`RSS > ${budget.megabytes} MB`]),
  ];
  const faster = (quantile(peer.times, 0.5) / p50).toFixed(1);
  return `p50 ${faster}× as fast as Ink; budget ${misses.length === 0 ? 'held' : `MISSED: ${misses.join(', ')}`}`;
}

function line(name: string, { times, cpu, rss, bytes }: Result): string {
  const shown = [0.5, 0.95, 0.99].map((share) => `${quantile(times, share).toFixed(1)} ms`.padStart(8));
  const rest = [`${cpu.toFixed(1)} %`, `${rss.toFixed(0)} MB`, `${(bytes / 1000).toFixed(0)} kB/s`];
  return `  ${name.padEnd(28)} ${[...shown, ...rest.map((text) => text.padStart(8))].join(' ')}`;
}

function idleLines({ cpu, bytes }: Usage): string[] {
  return [
    `1,000 running runs that publish nothing, 120 × 40: CPU ${cpu.toFixed(1)} %, ${(bytes / 1000).toFixed(1)} kB/s (the clock)`,
  ];
}

function start(program: string, { runs, cols, rows }: Case, mode: Mode, updates: number): DrivenProgram {
  return new DrivenProgram([program, mode, String(runs), String(updates)], { cols, rows });
}

async function measure(program: string, where: Case, mode: Mode): Promise<Result> {
  const child = start(program, where, mode, updatesPerSecond);
  try {
    await child.seen('k0.');
    await pause(warmUpMs);
    const times: number[] = [];
    const usage = await used(child, async () => {
      for (let key = 1; key <= keys; key++) {
        // Out of step with the updates: a multiple of their period would always meet the same moment.
        await pause(60 + ((key * 37) % 80));
        const begun = performance.now();
        const answered = child.seen(`k${key}.`);
        child.write(down);
        await answered;
        times.push(performance.now() - begun);
      }
    });
    return { times, ...usage };
  } finally {
    child.kill();
  }
}

/** What the program uses while no key is pressed. */
async function atRest(program: string, where: Case, mode: Mode, updates: number): Promise<Usage> {
  const child = start(program, where, mode, updates);
  try {
    await child.seen('k0.');
    await pause(warmUpMs);
    return await used(child, () => pause(lookMs));
  } finally {
    child.kill();
  }
}

/** `cpu`: percent of one core; `bytes`: a second; `rss`: MB at the end. */
async function used(child: DrivenProgram, task: () => Promise<void>): Promise<Usage> {
  const before = { bytes: child.bytes, cpu: cpuSeconds(child.pid), at: performance.now() };
  await task();
  const seconds = (performance.now() - before.at) / 1000;
  return {
    cpu: ((cpuSeconds(child.pid) - before.cpu) / seconds) * 100,
    rss: residentMegabytes(child.pid),
    bytes: (child.bytes - before.bytes) / seconds,
  };
}
