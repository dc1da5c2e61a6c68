import { closeSync, existsSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOutlinedMetrics } from '../src/metrics/outlined-metrics.js';
import { openMetrics } from '../src/metrics/run-metrics.js';
import { busyLines } from './support/busy.js';
import { median } from './support/quantile.js';

const METRICS = 100;
const STEPS = 400_000;
/** Bytes read by the peer, which is too slow to be shown the whole file. */
const SAMPLE = 64 << 20;
const NEWLINE = 10;
const budget = { firstCurveMs: 300, turnMs: 8 };

/**
 * A run of 100 metrics over 400,000 steps, as the window reads it: from opening to the first curve, to the whole file, and
 * the longest that a key could have had to wait in between. Beside it `JSON.parse` of the same lines with nothing
 * kept, and the mere counting of newlines, which no reader can undercut. In memory (/dev/shm) where there is one.
 */
export async function benchLoad(): Promise<string[]> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'memrl-load-'));
  try {
    const path = join(folder, 'metrics.jsonl');
    generate(path);
    return results(folder, path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function results(run: string, path: string): string[] {
  const megabytes = statSync(path).size / 1e6;
  const limit = timed(() => countLines(path));
  const parse = timed(() => parseLines(path));
  const memory = process.memoryUsage.rss();
  const window = openInWindow(run);
  const grown = (process.memoryUsage.rss() - memory) / 1e6;
  const plain = timed(() => openMetrics(run).refresh(SAMPLE));
  const rate = (bytes: number, { cpu }: Cost): string => `${(bytes / 1e6 / (cpu / 1000)).toFixed(0)} MB a CPU second`;
  const held = window.firstCurve <= budget.firstCurveMs;
  const longest = Math.max(...window.turns);
  return [
    `${METRICS} metrics × ${STEPS.toLocaleString('en')} steps, ${megabytes.toFixed(0)} MB of JSON lines`,
    `first curve after ${window.firstCurve.toFixed(0)} ms; budget ${budget.firstCurveMs} ms: ${held ? 'held' : 'MISSED'}`,
    `all of it after ${(window.all / 1000).toFixed(1)} s in ${window.turns.length} turns of median ${median(window.turns).toFixed(1)} ms of CPU, ` +
      `longest ${longest.toFixed(0)} ms (a key may wait as long; budget ${budget.turnMs} ms, of the median); ${grown.toFixed(0)} MB of memory`,
    `  the window                     ${rate(megabytes * 1e6, window)}`,
    `  read in one go, all kept       ${rate(SAMPLE, plain)}`,
    `  JSON.parse alone, nothing kept ${rate(SAMPLE, parse)}`,
    `  counting newlines alone        ${rate(megabytes * 1e6, limit)}`,
    ...busyLines(),
  ];
}

type Cost = { all: number; cpu: number };

/** Wall and CPU time, ms. */
function timed(task: () => unknown): Cost {
  const [start, before] = [performance.now(), process.cpuUsage()];
  task();
  return { all: performance.now() - start, cpu: cpuSince(before) };
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** `turns`: CPU time of each part, ms. */
function openInWindow(run: string): Cost & { firstCurve: number; turns: number[] } {
  const start = performance.now();
  const log = openOutlinedMetrics(run);
  const turns: number[] = [];
  let firstCurve = NaN;
  const cost = timed(() => {
    while (log.more) {
      const before = process.cpuUsage();
      log.refresh();
      turns.push(cpuSince(before));
      if (Number.isNaN(firstCurve) && log.series('train/metric_7').y.length > 0) firstCurve = performance.now() - start;
    }
  });
  return { ...cost, firstCurve, turns };
}

function countLines(path: string): number {
  return eachChunk(path, Infinity, (chunk) => {
    let lines = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
    return lines;
  });
}

function parseLines(path: string): number {
  let rest = '';
  return eachChunk(path, SAMPLE, (chunk) => {
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = lines.pop()!;
    return lines.filter((line) => JSON.parse(line) !== null).length;
  });
}

function eachChunk(path: string, most: number, count: (chunk: Buffer) => number): number {
  const descriptor = openSync(path, 'r');
  const buffer = Buffer.alloc(1 << 20);
  let [total, read] = [0, 0];
  for (let length = 1; read < most && length > 0; read += length) {
    length = readSync(descriptor, buffer, 0, buffer.length, null);
    total += count(buffer.subarray(0, length));
  }
  closeSync(descriptor);
  return total;
}

/** Rows of 17 digits a number, as Python writes them; each of the metrics takes one of 64 values. */
function generate(path: string): void {
  const tails = Array.from({ length: 64 }, (_, row) =>
    Array.from(
      { length: METRICS },
      (_value, metric) => `, "train/metric_${metric}": ${Math.abs(Math.sin(row * 0.1 + metric))}`,
    ).join(''),
  );
  const descriptor = openSync(path, 'w');
  for (let step = 0; step < STEPS;) {
    const end = Math.min(STEPS, step + 1000);
    let text = '';
    for (; step < end; step++) text += `{"step": ${step}${tails[step % tails.length]!}}\n`;
    writeSync(descriptor, text);
  }
  closeSync(descriptor);
}
