import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMetrics, type RunMetrics } from '../../../src/metrics/run-metrics.js';
import { removeFolder } from '../../remove-folder.js';

const fixture = join(import.meta.dirname, '../../fixtures/metrics/wandb-resumed');
let run: string;
beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), 'in-turn-'));
  cpSync(fixture, run, { recursive: true });
});
afterEach(() => removeFolder(run));

const files = () =>
  readdirSync(run, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.wandb'))
    .sort()
    .map((path) => join(run, path));
const open = (listener?: { row: (row: object) => void; restart: () => void }) =>
  openMetrics(run, { places: { folders: [], patterns: {} }, ...(listener && { listener }) });
const losses = (metrics: RunMetrics) => [...metrics.series('loss').y];
const first = [0, 1, 2, 3, 4, 5];
const second = Array.from({ length: 10 }, (_, step) => 106 + step);

describe('files of attempts at one run', () => {
  it('are one curve, that of the later attempt from where it began', () => {
    expect(losses(open().readNow())).toEqual([...first, ...second]);
  });

  it('are told in the order in which they were written, in parts however small', () => {
    const told: unknown[] = [];
    const metrics = open({ row: (row) => void told.push((row as { loss: number }).loss), restart: () => told.push('restart') }); // prettier-ignore
    do metrics.refresh(64);
    while (metrics.more);
    expect(told).toEqual([...Array(10).keys(), ...second]);
  });

  it('are all told again when one of them is written anew', () => {
    const [earlier, later] = files();
    const whole = readFileSync(later!);
    writeFileSync(later!, whole.subarray(0, whole.length / 2));
    const metrics = open({ row: () => undefined, restart: () => undefined }).readNow();
    expect(losses(metrics).slice(0, 6)).toEqual(first);
    // Another run: the loss of the first attempt.
    writeFileSync(later!, readFileSync(earlier!));
    expect(losses(metrics.readNow())).toEqual([...first, 6, 7, 8, 9]);
    writeFileSync(later!, whole);
    expect(losses(metrics.readNow())).toEqual([...first, ...second]);
  });

  it('are one source also when the second comes later', () => {
    const [, later] = files();
    const whole = readFileSync(later!);
    writeFileSync(later!, '');
    const metrics = open().readNow();
    expect(losses(metrics)).toEqual([...Array(10).keys()]);
    appendFileSync(later!, whole);
    expect(losses(metrics.readNow())).toEqual([...first, ...second]);
  });
});
