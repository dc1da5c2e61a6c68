import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openMetrics } from '../../../src/metrics/run-metrics.js';
import { countedProgress, limitsOf } from '../../../src/supervisor/reading/counted-progress.js';
import { removeFolder } from '../../remove-folder.js';

let run: string;
beforeEach(() => void (run = mkdtempSync(join(tmpdir(), 'counted-progress-'))));
afterEach(() => removeFolder(run));

const epochs = (...values: number[]) => values.map((epoch, index) => ({ step: index, epoch, loss: 1 / (index + 1) }));
const steps = (...values: number[]) => values.map((step) => ({ step, loss: 1 }));

it.each<{ when: string; parameters: Record<string, unknown>; rows: object[]; share: number | null }>([
  { when: 'epochs from 0, a row each', parameters: { epochs: 4 }, rows: epochs(0, 1), share: 0.5 },
  { when: 'epochs from 0, at the end', parameters: { epochs: 4 }, rows: epochs(0, 1, 2, 3), share: 1 },
  { when: 'epochs from 1, a row each', parameters: { num_epochs: 4 }, rows: epochs(1, 2), share: 0.5 },
  { when: 'epochs from 1, at the end', parameters: { 'trainer.max_epochs': 4 }, rows: epochs(1, 2, 3, 4), share: 1 },
  { when: 'one row of the first epoch: it may have more', parameters: { epochs: 4 }, rows: epochs(0), share: 0 },
  { when: 'several rows of each', parameters: { epochs: 2 }, rows: epochs(0, 0, 0, 0, 1), share: 0.625 },
  { when: 'several rows of each, at the end', parameters: { epochs: 2 }, rows: epochs(1, 1, 2, 2), share: 1 },
  { when: 'parts of epochs', parameters: { num_train_epochs: 3 }, rows: epochs(0.25, 0.5, 1.5), share: 0.5 },
  { when: 'an epoch beyond the total', parameters: { epochs: 4 }, rows: epochs(0, 1, 2, 3, 4), share: null },
  { when: 'epochs taken up later', parameters: { epochs: 10 }, rows: epochs(5, 6), share: null },
  {
    when: 'no epoch is logged',
    parameters: { epochs: 10 },
    rows: [
      { batch: 1, loss: 2 },
      { batch: 2, loss: 1 },
    ],
    share: null,
  },
  { when: 'steps from 0, at the end', parameters: { max_steps: 60 }, rows: steps(0, 30, 59), share: 1 },
  { when: 'steps from 1', parameters: { 'max-steps': 60 }, rows: steps(1, 30), share: 0.5 },
  { when: 'steps now and then', parameters: { total_timesteps: 100 }, rows: steps(10, 20), share: 0.2 },
  {
    when: 'timesteps beside the iterations of a loop (stable-baselines3)',
    parameters: { total_timesteps: 10_000 },
    rows: [1, 2].map((n) => ({ 'time/iterations': n, 'time/total_timesteps': 2048 * n, 'rollout/ep_rew_mean': n })),
    share: 0.4096,
  },
  { when: 'a rollout beyond the budget', parameters: { total_timesteps: 100 }, rows: steps(52, 104), share: 1 },
  { when: 'steps far beyond', parameters: { steps: 10 }, rows: steps(1, 50), share: null },
  { when: 'the steps of a rollout', parameters: { num_steps: 128 }, rows: steps(32, 64), share: null },
  { when: 'no limit', parameters: { max_steps: -1 }, rows: steps(1, 2), share: null },
  { when: 'a text', parameters: { max_steps: 'auto' }, rows: steps(1, 2), share: null },
  { when: 'two limits', parameters: { max_steps: 10, total_steps: 20 }, rows: steps(1, 2), share: null },
  { when: 'pairs that agree', parameters: { epochs: 2, max_steps: 4 }, rows: epochs(0, 0, 1), share: 0.75 },
  { when: 'pairs that do not', parameters: { epochs: 2, max_steps: 1000 }, rows: epochs(0, 0, 1), share: null },
])('$when: $share', ({ parameters, rows, share }) => {
  writeFileSync(join(run, 'metrics.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const metrics = openMetrics(run, { places: { folders: [], patterns: {} } }).readNow();
  const found = countedProgress(metrics, limitsOf(parameters as never));
  if (share === null) expect(found).toBeNull();
  else expect(found).toBeCloseTo(share, 10);
});
