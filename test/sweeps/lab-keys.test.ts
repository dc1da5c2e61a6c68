import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../src/lab/config/arguments.js';
import { sftDataKeys, sftKeys, trainKeys, warmupKeys } from '../../src/lab/recipes/keys.js';
import { idealKeys } from '../../src/lab/reference/keys.js';
import { expandSweep } from '../../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';

const keys = { ideal: idealKeys, train: trainKeys, warmup: warmupKeys, sft: sftKeys, 'sft-data': sftDataKeys };

describe.each(['sweeps/abcd.yaml', 'sweeps/quick.yaml'])('%s', (path) => {
  const file = parseSweepFile(readFileSync(path, 'utf8'), path);
  const groups = file.kind === 'groups' ? file.blocks.map(({ group }) => group) : [];
  const { runs } = expandSweep(file, { runsDirectory: '/runs', cwd: '/', environment: {}, groups });

  it('says nothing that memrl does not understand', () => {
    for (const { argv } of runs) {
      const [program, recipe, ...rest] = argv;
      expect(program).toBe('memrl');
      expect(keys).toHaveProperty([recipe!]);
      readArguments(keys[recipe as keyof typeof keys], rest);
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
