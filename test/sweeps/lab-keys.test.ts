import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../src/lab/config/arguments.js';
import { evalRunKeys } from '../../src/lab/evaluation/eval-run/keys.js';
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
  'eval-run': evalRunKeys,
  rl: rlKeys,
};
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
      // What eval-run is of stands first, without its key.
      readArguments(keys[recipe as keyof typeof keys], recipe === 'eval-run' ? rest.slice(1) : rest);
      if (recipe === 'grpo') grpoSettings(readArguments(grpoKeys, rest));
    }
  });

  it('writes into its own directory, and into no other', () => {
    for (const { argv, directory } of runs) {
      const written = argv
        .filter((word) => /^(log_path|output_dir|out)=/.test(word))
        .map((word) => word.split('=')[1]!);
      expect(written.map((path) => path.replace(/\/reference\.json$/, ''))).toEqual([directory]);
    }
  });
});
