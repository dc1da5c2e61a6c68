import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseRunValue, type RunValue } from '../../../src/analysis/run-value.js';
import { openMetrics } from '../../../src/metrics/run-metrics.js';
import { openWholeMetrics } from '../../../src/metrics/outlined-metrics.js';
import { keptFor, valuesOf } from '../../../src/report/run-values.js';
import { type CurveQuestion, RunCurves } from '../../../src/tui/model/run-curves.js';
import type { MetricReader, RunFilesPort, RunSummary, Series } from '../../../src/tui/state/port.js';
import { PATIENCE_MS } from '../../patience.js';
import { aRun, aSweep } from '../simulated-fleet.js';

const question: CurveQuestion = { metric: 'loss', values: ['mean=2'], hasTrend: true };

/** A run with this last loss; it goes on unless it is said to have ended. */
function measured(name: string, loss: number | null, over: Partial<RunSummary> = {}): RunSummary {
  return aRun(name, { state: 'running', attempt: 1, metrics: { loss }, spark: [9, 9], ...over });
}
const ended = { state: 'done', endedAt: 5 } as const;

/** Files in memory; `parts`: refreshes until all of one is read. */
class Files {
  readonly curves = new Map<string, Series>();
  readonly opened: string[] = [];
  parts = 1;

  write(run: RunSummary, y: readonly number[], x = y.map((_, index) => index)): void {
    this.curves.set(run.directory, { x: Float64Array.from(x), y: Float64Array.from(y) });
  }

  readonly port = {
    metrics: (directory: string) => this.#reader(directory, 'followed'),
    wholeMetrics: (directory: string) => this.#reader(directory, 'whole'),
  } as unknown as RunFilesPort;

  #reader(directory: string, how: string): MetricReader {
    this.opened.push(`${how} ${directory.at(-1)}`);
    let left = this.parts;
    return {
      get more() {
        return left > 0;
      },
      refresh: () => left-- > 0,
      keys: () => ['loss'],
      series: () => this.curves.get(directory)!,
    };
  }
}

describe('what the list reads off the curves of its runs', () => {
  let files: Files;
  let curves: RunCurves;
  let told = 0;
  beforeEach(() => {
    vi.useFakeTimers();
    told = 0;
    files = new Files();
    curves = new RunCurves(files.port, () => told++);
  });
  afterEach(() => {
    curves.close();
    vi.useRealTimers();
  });

  it('is nothing until it is asked for, and costs no reading', () => {
    const run = measured('a', 1);
    curves.want(null, [run], [aSweep()]);
    vi.advanceTimersByTime(5000);
    expect(curves.dressed(run)).toBe(run);
    expect(files.opened).toEqual([]);
  });

  it('is the value and the trend of that metric, and no other trend until these are known', () => {
    const run = measured('a', 1);
    files.write(run, [4, 3, 1]);
    curves.want(question, [run], [aSweep()]);
    expect(curves.dressed(run)).toMatchObject({ spark: [], curveValues: {} });
    vi.advanceTimersByTime(100);
    expect(curves.dressed(run)).toMatchObject({ spark: [4, 3, 1], curveValues: { 'mean=2': 2 } });
    expect(curves.dressed(run)).toBe(curves.dressed(run));
    expect(told).toBe(1);
  });

  it('leaves the trend that the supervisor tells where the metric is the usual one', () => {
    const run = measured('a', 1);
    files.write(run, [4, 3, 1]);
    curves.want({ ...question, hasTrend: false }, [run], [aSweep()]);
    vi.advanceTimersByTime(100);
    expect(curves.dressed(run)).toMatchObject({ spark: [9, 9], curveValues: { 'mean=2': 2 } });
  });

  it('keeps NaN and infinity, and has nothing of a curve that does not come so far', () => {
    const runs = [measured('a', null), measured('b', null), measured('c', 1)];
    [[1, NaN], [1, Infinity], [1]].forEach((y, index) => files.write(runs[index]!, y));
    curves.want({ ...question, values: ['at=1'] }, runs, [aSweep()]);
    vi.advanceTimersByTime(100);
    expect(runs.map((run) => curves.dressed(run).curveValues)).toEqual([{ 'at=1': NaN }, { 'at=1': Infinity }, {}]);
  });

  it('reads a run that has ended once, whole, and one that goes on again when the supervisor has heard of it', () => {
    let runs = [measured('a', 1), measured('b', 1, ended)];
    for (const run of runs) files.write(run, [3, 1]);
    curves.want(question, runs, [aSweep()]);
    vi.advanceTimersByTime(2500);
    expect(files.opened).toEqual(['followed a', 'whole b']);
    files.write(runs[0]!, [3, 1, 5]);
    vi.advanceTimersByTime(2500);
    expect(curves.dressed(runs[0]!).curveValues).toEqual({ 'mean=2': 2 });
    runs = [
      { ...runs[0]!, metrics: { loss: 5 } },
      { ...runs[1]!, metrics: { loss: 1 } },
    ];
    curves.want(question, runs, [aSweep()]);
    vi.advanceTimersByTime(1100);
    expect(curves.dressed(runs[0]!).curveValues).toEqual({ 'mean=2': 3 });
    expect(files.opened).toEqual(['followed a', 'whole b']);
    runs = [{ ...runs[0]!, ...ended }, runs[1]!];
    curves.want(question, runs, [aSweep()]);
    vi.advanceTimersByTime(1100);
    expect(files.opened).toEqual(['followed a', 'whole b', 'whole a']);
  });

  it('has nothing of a run that was begun anew and has written nothing yet', () => {
    const run = measured('a', 1, ended);
    files.write(run, [3, 1]);
    curves.want(question, [run], [aSweep()]);
    vi.advanceTimersByTime(100);
    const anew = { ...run, state: 'running', attempt: 2, metrics: {} } as const;
    curves.want(question, [anew], [aSweep()]);
    expect(curves.dressed(anew)).toMatchObject({ spark: [], curveValues: {} });
  });

  it('tells of a long file when all of it is read', () => {
    files.parts = 400;
    const run = measured('a', 1, ended);
    files.write(run, [3, 1]);
    curves.want(question, [run], [aSweep()]);
    vi.advanceTimersByTime(60);
    vi.runAllTicks();
    expect(curves.dressed(run).curveValues).toEqual({ 'mean=2': 2 });
    expect(told).toBe(1);
  });

  it('forgets what was asked before', () => {
    const run = measured('a', 1);
    files.write(run, [4, 3, 1]);
    curves.want(question, [run], [aSweep()]);
    vi.advanceTimersByTime(100);
    const { version } = curves;
    curves.want({ ...question, values: ['auc'] }, [run], [aSweep()]);
    expect(curves.version).toBeGreaterThan(version);
    expect(curves.dressed(run).curveValues).toEqual({});
    vi.advanceTimersByTime(100);
    expect(curves.dressed(run).curveValues).toEqual({ auc: 2.75 });
    curves.want(null, [run], [aSweep()]);
    expect(curves.dressed(run)).toBe(run);
  });
});

describe('beside report --value', () => {
  const folder = mkdtempSync(join(tmpdir(), 'memrl-run-curves-'));
  afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

  it.each(['at=1000', 'at=20000', 'mean=10', 'mean=9000', 'auc', 'min', 'max'])(
    'the value of a finished run is the same, to the last digit: %s',
    async (word) => {
      const directory = join(folder, 'a');
      mkdirSync(directory, { recursive: true });
      // More rows than the charts keep exactly.
      const rows = Array.from({ length: 20_000 }, (_, step) => ({
        step,
        episodes: 4 * step,
        loss: Math.sin(step) / 7,
      }));
      writeFileSync(join(directory, 'metrics.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const run = measured('a', rows.at(-1)!.loss, { ...ended, directory });
      const files = { metrics: openWholeMetrics, wholeMetrics: openWholeMetrics } as unknown as RunFilesPort;
      let isTold = false;
      const curves = new RunCurves(files, () => (isTold = true));
      curves.want({ metric: 'loss', values: [word], hasTrend: false }, [run], [aSweep()]);
      await vi.waitFor(() => expect(isTold).toBe(true), { timeout: PATIENCE_MS });
      curves.close();
      const value = parseRunValue(word) as RunValue;
      const metrics = openMetrics(directory, keptFor(value)).readNow();
      expect(curves.dressed(run).curveValues).toEqual({ [word]: valuesOf(metrics, { x: 'episodes', value })['loss'] });
    },
  );
});
