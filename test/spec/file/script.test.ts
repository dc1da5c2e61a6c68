import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { parseSweepFile } from '../../../src/spec/file/parse-sweep-file.js';

const steps = 'python prepare.py\npython train.py\n';
const seeds = 'python train.py --seed 0\npython train.py --seed 1\n';

describe('a program where a list of commands is expected', () => {
  it.each<{ path: string; text: string; line: string }>([
    { path: 's.sh', text: `#!/bin/bash\nset -e\n${steps}`, line: 'grid -- bash s.sh' },
    { path: 's.sh', text: steps, line: 'grid -- sh s.sh' },
    { path: 'run', text: `#!/usr/bin/env bash\n${steps}`, line: 'grid -- bash run' },
    { path: 'run', text: `#!/usr/bin/env -S bash -e\n${steps}`, line: 'grid -- bash run' },
    { path: 'run', text: '#!/usr/bin/env python3\nimport os\n', line: 'grid -- python3 run' },
    { path: 'jobs.txt', text: `export WANDB_MODE=offline\n${seeds}`, line: 'grid -- bash jobs.txt' },
    { path: 'jobs.txt', text: `cd data\n${seeds}`, line: 'grid -- bash jobs.txt' },
    { path: 'jobs.txt', text: `source .venv/bin/activate\n${seeds}`, line: 'grid -- bash jobs.txt' },
    { path: 'jobs.txt', text: `conda activate rl\n${seeds}`, line: 'grid -- bash jobs.txt' },
    {
      path: 'jobs.txt',
      text: 'for seed in 0 1; do\n  python train.py --seed $seed\ndone\n',
      line: 'grid -- bash jobs.txt',
    },
    { path: 'job.slurm', text: `#SBATCH --gres=gpu:1\n${seeds}`, line: 'grid -- bash job.slurm' },
    {
      path: 's.sh',
      text: '#!/bin/sh\npython train.py --seed 0 &\npython train.py --seed 1 &\nwait\n',
      line: 'grid -- sh s.sh',
    },
    { path: 'Makefile', text: 'train: data\n\tpython train.py\n', line: 'grid -- make -f Makefile' },
    { path: 'jobs.txt', text: 'all: a b\n\na: x.csv\n\tpython a.py\n', line: 'grid -- make -f jobs.txt' },
  ])('is refused with the line to type: $path, $line', ({ path, text, line }) => {
    const read = () => parseSweepFile(text, path);
    expect(read).toThrow(UserError);
    expect(read).toThrow(/its lines follow each other/);
    try {
      read();
    } catch (error) {
      expect((error as UserError).fix).toContain(`memrl-tui ${line}`);
    }
  });

  it.each<{ path: string; text: string; runs: number }>([
    { path: 's.sh', text: `#!/bin/bash\n# seeds\n${seeds}`, runs: 2 },
    { path: 'jobs.txt', text: steps, runs: 2 },
    { path: 'jobs.txt', text: 'CUDA_VISIBLE_DEVICES=0 python a.py\nmake -C b train\n', runs: 2 },
    { path: 'jobs', text: 'python train.py --url http://a:80/b\n./export.sh --set x\n', runs: 2 },
  ])('is not what stands alone line by line: $text', ({ path, text, runs }) => {
    const file = parseSweepFile(text, path);
    expect(file.kind === 'commands' ? file.lines.length : null).toBe(runs);
  });
});
