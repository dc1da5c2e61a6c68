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

  it('takes a script from standard input or a file, with the options of its launch', async () => {
    write('runs.sh', 'pueue parallel 3\nfor s in 1 2; do pueue add -- python train.py $s; done\n');
    const made = await run('import', 'runs.sh');
    expect(made.out).toContain('memrl-tui sweeps/runs.yaml --dry-run --verbose --slots 3');
    expect(read('sweeps/runs.yaml')).toContain('# Launch it with: memrl-tui sweeps/runs.yaml --slots 3');
    expect((await run('import', '-', '--print')).err).toContain('- is empty');
    write('env.sh', 'for s in 1 2; do ts python t.py $NEVER_SET_HERE $s; done\n');
    const later = await run('import', 'env.sh');
    expect(later.out).toContain('Wrote sweeps/env.yaml, from');
    expect(later.err).toContain('`$NEVER_SET_HERE` is not set in the script');
  });

  it('is named where such a file is launched', async () => {
    write('exp.yaml', seml);
    const launched = await run('exp.yaml', '--dry-run');
    expect(launched.code).toBe(2);
    expect(launched.err.trim()).toBe(
      'exp.yaml is a SEML file, and no sweep file.\n\n→ `memrl-tui import exp.yaml` writes a sweep file from it.',
    );
    write('list.txt', '# tasks\npueue add -- python a.py\npueue add -- python b.py\n');
    expect((await run('list.txt', '--dry-run')).err).toContain('Every line of list.txt is for pueue');
    write('runs.sh', 'for s in 1 2; do python train.py $s; done\n');
    const script = await run('runs.sh', '--dry-run');
    expect(script.err).toContain('runs.sh is a script, and no list of commands');
    expect(script.err).toContain('→ `memrl-tui import runs.sh` writes a sweep file from it.');
    expect(script.err).toContain('Launch it as one run: `memrl-tui grid -- sh runs.sh`');
    write('wrong.yaml', 'command: [python]\nparameters: { exec: a, n: [] }\n');
    expect((await run('wrong.yaml', '--dry-run')).err).toContain('an empty axis makes no runs');
  });
});
