import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const { run, runShipped, write, read, at, folder } = workplace();
const seml =
  'seml: { executable: train.py, conda_environment: rl }\ngrid:\n  lr: { type: choice, options: [0.1, 0.01] }\n';

describe('memrl-tui import', () => {
  it('writes a sweep file, says what is not taken over, and never writes over a file', async () => {
    write('exp.yaml', seml);
    const made = await runShipped('import', 'exp.yaml');
    expect(made.code).toBe(0);
    expect(made.out).toContain('Wrote sweeps/exp.yaml with 2 runs, from a SEML file.');
    expect(made.err).toContain('line 1: `conda_environment` is left out: activate it before the launch.');
    expect(read('sweeps/exp.yaml')).toContain('# - line 1: `conda_environment` is left out');
    const again = await run('import', 'exp.yaml');
    expect(again.code).toBe(2);
    expect(again.err).toContain('sweeps/exp.yaml exists; it is not overwritten.');
    const plan = await run('sweeps/exp.yaml', '--dry-run', '--verbose');
    expect(plan.out).toContain('python train.py with lr=0.1\n');
    expect(plan.out).toContain('python train.py with lr=0.01\n');
  });

  it('prints with --print, and takes the command behind `--`', async () => {
    write('c.yaml', 'hydra: { sweeper: { params: { lr: "1,2" } } }\n');
    const printed = await run('import', 'c.yaml', '--print', '--', 'python', 'train.py');
    expect(printed.out).toContain('command: [python, train.py, "${args_hydra}"]');
    expect(existsSync(at('sweeps'))).toBe(false);
  });

  it('refuses what is no text, what is too large and what is not there', async () => {
    write('binary.yaml', 'a: \0\n');
    write('large.yaml', 'a'.repeat(5 * 2 ** 20));
    expect((await run('import', 'binary.yaml')).err).toContain('it is not a text in UTF-8 (line 1)');
    expect((await run('import', 'large.yaml')).err).toContain('larger than 4 MiB');
    expect((await run('import', 'none.yaml')).err).toContain('there is no such file');
    expect((await run('import', '.')).err).toContain('it is a directory');
    expect(readdirSync(folder()).toSorted()).toEqual(['binary.yaml', 'large.yaml']);
  });
});
