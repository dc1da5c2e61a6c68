import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hosts } from './hosts.js';
import { workplace } from './program.js';

/** One run that is done at once, and one that fails. */
const sweep = `
name: far
command: [sh, -c, 'echo "{\\"step\\": 1, \\"loss\\": 0.5}" > \${run_dir}/metrics.jsonl; pwd; exit \${code}']
parameters: { code: [0, 3] }
`;

describe('a verb with --host', () => {
  const place = workplace();
  const far = hosts(place.folder, ['alpha', 'beta']);

  it('runs on the host, with its output and its exit code, and leaves nothing here', async () => {
    far.write('alpha', 'far.yaml', sweep);
    const launched = await place.runShipped('--host', 'alpha', 'far.yaml', '--plain');
    expect(launched.code).toBe(3);
    expect(launched.out).toContain('1 done, 1 failed');
    const listed = await place.runShipped('ls', '--host=alpha', '--json', 'code=0');
    const [run] = JSON.parse(listed.out) as { state: string; name: string }[];
    expect(run).toMatchObject({ state: 'done' });
    const logged = await place.runShipped('logs', '--host', 'alpha', run!.name);
    expect(logged.out.trim()).toBe(far.at('alpha').replace(/\/$/, ''));
    expect((await place.runShipped('--host', 'alpha', 'hold', 'code=3')).err).toContain('→');
    expect(readdirSync(place.folder())).toEqual(['hosts']);
  });

  it('writes nothing there with --dry-run', async () => {
    far.write('alpha', 'far.yaml', sweep);
    const planned = await place.runShipped('far.yaml', '--dry-run', '--host', 'alpha');
    expect([planned.code, planned.out]).toEqual([0, expect.stringContaining('2 runs')]);
    expect(readdirSync(far.at('alpha'))).toEqual(['.memrl-tui', 'far.yaml', 'links']);
  });

  it('runs in the directory behind the host, and passes every word on as it is', { tags: ['long'] }, async () => {
    mkdirSync(far.at('alpha', "a b's"));
    far.write('alpha', "a b's/far.yaml", sweep);
    const host = "alpha:~/a b's";
    expect((await place.runShipped('--host', host, 'far.yaml', '--plain')).code).toBe(3);
    const asked = await place.runShipped('ls', '--host', host, '--json', 'note:"it\'s $HOME" or code=0');
    expect(JSON.parse(asked.out)).toHaveLength(1);
  });

  it('is done on several hosts, one after the other', { tags: ['long'] }, async () => {
    for (const host of ['alpha', 'beta']) far.write(host, 'far.yaml', sweep);
    await Promise.all(['alpha', 'beta'].map((host) => place.runShipped('--host', host, 'far.yaml', '--plain')));
    const listed = await place.runShipped('ls', '--host', 'alpha', '--host', 'beta', 'code=0', '--columns', 'code');
    expect([listed.code, listed.err.match(/^\w+:$/gm)]).toEqual([0, ['alpha:', 'beta:']]);
    expect(listed.out.match(/^done /gm)).toHaveLength(2);
    const half = await place.runShipped('ls', '--host', 'omega', '--host', 'beta', 'code=0');
    expect([half.code, half.err, half.out]).toEqual([
      ...[2, expect.stringContaining('ssh could not reach omega.') as string],
      expect.stringMatching(/^done /m) as string,
    ]);
    const both = await place.runShipped('far.yaml', '--host', 'alpha', '--host', 'beta');
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('one host at a time')]);
  });
});

describe('what is missing on a host', () => {
  const place = workplace();
  const far = hosts(place.folder, ['alpha']);
  const ls = async (host = 'alpha') => {
    const { code, err } = await place.runShipped('ls', '--host', host);
    return { code, err };
  };
  /** A host on which only these programs are found. */
  const onlyHas = (programs: Readonly<Record<string, string>>) => {
    rmSync(far.at('alpha', '.memrl-tui'), { recursive: true });
    mkdirSync(far.at('alpha', 'bin'));
    symlinkSync('/usr/bin/env', far.at('alpha', 'bin/env'));
    symlinkSync('/bin/sh', far.at('alpha', 'bin/sh'));
    for (const [name, text] of Object.entries(programs)) far.script('alpha', `bin/${name}`, text);
    far.write('alpha', 'path', far.at('alpha', 'bin'));
  };
  const node = `#!/bin/sh\nexec "${process.execPath}" "$@"\n`;

  it('is Node: says so, with the command that installs it', async () => {
    onlyHas({});
    const { code, err } = await ls();
    expect(code).toBe(2);
    expect(err).toContain('There is no Node on alpha, and memrl-tui needs Node 20.19 or newer there.');
    expect(err).toMatch(/→ .*ssh alpha 'mkdir -p \.local && curl .*nodejs\.org/);
  });

  it('is a newer Node: says which one is there', async () => {
    onlyHas({ node: '#!/bin/sh\necho v20.18.1\n' });
    const { code, err } = await ls();
    expect([code, err]).toEqual([2, expect.stringMatching(/20\.18\.1 .*bin\/node[^]*Node is too old on alpha/)]);
  });

  it('is memrl-tui: the told command puts it there', async () => {
    onlyHas({ node });
    const { code, err } = await ls();
    expect([code, err]).toEqual([2, expect.stringContaining('memrl-tui is not on alpha yet.')]);
    const command = /→ [^:]*: (.*)$/m.exec(err)![1]!;
    expect(command).toMatch(/^tar -C \S+ -czf - package\.json dist \| ssh alpha /);
  });

  it('is a newer memrl-tui: says so below what the old one said', async () => {
    onlyHas({ node, 'memrl-tui': '#!/bin/sh\necho "Cannot read the sweep file __host" >&2; exit 2\n' });
    const { code, err } = await ls();
    expect([code, err]).toEqual([2, expect.stringContaining('memrl-tui on alpha is too old for --host.')]);
  });

  it('is the host, the directory or the sweep file', { tags: ['long'] }, async () => {
    expect((await ls('omega')).err).toContain('ssh could not reach omega.');
    expect((await ls('alpha:none')).err).toContain(`There is no directory ${far.at('alpha', 'none')} on alpha.`);
    place.write('far.yaml', sweep);
    const launched = await place.runShipped('--host', 'alpha', 'far.yaml');
    expect([launched.code, launched.err]).toEqual([2, expect.stringContaining('There is no sweep file far.yaml in')]);
    expect(launched.err).toContain(`scp far.yaml alpha:${far.at('alpha')}`);
    expect(existsSync(far.at('alpha', 'runs'))).toBe(false);
  });

  it('is a name: an option of ssh is none', async () => {
    const { code, err } = await ls('-oProxyCommand=touch x');
    expect([code, err]).toEqual([2, expect.stringContaining('names no host')]);
  });
});
