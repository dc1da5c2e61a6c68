import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMetrics, type RunMetrics } from '../../src/metrics/run-metrics.js';
import { removeFolder } from '../remove-folder.js';

/**
 * What Lightning itself has written: killed after 25 steps, resumed by `ckpt_path` from step 20, killed at 55, resumed from step 50
 * until step 79. The events are those of the same runs.
 */
const fixtures = join(import.meta.dirname, '../fixtures/metrics');
const attempts = [0, 1, 2].map((version) => `lightning_logs/version_${version}`);

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'lightning-'))));
afterEach(() => removeFolder(directory));

const reading = () => openMetrics(directory, { places: { folders: [], patterns: {} } });

type Points = ReadonlyMap<number, number>;

/** The points of a metric: those of later attempts in place of earlier ones. */
function pointsIn(paths: readonly string[], name: string): Points {
  const points = new Map<number, number>();
  for (const path of paths) {
    const [head, ...rows] = readFileSync(path, 'utf8').trim().split(/\r?\n/);
    const [step, value] = ['step', name].map((title) => head!.split(',').indexOf(title)) as [number, number];
    const cells = rows.map((row) => row.split(',')).filter((row) => row[value] !== '');
    const from = Number(cells[0]?.[step] ?? Infinity);
    for (const x of [...points.keys()]) if (x >= from) points.delete(x);
    for (const row of cells) points.set(Number(row[step]), Number(row[value]));
  }
  return points;
}

const curve = (metrics: RunMetrics, name: string): Points => {
  const { x, y } = metrics.series(name);
  return new Map(Array.from(x, (at, index) => [at, y[index]!]));
};

const tables = attempts.map((attempt) => join(fixtures, 'lightning-resumed', attempt, 'metrics.csv'));

describe('a run of Lightning that was resumed twice', () => {
  it('is one curve over its three tables, also while these come one after the other', () => {
    const metrics = reading();
    for (const [index, attempt] of attempts.entries()) {
      cpSync(join(fixtures, 'lightning-resumed', attempt), join(directory, attempt), { recursive: true });
      metrics.readNow();
      for (const name of ['loss', 'val_loss'])
        expect(curve(metrics, name)).toEqual(pointsIn(tables.slice(0, index + 1), name));
    }
    expect(metrics.keys().filter((key) => key.includes('loss'))).toEqual(['loss', 'val_loss']);
    expect(metrics.series('loss').x).toHaveLength(80);
    expect([...metrics.series('val_loss').x]).toEqual([9, 19, 29, 39, 49, 59, 69, 79]);
    expect(curve(reading().readNow(), 'loss')).toEqual(pointsIn(tables, 'loss'));
  });
});
