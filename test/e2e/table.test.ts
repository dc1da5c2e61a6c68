import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const { run, write, read, folder } = workplace();

describe('memrl-tui TABLE -- COMMAND', () => {
  it('runs the rows, and those that are added later', async () => {
    write('points.csv', 'seed,lr\n0,0.1\n1,\n');
    const plan = await run('points.csv', '--dry-run', '--', 'echo', '--fast');
    expect(plan.out).toContain('echo --fast --seed=0 --lr=0.1');
    expect(readdirSync(folder())).toEqual(['points.csv']);
    const first = await run('points.csv', '--plain', '--gpus', 'none', '--', 'echo', '--fast');
    expect(first.out).toContain('2 done, 0 failed');
    expect(read('runs/points/sweep.yaml')).toContain('  - {seed: 0, lr: 0.1}');
    write('points.csv', 'seed,lr\n0,0.1\n1,\n2,0.2\n');
    const second = await run('points.csv', '--plain', '--gpus', 'none', '--', 'echo', '--fast');
    expect(second.out).toContain('3 done');
    expect(readdirSync(folder()).sort()).toEqual(['points.csv', 'runs']);
  });

  it('is refused with the fix where the command is missing, or there is one too many', async () => {
    write('points.csv', 'seed\n0\n');
    write('sweep.yaml', 'command: [echo]\n');
    expect((await run('points.csv', '--dry-run')).err).toContain('memrl-tui points.csv -- python train.py');
    expect((await run('sweep.yaml', '--dry-run', '--', 'echo')).err).toContain('sweep.yaml says itself what is run');
    expect((await run('sweep.yaml', 'points.csv')).err).toContain('Only one sweep file');
    expect(readdirSync(folder()).sort()).toEqual(['points.csv', 'sweep.yaml']);
  });
});
