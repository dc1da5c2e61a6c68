import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openTerminal } from '../scripts/terminal.js';
import { busyLines } from './support/busy.js';
import { cpuSeconds, residentMegabytes } from './support/process-figures.js';
import { quantile } from './support/quantile.js';
import { type Amount, writeRuns } from './support/written-runs.js';

const race: Amount = { runs: 100, metrics: 20, points: 10_000 };
const many: Amount = { runs: 5000, metrics: 5, points: 50 };
const ROUNDS = 2;
const KEYS = 40;
const [COLUMNS, ROWS] = [140, 45];
/** A program that has used so little of a core for so long has read all there is. */
const [QUIET_SHARE, QUIET_MS] = [0.1, 3000];
/** Runs that TensorBoard's loader in Python reads: it takes as long for each. */
const PYTHON_RUNS = 2;

/** A viewer in a terminal. `first`: what its first picture has; `select`: keys that show the curves of all runs. */
type Viewer = {
  readonly name: string;
  readonly words: readonly string[];
  readonly first: RegExp;
  readonly select: readonly string[];
};
type Result = { first: number; curves: number; cpu: number; megabytes: number; keys: readonly number[] };

/**
 * Opening runs that other programs wrote: `memrl-tui view` beside W&B's leet on the same files, and beside TensorBoard's loaders on
 * the same runs as event files, in turns.
 *
 * Peers take part where they are named: `WANDB=…/bin/wandb` (0.31 or later), `TENSORBOARD=…/bin/python` with tensorboard installed.
 */
export async function benchView(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'memrl-view-'));
  try {
    writeRuns(join(folder, 'race'), race);
    writeRuns(join(folder, 'many'), many);
    const lines = [
      `${race.runs} runs × ${race.metrics} metrics × ${race.points.toLocaleString('en')} points, ${COLUMNS} × ${ROWS}`,
    ];
    for (let round = 0; round < ROUNDS; round++) lines.push(...(await oneRound(join(folder, 'race'))));
    const first = await firstPicture(ours(join(folder, 'many/tensorboard'), /5000 (done|running)/));
    lines.push(
      `${many.runs.toLocaleString('en')} runs: first picture after ${first.seconds.toFixed(2)} s, ${first.cpu.toFixed(2)} s of CPU`,
    );
    return [...lines, ...busyLines()];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function oneRound(folder: string): Promise<string[]> {
  const { WANDB: wandb, TENSORBOARD: python } = process.env;
  const [records, events] = [join(folder, 'wandb'), join(folder, 'tensorboard')];
  const leet = {
    name: 'leet, W&B files',
    words: [wandb ?? '', 'leet', records],
    first: /Runs \[/,
    select: selecting(race.runs),
  };
  return [
    line('memrl-tui view, W&B files', await measure(ours(records, /lr0\.1/))),
    ...(wandb === undefined ? [] : [line(leet.name, await measure(leet))]),
    line('memrl-tui view, event files', await measure(ours(events, /lr0\.1/))),
    ...(python === undefined ? [] : [await dataServer(python, events), pythonLoader(python, events)]),
  ];
}

function ours(path: string, first: RegExp): Viewer {
  const words = [process.execPath, join(import.meta.dirname, 'memrl-tui.js'), 'view', path];
  return { name: 'memrl-tui', words, first, select: [] };
}

/** The first run is chosen already. */
function selecting(runs: number): string[] {
  return ['\u001b', ...Array.from({ length: runs - 1 }, () => ['\u001b[B', ' ']).flat()];
}

function opened({ words }: Viewer) {
  const [command, ...args] = words;
  const home = mkdtempSync(join(tmpdir(), 'memrl-view-home-'));
  const own = { HOME: home, MEMRL_CONFIG_DIR: home, WANDB_MODE: 'offline', TERM: 'xterm-256color', CI: undefined };
  const environment = { ...process.env, ...own };
  const begun = performance.now();
  const terminal = openTerminal({ command: command!, args, columns: COLUMNS, rows: ROWS, environment });
  const seconds = (): number => (performance.now() - begun) / 1000;
  const close = (): void => (terminal.close(), rmSync(home, { recursive: true, force: true }));
  const usage = (read: (pid: number) => number): number =>
    familyOf(terminal.pid).reduce((sum, pid) => sum + (read(pid) || 0), 0);
  return { terminal, seconds, close, cpu: () => usage(cpuSeconds), megabytes: () => usage(residentMegabytes) };
}

type Opened = ReturnType<typeof opened>;

async function firstPicture(viewer: Viewer): Promise<{ seconds: number; cpu: number }> {
  const open = opened(viewer);
  try {
    await open.terminal.waitFor((lines) => lines.some((text) => viewer.first.test(text)), 120_000);
    return { seconds: open.seconds(), cpu: open.cpu() };
  } finally {
    open.close();
  }
}

async function measure(viewer: Viewer): Promise<Result> {
  const open = opened(viewer);
  try {
    const hasCurve = (text: string): boolean => /[\u2801-\u28ff]/.test(text);
    await open.terminal.waitFor(
      (lines) => lines.some((text) => viewer.first.test(text)) && lines.some(hasCurve),
      120_000,
    );
    const first = open.seconds();
    if (viewer.select.length > 0) await quietSince(open);
    for (const key of viewer.select) {
      open.terminal.write(key);
      await pause(15);
    }
    const curves = await quietSince(open);
    const read = { first, curves, cpu: open.cpu(), megabytes: open.megabytes() };
    return { ...read, keys: await keyTimes(open) };
  } finally {
    open.close();
  }
}

/** When the program had done all that it had to do, s. */
async function quietSince({ cpu, seconds }: Opened): Promise<number> {
  let since = seconds();
  for (let before = cpu(); seconds() - since < QUIET_MS / 1000;) {
    await pause(500);
    const now = cpu();
    if (now - before > 0.5 * QUIET_SHARE) since = seconds();
    before = now;
  }
  return since;
}

/** From each key to the frame after it, ms. */
async function keyTimes({ terminal }: Opened): Promise<number[]> {
  const times: number[] = [];
  for (let key = 0; key < KEYS; key++) {
    await pause(80 + ((key * 37) % 40));
    const begun = performance.now();
    const drawn = new Promise<void>((resolve) => {
      const stop = terminal.onDrawn(() => (stop(), resolve()));
    });
    terminal.write(key % 2 === 0 ? '\u001b[B' : '\u001b[A');
    await drawn;
    times.push(performance.now() - begun);
  }
  return times;
}

function line(name: string, { first, curves, cpu, megabytes, keys }: Result): string {
  const key = [0.5, 0.95].map((share) => quantile(keys, share).toFixed(0)).join(' / ');
  return (
    `  ${name.padEnd(28)} first curve ${first.toFixed(2)} s, all curves ${curves.toFixed(1)} s (${cpu.toFixed(1)} s of CPU), ` +
    `${megabytes.toFixed(0)} MB, key p50 / p95 ${key} ms`
  );
}

/** TensorBoard's data server, which its web page asks; it samples 1,000 points of each curve. */
async function dataServer(python: string, logs: string): Promise<string> {
  const binary = execFileSync(python, ['-c', 'import tensorboard_data_server as t; print(t.server_binary())'], {
    encoding: 'utf8',
  });
  const begun = performance.now();
  const server = spawn(binary.trim(), ['--logdir', logs, '--port', '0', '-v'], { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    let said = '';
    for await (const text of server.stderr) if ((said += String(text)).includes('Finished load cycle')) break;
    const seconds = (performance.now() - begun) / 1000;
    const [cpu, megabytes] = [cpuSeconds(server.pid!), residentMegabytes(server.pid!)];
    return `  ${"TensorBoard's data server".padEnd(28)} all curves ${seconds.toFixed(1)} s (${cpu.toFixed(1)} s of CPU), ${megabytes.toFixed(0)} MB, without a window`;
  } finally {
    server.kill('SIGKILL');
  }
}

/** TensorBoard's loader in Python, which its own programs and scripts use. */
function pythonLoader(python: string, logs: string): string {
  const program = [
    'import sys, os, resource',
    'from tensorboard.backend.event_processing import event_accumulator as e',
    'for name in sys.argv[2:]: e.EventAccumulator(os.path.join(sys.argv[1], name), size_guidance={e.SCALARS: 10000}).Reload()',
    'u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime)',
  ].join('\n');
  const runs = readdirSync(logs).slice(0, PYTHON_RUNS);
  const cpu = Number(execFileSync(python, ['-c', program, logs, ...runs], { encoding: 'utf8' }));
  const all = (cpu / PYTHON_RUNS) * race.runs;
  return `  ${"TensorBoard's EventAccumulator".padEnd(30)} ${all.toFixed(0)} s of CPU, by ${PYTHON_RUNS} runs`;
}

/** A process and those that it has started. */
function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = parentOf(name);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (one: number): number[] => [one, ...(children.get(one) ?? []).flatMap(below)];
  return below(pid);
}

function parentOf(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1]);
  } catch {
    return -1;
  }
}
