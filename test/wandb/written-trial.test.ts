import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTrial } from '../../src/wandb/sweep-book.js';
import { removeFolder } from '../remove-folder.js';

const fixtures = join(import.meta.dirname, '../fixtures/metrics');
const fixture = 'wandb/wandb/offline-run-20261122_142543-fixture1/run-fixture1.wandb';
const defined = 'wandb-defined/wandb/offline-run-20261128_152653-defined1/run-defined1.wandb';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'trial-'))));
afterEach(() => removeFolder(directory));

/** The file of a run as wandb leaves it, in a folder of this time. */
function write(run: string, time: string, from: string): void {
  const folder = join(directory, `wandb/offline-run-${time}-${run}`);
  mkdirSync(folder, { recursive: true });
  cpSync(join(fixtures, from), join(folder, `run-${run}.wandb`));
}

describe('a run of a sweep inside a program', () => {
  it('has ended as its file says, with the values that it has written', () => {
    write('lr0.1', '20260101_000000', fixture);
    expect(readTrial(directory, 'lr0.1', 'loss')).toEqual({
      state: 'done',
      values: { min: 0.325, max: 2.125, last: 0.325 },
    });
    expect(readTrial(directory, 'lr0.1', 'absent')).toEqual({ state: 'done', values: null });
    expect(readTrial(directory, 'lr0.1', null)).toEqual({ state: 'done', values: null });
  });

  it('is the last of several of its id, and no other whose id ends like it', () => {
    write('lr0.1', '20260101_000000', fixture);
    write('lr0.1', '20260101_000001', defined);
    write('other-lr0.1', '20260101_000002', fixture);
    expect(readTrial(directory, 'lr0.1', 'best_acc').values).toMatchObject({ last: expect.closeTo(0.91) as number });
  });

  it('runs while it has no file, or one without an end', () => {
    expect(readTrial(directory, 'lr0.1', 'loss')).toEqual({ state: 'running', values: null });
    const folder = join(directory, 'wandb/offline-run-20260101_000000-lr0.1');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'run-lr0.1.wandb'), '');
    expect(readTrial(directory, 'lr0.1', 'loss')).toEqual({ state: 'running', values: null });
  });
});
