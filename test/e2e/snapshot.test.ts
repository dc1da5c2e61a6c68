import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually, workplace } from './program.js';

const { write, read, run, runShipped, at, folder } = workplace();

const sweep = (values: string) => `
name: s
code: snapshot
command: [sh, train.sh, '\${k}']
groups: { g: { name: 'k{k}' } }
parameters: { k: [${values}] }
`;

/** Says what it is, then waits for a file called `go` in the folder that git ignores. */
const script = (version: number) =>
  `echo "version ${version} $1 $(cat data/x) $(git log -1 --format=%s)"\nwhile [ ! -e data/go ]; do sleep 0.05; done\n`;

function commit(subject: string): void {
  const identity = ['-c', 'user.name=me', '-c', 'user.email=me@example.com'];
  execFileSync('git', ['add', '-A'], { cwd: folder() });
  execFileSync('git', [...identity, 'commit', '-q', '-m', subject], { cwd: folder() });
}

const versions = (name: string) => read(`runs/s/${name}/output.log`).match(/version .*/g);
const snapshots = () => readdirSync(at('runs/s/code')).filter((name) => name.startsWith('snapshot-'));

describe('code: snapshot', () => {
  it('starts runs from the code they were submitted with', async () => {
    execFileSync('git', ['init', '-q'], { cwd: folder() });
    write('.gitignore', 'data/\nruns/\n');
    execFileSync('mkdir', [at('data')]);
    write('data/x', 'points');
    write('train.sh', script(1));
    commit('one');
    write('s.yaml', sweep('1, 2'));
    write('.env', 'KEY=sesame');

    const dry = await run('s.yaml', '--dry-run');
    expect(dry.out.replace(/\s+/g, ' ')).toMatch(
      /A launch copies the code of \S+ at commit \w+, with 1 new file: 3 files, \d+ bytes; linked, not copied: data\. \.env: linked, not copied, as the names are those of secrets; what is committed is copied\./,
    );
    expect(existsSync(at('runs'))).toBe(false);

    await run('s.yaml', '--detach', '--slots', '1');
    await eventually(() => versions('k1') !== null, 'the first run has begun');
    write('train.sh', script(2));
    write('s.yaml', sweep('1, 2, 3'));
    commit('two');
    const edit = await run('s.yaml', '--detach', '-y');
    expect(edit.out).toMatch(/g +1 new: k3\n +2 unchanged: 1 queued, 1 running/);
    expect(snapshots()).toHaveLength(2);

    // What is edited after the launch is seen by nobody; a run that is resumed is that of its launch.
    write('train.sh', script(3));
    await run('kill', 'k2', '-y');
    await run('resume', 'k2');
    expect((await run('clean', 's', '--snapshots', '-y')).out).toMatch(/^clean: nothing to delete\n/);
    write('data/go', '');
    expect((await run('wait', 's')).code).toBe(0);
    expect(versions('k1')).toEqual(['version 1 1 points one']);
    expect(versions('k2')).toEqual(['version 1 2 points one']);
    expect(versions('k3')).toEqual(['version 2 3 points two']);

    const record = JSON.parse(read('runs/s/k3/run.json')) as Record<string, unknown>;
    const { path } = record['snapshot'] as { path: string };
    expect(record).toMatchObject({ cwd: at(`runs/s/${path}`), snapshot: { cwd: folder() }, git: { dirty: false } });
    expect(record['attempts']).toMatchObject([{ snapshot: path }]);

    expect((await runShipped('du', 's')).out).toMatch(/s: .* in 2 snapshots of the code\n$/);
    const cleaned = await run('clean', 's', '--snapshots', '-y');
    expect(cleaned.out).toMatch(/^s: 2 snapshots of the code that no run needs .*\n2 snapshots cleaned: /s);
    expect(snapshots()).toEqual([]);
  });
});
