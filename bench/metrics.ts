import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { LogRows } from '../src/metrics/formats/log/log-rows.js';
import { openOutlinedMetrics } from '../src/metrics/outlined-metrics.js';
import { openReaderThread } from '../src/supervisor/reading/reader-link.js';
import { Watcher } from '../src/supervisor/runs/watcher.js';
import { plan } from '../test/supervisor/testbed.js';
import { busyLines } from './support/busy.js';
import { event } from './support/event-file.js';
import { median } from './support/quantile.js';

const RUNS = 500;
const SECONDS = 10;
/** What stands in each file at first. */
const FIRST_ROWS = 20;
/** Until all runs have been found and are followed. */
const SETTLING_MS = 4000;
const budget = { core: 0.05, megabytes: 150, firstCurveMs: 300, lineMs: 4 };

/**
 * Metrics of foreign programs: 500 runs of mixed formats that write a row a second each, followed by the supervisor's watcher; and
 * the two largest files a person may open, in the window. In memory (/dev/shm) where there is one.
 */
export async function benchMetrics(): Promise<string[]> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'memrl-metrics-'));
  try {
    return [
      ...(await growing(join(folder, 'growing'))),
      ...large(join(folder, 'lines'), '2 GB of JSON lines', 'metrics.jsonl', 'lines'),
      ...large(join(folder, 'events'), '1 GB of TensorBoard events', 'events.out.tfevents.1', 'events'),
      longestLine(),
      ...busyLines(),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What printed lines may be made of, again and again to their longest. */
const units = [
  ...['a=1 ', 'a: 1 ', 'a 1 ', '1/2 ', '[a', '[a]', '(a)', 'a (b 1) ', 'e1:1, a=1 ', 'a. A: 1. ', 'loss[a=1] ', '{"a":1} ', "{'a': 1} "],
  ...['12:00:00 ', '[INFO] ', '1%|', '| a ', '[==> ', '1it [1, ', 'A_A=', '\u001b[1m', 'epoch 1 ', '- ', 'x/y:1 '],
]; // prettier-ignore
const LONGEST_LINE = 8192;
const TIMES = 5;

/** The processor time of the slowest of them, each as the fastest of a few times. */
function longestLine(): string {
  const slowest = units
    .flatMap((unit) => ['', 'step 1: ', 'x=1 '].map((head) => head + unit.repeat(LONGEST_LINE)))
    .map((text) => text.slice(0, LONGEST_LINE))
    .map((line) => ({ line, ms: Math.min(...Array.from({ length: TIMES }, () => readingMs(line))) }))
    .reduce((worst, each) => (each.ms > worst.ms ? each : worst));
  return (
    `a printed line of 8 KB: at most ${slowest.ms.toFixed(1)} ms of computing (${JSON.stringify(slowest.line.slice(0, 24))}…); ` +
    `budget ${budget.lineMs} ms: ${verdict(slowest.ms <= budget.lineMs)}`
  );
}

function readingMs(line: string): number {
  const rows = new LogRows();
  const before = process.cpuUsage();
  rows.take(line);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** What one more row is, by format. `first`: what stands before all rows. */
const formats: readonly { file: string; first: string; row: (step: number) => string | Buffer }[] = [
  { file: 'metrics.jsonl', first: '', row: (step) => `{"step": ${step}, "loss": ${1 / (1 + step)}, "lr": 0.001}\n` },
  {
    file: 'logs/history.jsonl',
    first: '',
    row: (step) => `{"global_step": ${step}, "eval": {"acc": ${step / 1e4}}}\n`,
  },
  { file: 'progress.csv', first: 'step,loss,reward\n', row: (step) => `${step},${1 / (1 + step)},${step}\n` },
  { file: 'tb/run/events.out.tfevents.1', first: '', row: (step) => event('loss', 1 / (1 + step), step) },
  {
    file: 'output.log',
    first: '',
    row: (step) => `{'loss': '${(1 / (1 + step)).toFixed(4)}', 'epoch': '${step / 100}'}\n`,
  },
];

/** The supervisor's part: what is computed here is all it does about metrics. What the runs cost is not measured. */
async function growing(folder: string): Promise<string[]> {
  const runs = plan(
    folder,
    'growing',
    Array.from({ length: RUNS }, () => ({})),
  ).runs;
  const toldAt = new Map<string, number>();
  let longestGap = 0;
  const changed = (id: string) => {
    longestGap = Math.max(longestGap, performance.now() - (toldAt.get(id) ?? Infinity));
    toldAt.set(id, performance.now());
  };
  const news = { changed, recalled: () => undefined, ruleMet: () => undefined };
  const troubles = { targetReached: () => undefined, hindered: () => undefined, log: console.log };
  // As the shipped supervisor has it: the bench lies beside it.
  const files = join(tmpdir(), `memrl-reader-${process.pid}`);
  const openReader = openReaderThread(new URL('./reader-thread.js', import.meta.url), {
    judgedFile: `${files}-judged.json`,
    summaries: `${files}-summaries`,
  });
  const watcher = new Watcher({ ...news, ...troubles, now: () => performance.now() }, openReader);
  for (const run of runs) watcher.watch(run, 1, performance.now());
  const writer = startWriter(runs.map(({ directory }, index) => startedFile(directory, index)));
  await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
  longestGap = 0;
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
  const { user, system } = process.cpuUsage(before);
  writer.kill();
  const behind = runs.filter(({ id }) => Object.keys(watcher.vitals(id).metrics).length === 0).length;
  await watcher.close();
  if (behind > 0) throw new Error(`${behind} of ${RUNS} runs were not read`);
  const core = (user + system) / 1e6 / SECONDS;
  return [
    `${RUNS} growing files of ${formats.length} formats, a row a second each: ${(core * 100).toFixed(1)} % of a core; ` +
      `budget ${budget.core * 100} %: ${verdict(core <= budget.core)}; what a run wrote is known after ${(longestGap / 1000).toFixed(1)} s at the latest`,
  ];
}

/** The first rows of one more run, and where the next are to be written. */
function startedFile(directory: string, index: number): string {
  const { file, first, row } = formatOf(index);
  const path = join(directory, file);
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, first);
  for (let step = 0; step < FIRST_ROWS; step++) appendFileSync(path, row(step));
  return path;
}

function startWriter(paths: readonly string[]): ChildProcess {
  const call = `import(${JSON.stringify(import.meta.url)}).then(({ writers }) => writers.growing(${JSON.stringify(paths)}))`;
  return spawn(process.execPath, ['--input-type=module', '-e', call], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** A row a second in each file, all the second through. */
function writeGrowing(paths: readonly string[]): void {
  let writes = 0;
  const begun = performance.now();
  setInterval(() => {
    const due = Math.floor(((performance.now() - begun) / 1000) * paths.length);
    for (; writes < due; writes++) {
      const index = writes % paths.length;
      appendFileSync(paths[index]!, formatOf(index).row(FIRST_ROWS + Math.floor(writes / paths.length)));
    }
  }, 10);
}

function formatOf(index: number): (typeof formats)[number] {
  return formats[index % formats.length]!;
}

function large(run: string, what: string, file: string, writer: keyof typeof writers): string[] {
  mkdirSync(run);
  const path = join(run, file);
  // In a process of its own, for the memory of this one is measured.
  const call = `import(${JSON.stringify(import.meta.url)}).then(({ writers }) => writers.${writer}(${JSON.stringify(path)}))`;
  execFileSync(process.execPath, ['--input-type=module', '-e', call]);
  const start = performance.now();
  const log = openOutlinedMetrics(run);
  const turns: number[] = [];
  let first = NaN;
  let most = 0;
  while (log.more) {
    const begun = performance.now();
    log.refresh();
    turns.push(performance.now() - begun);
    if (Number.isNaN(first) && log.series('loss').y.length > 1) first = performance.now() - start;
    if (turns.length % 64 === 0) most = Math.max(most, process.memoryUsage.rss());
  }
  const all = (performance.now() - start) / 1000;
  const megabytes = most / 1e6;
  const size = statSync(path).size / 1e6;
  rmSync(run, { recursive: true });
  return [
    `${what} (${size.toFixed(0)} MB): first curve after ${first.toFixed(0)} ms, budget ${budget.firstCurveMs} ms: ${verdict(first <= budget.firstCurveMs)}; ` +
      `process at most ${megabytes.toFixed(0)} MB, budget ${budget.megabytes} MB: ${verdict(megabytes <= budget.megabytes)}`,
    `  all of it after ${all.toFixed(1)} s (${(size / all).toFixed(0)} MB/s), in ${turns.length} turns of median ${median(turns).toFixed(1)} ms`,
  ];
}

function verdict(isHeld: boolean): string {
  return isHeld ? 'held' : 'MISSED';
}

const keys = ['loss', ...Array.from({ length: 15 }, (_, index) => `train/metric_${index}`)];

function writeLines(path: string): void {
  const descriptor = openSync(path, 'w');
  for (let step = 0, written = 0; written < 2e9;) {
    let text = '';
    for (let row = 0; row < 5000; row++, step++)
      text += `{"step": ${step}, ${keys.map((key, index) => `"${key}": ${Math.sin(step * 1e-4 + index)}`).join(', ')}}\n`;
    written += writeSync(descriptor, text);
  }
  closeSync(descriptor);
}

function writeEvents(path: string): void {
  const descriptor = openSync(path, 'w');
  for (let step = 0, written = 0; written < 1e9;) {
    const events: Buffer[] = [];
    for (let row = 0; row < 2000; row++, step++)
      for (const [index, key] of keys.entries()) events.push(event(key, Math.sin(step * 1e-4 + index), step));
    written += writeSync(descriptor, Buffer.concat(events));
  }
  closeSync(descriptor);
}

/** Called by name in another process. */
export const writers = { lines: writeLines, events: writeEvents, growing: writeGrowing };
