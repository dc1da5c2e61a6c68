import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const { write, run, runShipped, at } = workplace();

/** Fails twice, and then waits until a file called `go` appears; `b` ends well. Both write three checkpoints. */
const sweep = `
name: two
command: [sh, -c, 'echo "attempt $MEMRL_ATTEMPT"; for i in 1 2 3; do mkdir -p $0/ckpt/$i; echo x > $0/ckpt/$i/w; echo "{\\"state_path\\":\\"ckpt/$i\\"}" >> $0/checkpoints.jsonl; done; [ $1 = b ] && exit 0; [ $MEMRL_ATTEMPT -lt 3 ] && exit 1; while [ ! -e go ]; do sleep 0.1; done', '\${run_dir}', '\${k}']
parameters: { k: [a, b] }
`;

describe('clean', () => {
  it('shows what would go, asks, and leaves runs that can go on, or begin anew', async () => {
    write('two.yaml', sweep);
    await run('two.yaml', '--plain', '--slots', '2');
    await run('resume', 'k=a');
    await run('wait', 'two');

    const dry = await run('clean', 'two', '--checkpoints', '--attempts', '--dry-run');
    expect(dry.out).toMatch(/k?a +\S+ \w+ +2 checkpoints, 1 attempt folder, the log of earlier attempts\n/);
    const asked = await run('clean', 'two', '--checkpoints');
    expect([asked.code, asked.err]).toEqual([2, expect.stringMatching(/no terminal to ask.*Confirm with -y/s)]);
    const { runs } = JSON.parse((await run('ls', '--json')).out.replace(/^/, '{"runs":') + '}') as {
      runs: { directory: string; parameters: { k: string } }[];
    };
    const [a, b] = ['a', 'b'].map((k) => runs.find(({ parameters }) => parameters.k === k)!.directory);
    expect(existsSync(`${a}/ckpt/1`)).toBe(true);

    const cleaned = await runShipped('clean', 'two', '--checkpoints', '--attempts', '-y');
    expect([cleaned.code, cleaned.err]).toEqual([0, '']);
    expect(['1', '2', '3'].map((name) => existsSync(`${b}/ckpt/${name}`))).toEqual([false, false, true]);
    expect(readFileSync(`${a}/output.log`, 'utf8')).toMatch(/^──── attempt 2, .*\nattempt 2\n$/);
    expect((await run('clean', 'two', '--checkpoints', '--attempts', '-y')).out).toBe('clean: nothing to delete\n');

    expect((await run('clean', 'two', '--failed', '-y')).out).toMatch(/1 run cleaned/);
    expect([existsSync(a!), existsSync(`${b}/run.json`)]).toEqual([false, true]);
    expect((await run('export', 'two')).out.trim().split('\n')).toHaveLength(1 + 1);
    // Another supervisor, which reads of the attempts that have ended, does not bring it back.
    await run('restart');
    expect(existsSync(a!)).toBe(false);
    expect((await run('resume', 'k=a')).code).toBe(0);
    expect((await run('clean', 'all', '--failed', '--checkpoints', '-y')).out).toMatch(/1 that have not ended/);
    write('go', '');
    expect((await run('wait', 'two')).code).toBe(0);
    expect(readFileSync(`${a}/output.log`, 'utf8')).toBe('attempt 3\n');
    expect(existsSync(at('runs/two'))).toBe(true);
  });

  it('touches nothing behind a link that a run has put in the place of its directory', { tags: ['long'] }, async () => {
    mkdirSync(at('home'));
    for (const name of ['a.pt', 'b.pt', 'run.json']) writeFileSync(at(`home/${name}`), 'precious');
    write(
      'moving.yaml',
      `
name: moving
command: [sh, -c, 'rm -rf $MEMRL_RUN_DIR; ln -s ${at('home')} $MEMRL_RUN_DIR; exit 1', '\${k}']
parameters: { k: [a, b] }
`,
    );
    await run('moving.yaml', '--plain', '--slots', '2');
    const cleaned = await run('clean', 'moving', '--pattern', '*', '--logs', '--attempts', '-y');
    expect([cleaned.code, cleaned.out]).toEqual([
      3,
      expect.stringMatching(/behind a symbolic link.*0 runs cleaned, 2 not/s),
    ]);
    expect((await run('clean', 'moving', '--failed', '-y')).code).toBe(0);
    await run('resume', 'k=a');
    await run('wait', 'moving');
    expect(readdirSync(at('home')).sort()).toEqual(['a.pt', 'b.pt', 'run.json']);
    expect(readFileSync(at('home/run.json'), 'utf8')).toBe('precious');
  });
});
