import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { plannedRuns } from '../../src/cli/launch/read.js';
import { readArguments } from '../../src/lab/config/arguments.js';
import { trainKeys } from '../../src/lab/algorithms/train-settings.js';
import { keepConfig, openRunDirectory } from '../../src/lab/run/run-directory.js';
import { everyPoint } from '../../src/metrics/curve.js';
import { openMetrics } from '../../src/metrics/run-metrics.js';
import { expandSweep } from '../../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';
import { removeFolder } from '../remove-folder.js';

const runsDirectory = mkdtempSync(join(tmpdir(), 'source-results-'));
afterAll(() => removeFolder(runsDirectory));

/** As the source's `run_sweep.py --experiment-dir runs/abcd` leaves a run: the layout of tinker-cookbook. */
function left(name: string, checkpoints: readonly string[]): string {
  const directory = join(runsDirectory, 'abcd', name);
  mkdirSync(directory, { recursive: true });
  const builder = { batch_size: 1, group_size: 4, N: 1024, reward_type: 'binary', fixed_secret: 57 };
  const config = { learning_rate: 4e-5, dataset_builder: builder, model_name: 'meta-llama/Llama-3.1-8B', lora_rank: 8 };
  writeFileSync(join(directory, 'config.json'), JSON.stringify(config, null, 2));
  const row = (step: number) => ({ step, 'progress/batch': step, 'test/bits/known_raw_mean': step / 1000 });
  writeFileSync(
    join(directory, 'metrics.jsonl'),
    [0, 100, 200].map((step) => `${JSON.stringify(row(step))}\n`).join(''),
  );
  writeFileSync(join(directory, 'checkpoints.jsonl'), checkpoints.join('\n'));
  return directory;
}

const at = (name: string, batch: number) =>
  JSON.stringify({
    ...{ name, batch, state_path: `tinker://61ffdf2c:train:0/weights/${name}` },
    sampler_path: `tinker://61ffdf2c:train:0/sampler_weights/${name}`,
  });

describe('results of the source’s own run_sweep in the folder of the sweep', () => {
  const file = parseSweepFile(readFileSync('sweeps/abcd.yaml', 'utf8'), 'sweeps/abcd.yaml');
  const standings = () => {
    const plan = expandSweep(file, { runsDirectory, cwd: runsDirectory, environment: {} });
    return new Map(plannedRuns(plan).map(({ run, standing }) => [run.name, standing]));
  };

  it('are done by its rule, a row named final, and are not run again', () => {
    left('A_bsweep_single_N1024_binary_s0', [at('000500', 500), at('final', 20_000), '']);
    // Blank lines, and rows after it, make no difference; nor does a torn one.
    left('B_nsweep_single_B8_N16_s0', ['', at('final', 20_000), '', at('020500', 20_500), '{"name": "fin']);
    left('C_dense_multi_N16_s0', [at('000500', 500), '']);
    left('C_dense_multi_N64_s0', ['final', '{"name": "final"', '[]', '']);
    const found = standings();
    const done = { state: 'done', reason: 'final checkpoint found, though it was not started here' };
    expect(found.get('A_bsweep_single_N1024_binary_s0')).toEqual(done);
    expect(found.get('B_nsweep_single_B8_N16_s0')).toEqual(done);
    const others = [...found].filter(
      ([name]) => !/^(A_bsweep_single_N1024_binary|B_nsweep_single_B8_N16)_s0$/.test(name),
    );
    expect(others).toHaveLength(51);
    expect(new Set(others.map(([, { state }]) => state))).toEqual(new Set(['new']));
  });

  it('have curves like any other run, and unfinished ones are not written over', () => {
    const directory = left('C_dense_multi_N256_s0', [at('000500', 500), '']);
    const { x, y } = openMetrics(directory, { keep: everyPoint }).readNow().series('test/bits/known_raw_mean');
    expect([[...x], [...y]]).toEqual([
      [0, 100, 200],
      [0, 0.1, 0.2],
    ]);
    const { config } = readArguments(trainKeys, ['env_type=multi_step', 'N=256', `log_path=${directory}`]);
    expect(() => keepConfig(openRunDirectory(directory), config, new Set())).toThrow(
      /holds a run with model_name="meta-llama\/Llama-3.1-8B", and this one has model_name="tiny"/,
    );
  });
});
