import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const { run, runShipped, write, read, at, folder } = workplace();
const script = 'import sys\nprint("step=1 loss=%s" % sys.argv[1].split("=")[1])\n';
const line = ['seed=0..1', 'lr=1e-4,3e-4', '--plain', '--gpus', 'none', '--', 'python3', 'train.py'];

describe('memrl-tui grid', () => {
  it('writes the sweep file of a line, launches it, and is the same launch when typed again', async () => {
    write('train.py', script);
    const first = await runShipped('grid', ...line);
    expect(first.out).toContain('4 done, 0 failed');
    expect(first.code).toBe(0);
    const text = read('sweeps/train.yaml');
    expect(text).toContain('lr: [0.0001, 0.0003]');
    expect(readdirSync(at('runs/train')).filter((name) => name.startsWith('s'))).toHaveLength(5);
    expect((await run('grid', ...line)).out).toContain('nothing to do, all 4 runs are done');
    expect((await run('sweeps/train.yaml', '--plain')).out).toContain('nothing to do, all 4 runs are done');
    expect(read('sweeps/train.yaml')).toBe(text);
  });

  it('writes and starts nothing with --dry-run and --print', async () => {
    write('train.py', script);
    const plan = await run('grid', 'seed=0..2', '--dry-run', '--', 'python3', 'train.py', '--fast');
    expect(plan.out).toContain('3 runs in 1 group');
    expect(plan.out).toContain('python3 train.py --fast --seed=0');
    const printed = await run('grid', 'seed=0..2', '--print', '--args', 'hydra', '--', 'python3', 'train.py');
    expect(printed.out).toContain('command: [python3, train.py, "${args_hydra}"]');
    expect(readdirSync(folder())).toEqual(['train.py']);
  });

  it('goes on with the sweep of a line that is typed again with more values', { tags: ['long'] }, async () => {
    write('train.py', script);
    await run('grid', 'seed=0', 'lr=1e-3', '--plain', '--', 'python3', 'train.py');
    const plan = await run('grid', 'seed=0,1', 'lr=0.001', '--dry-run', '--', 'python3', 'train.py');
    expect(plan.out.replace(/\s+/g, ' ')).toContain('it was: memrl-tui grid seed=0 lr=1e-3 -- python3 train.py');
    expect(plan.out).toContain('1 to start, 1 already done');
    const again = await run('grid', 'seed=0,1', 'lr=0.001', '--plain', '--', 'python3', 'train.py');
    expect(again.out).toContain('sweeps/train.yaml is of the same line with other values, and is replaced');
    expect(again.out).toContain('2 done');
    expect(
      readdirSync(at('runs/train'))
        .filter((name) => existsSync(at(`runs/train/${name}/run.json`)))
        .toSorted(),
    ).toEqual(['runs', 's1']);
    expect(existsSync(at('runs/train/runs/attempts/2'))).toBe(false);
  });

  it('never writes over a file that says something else', { tags: ['long'] }, async () => {
    write('train.py', script);
    await run('grid', 'seed=0', '--plain', '--', 'python3', 'train.py');
    write('sweeps/train.yaml', `${read('sweeps/train.yaml')}retry: 1\n`);
    const before = read('sweeps/train.yaml');
    const other = await run('grid', 'seed=0,1', '--plain', '--', 'python3', 'train.py');
    expect(other.code).toBe(2);
    expect(other.err).toContain('sweeps/train.yaml exists and says something else');
    expect(other.err).toContain('--name train-2');
    expect(read('sweeps/train.yaml')).toBe(before);
    const plan = await run('grid', 'seed=0,1', '--dry-run', '--', 'python3', 'train.py');
    expect(plan.out).toContain('says something else');
    expect((await run('grid', 'seed=0,1', '--name', 'two', '--plain', '--', 'python3', 'train.py')).code).toBe(0);
    expect(existsSync(at('sweeps/two.yaml'))).toBe(true);
  });

  it(
    'runs baselines of every point, and a second run after each that is done; one after a failure waits, and says why',
    { tags: ['long'] },
    async () => {
      write(
        'train.py',
        'import os, sys\nopen(os.environ["MEMRL_RUN_DIR"] + "/model", "w").write(" ".join(sys.argv[1:]))\nif "--seed=1" in sys.argv and len(sys.argv) == 4: sys.exit(3)\n',
      );
      write('check.py', 'import sys\nprint("step=1 size=%d" % len(open(sys.argv[1] + "/model").read()))\n');
      const words = [
        'seed=0,1',
        'lr=1e-4',
        'mask=true',
        '--baseline',
        'plain: mask=unset',
        '--then',
        'python3 check.py ${run_dir}',
      ];
      const line = ['grid', ...words, '--plain', '--gpus', 'none', '--', 'python3', 'train.py'];
      const first = await run(...line);
      expect(first.out).toContain('6 done, 1 failed, 1 queued');
      expect(first.code).toBe(3);
      expect(read('runs/train/then_plain_s1/output.log')).toContain('step=1 size=20');
      expect((await run('ls', 'status:queued')).out).toMatch(/then_runs_s1 +needs runs_s1, which failed/);
      const { out: report } = await run('report', 'train');
      for (const group of ['runs', 'plain', 'then']) expect(report).toMatch(new RegExp(`^${group}$`, 'm'));
      expect(report).toContain('1 done, 1 queued');
      const plan = await run('grid', '--dry-run', ...line.slice(1));
      expect(plan.out).toContain('after    its own run of runs or plain');
      // What failed is tried again, and what waits for it then runs.
      write('train.py', read('train.py').replace('sys.exit(3)', 'pass'));
      expect((await run(...line)).out).toContain('8 done, 0 failed');
    },
  );

  it('refuses what is ambiguous with a mark below it', async () => {
    const { code, err } = await run('grid', 'x=[1,2]', 'y=yes', '--', 'true');
    expect(code).toBe(2);
    expect(err).toContain("in Hydra's syntax, and 2 runs in guild's");
    expect(err).toContain('  x=[1,2]\n    ^^^^^');
    expect((await run('grid', 'a=1')).err).toContain('There is no command to run.');
    expect(readdirSync(folder())).toEqual([]);
  });

  it('takes a multirun of Hydra as it is typed, and says that the sweep takes its place', async () => {
    const line = ['--', 'python', 'train.py', '-m', 'lr=1e-3,1.0', 'name="a b",c', 'seed=3'];
    const printed = await run('grid', '--print', ...line);
    expect(printed.err).toContain('`-m` is left out');
    expect(printed.out).toContain('command: [python, train.py, seed=3, "${args_hydra}"]');
    const short = await run('grid', '-m', 'train.py', 'lr=0.1,0.2', '--dry-run', '--verbose');
    expect(short.out).toContain('python train.py lr=0.1\n');
    const own = await run('grid', 'lr=1,2', '--print', '--args', 'hydra-append', '--', 'python', 'train.py', '-m');
    expect(own.out).toContain('command: [python, train.py, "${args_append_hydra}"]');
    const known = await run('grid', 'lr=1,2', '--print', '--', 'python', 'train.py', 'hydra.run.dir=${run_dir}');
    expect(known.out).toContain('"${args_hydra}"');
  });
});
