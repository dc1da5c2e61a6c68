import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually, isAlive, workplace } from './program.js';

const { run, runShipped, write, read, at, folder } = workplace();

const script = `import argparse, json, os
p = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
p.add_argument('--lr', type=float, default=1e-3, help='learning rate')
p.add_argument('--opt', choices=['adam', 'sgd'], default='adam', help='which')
p.add_argument('--amp', action='store_true', help='mixed precision')
p.add_argument('--seed', type=int, default=0, help='of everything')
a = p.parse_args()
os.makedirs('logs', exist_ok=True)
with open('logs/metrics.jsonl', 'w') as f:
    for step in range(20):
        f.write(json.dumps({'step': step, 'val_loss': 1 / (step + 1 + a.seed)}) + '\\n')
`;

describe('memrl-tui init', () => {
  it('writes a sweep file from a help text, which plans as it stands, and never overwrites one', async () => {
    write('train.py', script);
    const made = await runShipped('init', '--', 'python3', 'train.py');
    expect(made.code).toBe(0);
    expect(made.out).toContain('Wrote sweeps/train.yaml with 4 options of python3 train.py (argparse).');
    const text = read('sweeps/train.yaml');
    expect(text).toContain('  #lr: 0.001 # learning rate');
    expect(text).toContain('  #opt: [adam, sgd] # which');
    expect((await run('sweeps/train.yaml', '--dry-run')).out).toContain('python3 train.py --seed=0');
    const again = await run('init', 'train.py');
    expect(again.code).toBe(2);
    expect(again.err).toContain('sweeps/train.yaml exists; it is not overwritten.');
    expect(read('sweeps/train.yaml')).toBe(text);
  });

  it('finds metrics in a trial run, which leaves nothing behind', async () => {
    write('train.py', script);
    const { code, out } = await run('init', 'train.py', '--trial', '--print');
    expect(code).toBe(0);
    expect(out).toContain('metrics: { show: [val_loss] }');
    expect(out).toContain("cwd: '${run_dir}'");
    expect(out).toMatch(new RegExp(`command: \\[python3?, ${at('train.py')}, `));
    expect(out).toContain('goal: minimize');
    expect(readdirSync(folder())).toEqual(['train.py']);
  });

  it(
    'writes a file with which no run has the metrics of another, though all write to one path',
    { tags: ['long'] },
    async () => {
      write('train.py', script);
      expect((await run('init', 'train.py', '--trial')).code).toBe(0);
      expect((await run('sweeps/train.yaml', '--plain')).code).toBe(0);
      const { out } = await run('export', 'train');
      // The last of 20 steps of seeds 0 and 2.
      expect(out).toContain(String(1 / 20));
      expect(out).toContain(String(1 / 22));
    },
  );

  it.each([
    { what: 'asks for input', text: 'input("name? ")', says: 'because it asks for input' },
    { what: 'fails', text: 'raise SystemExit(7)', says: 'exit code 7' },
    { what: 'prints for ever', text: 'while True: print("x" * 1000)', says: 'it printed more than is read' },
    { what: 'has no options', text: 'print("hello")', says: 'no list of options' },
  ])('says so where a script $what, and writes a file all the same', async ({ text, says }) => {
    write('odd.py', text);
    const { code, err } = await run('init', 'odd.py');
    expect(code).toBe(0);
    expect(err).toContain(says);
    expect((await run('sweeps/odd.yaml', '--dry-run')).code).toBe(0);
  });

  it('stops a trial run that goes on, with all that it has started', { tags: ['long'] }, async () => {
    const child = 'import os, time\nopen("PID", "w").write(str(os.getpid()))\ntime.sleep(600)';
    write(
      'slow.py',
      `import subprocess, sys, time
if "--help" in sys.argv: sys.exit(0)
subprocess.Popen([sys.executable, "-c", ${JSON.stringify(child.replace('PID', at('pid')))}], start_new_session=True)
for step in range(10**6):
    print("step=%d loss=%f" % (step, 1 / (step + 1)), flush=True)
    time.sleep(0.05)
`,
    );
    const { code, out } = await run('init', 'slow.py', '--trial', '--trial-time', '3s', '--print');
    expect(code).toBe(0);
    expect(out).toContain('metrics: { show: [loss] }');
    await eventually(() => !isAlive(Number(read('pid'))), 'the child of the trial run is gone');
  });

  it('asks for one of the commands of a program, and then has the options of that', async () => {
    const parsers =
      "s = p.add_subparsers(required=True)\ns.add_parser('fit').add_argument('--lr', type=float)\ns.add_parser('test')";
    write('tool.py', `import argparse\np = argparse.ArgumentParser()\n${parsers}\np.parse_args()\n`);
    const whole = await run('init', '--', 'python3', 'tool.py');
    expect([whole.code, whole.err]).toEqual([2, expect.stringContaining('has the commands fit, test')]);
    expect(whole.err).toContain('`memrl-tui init -- python3 tool.py fit`');
    expect(readdirSync(folder())).toEqual(['tool.py']);
    const one = await run('init', '--print', '--', 'python3', 'tool.py', 'fit');
    expect([one.code, one.out]).toEqual([0, expect.stringContaining('  #lr:')]);
  });

  it('asks for one command that can be started', async () => {
    expect((await run('init')).err).toContain('It has to be one command.');
    expect((await run('init', 'nothing.py')).err).toContain('There is no file nothing.py.');
    expect(readdirSync(folder())).toEqual([]);
  });
});
