import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../src/lab/config/arguments.js';
import { evalBatchKeys } from '../../src/lab/evaluation/eval-batch/keys.js';
import { evalRunKeys } from '../../src/lab/evaluation/eval-run/keys.js';
import { drGrpoKeys } from '../../src/lab/algorithms/dr-grpo-settings.js';
import { entropyKeys } from '../../src/lab/evaluation/entropy/keys.js';
import { grpoKeys, grpoSettings } from '../../src/lab/algorithms/grpo-settings.js';
import { pretrainKeys } from '../../src/lab/algorithms/pretrain.js';
import { rlKeys } from '../../src/lab/algorithms/rl-settings.js';
import { sftDataKeys, sftKeys } from '../../src/lab/algorithms/sft.js';
import { trainKeys } from '../../src/lab/algorithms/train-settings.js';
import { warmupKeys } from '../../src/lab/algorithms/warmup.js';
import { idealKeys } from '../../src/lab/reference/keys.js';
import { expandSweep } from '../../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';

const keys = {
  ideal: idealKeys,
  train: trainKeys,
  warmup: warmupKeys,
  sft: sftKeys,
  'sft-data': sftDataKeys,
  pretrain: pretrainKeys,
  grpo: grpoKeys,
  'dr-grpo': drGrpoKeys,
  entropy: entropyKeys,
  'eval-run': evalRunKeys,
  'eval-batch': evalBatchKeys,
  rl: rlKeys,
};
/** What they evaluate stands first, without its key. */
const evaluations = ['eval-run', 'eval-batch'];
/** Sweeps of other programs, which have tests of their own. */
const others = ['any-command.yaml', 'policy.yaml', 'tinker/cookbook.yaml'];
const paths = readdirSync('sweeps', { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.yaml') && !path.includes('experiments') && !others.includes(path),
);

describe.each(paths.map((name) => `sweeps/${name}`))('%s', (path) => {
  const file = parseSweepFile(readFileSync(path, 'utf8'), path);
  const groups = file.kind === 'groups' ? file.blocks.map(({ group }) => group) : [];
  const { runs } = expandSweep(file, { runsDirectory: '/runs', cwd: '/', environment: {}, groups });

  it('says nothing that memrl does not understand', () => {
    for (const { argv } of runs) {
      const [program, recipe, ...rest] = argv;
      expect(program).toBe('memrl');
      expect(keys).toHaveProperty([recipe!]);
      readArguments(keys[recipe as keyof typeof keys], evaluations.includes(recipe!) ? rest.slice(1) : rest);
      if (recipe === 'grpo') grpoSettings(readArguments(grpoKeys, rest));
    }
  });

  it('writes into its own directory, and into no other', () => {
    for (const { argv, directory } of runs) {
      // Its results lie with the run that it evaluates, where all checkpoints of that run come together in one table.
      if (argv[1] === 'eval-batch') continue;
      const written = argv
        .filter((word) => /^(log_path|output_dir|out)=/.test(word))
        .map((word) => word.split('=')[1]!);
      expect(written.map((path) => path.replace(/\/reference\.json$/, ''))).toEqual([directory]);
    }
  });
});
