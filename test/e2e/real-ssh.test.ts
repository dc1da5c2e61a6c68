import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasProgram } from '../has-program.js';
import { openSlowHosts, type SlowHosts, SSHD } from '../slow-ssh.js';
import { eventually, isCleared, workplace } from './program.js';

/** Of the line to the host and back, ms. */
const DELAY_MS = 100;
const isInstalled = [SSHD, 'ssh', 'ssh-keygen', 'tar'].every((name) => hasProgram(name, 'tests over a real sshd'));
/** What an sshd of root needs, and its service makes when it is started. */
const canStart = process.getuid!() !== 0 || existsSync('/run/sshd');
if (isInstalled && !canStart) console.warn('SKIPPED, because there is no /run/sshd: tests over a real sshd');

const sweep = `
name: slow
command: [sh, -c, 'for i in $(seq 2000); do echo "{\\"step\\": $i, \\"loss\\": $i}" >> \${run_dir}/metrics.jsonl; echo line $i; sleep 0.05; done']
`;

describe.skipIf(!isInstalled || !canStart)('a host behind a real sshd and a slow line', () => {
  const place = workplace();
  const path = process.env['PATH'];
  let hosts: SlowHosts;

  beforeEach(async () => {
    hosts = await openSlowHosts(place.folder(), ['far'], DELAY_MS);
    process.env['PATH'] = `${hosts.bin}:${path}`;
  });
  afterEach(async () => {
    hosts.close();
    await eventually(() => isCleared(hosts.homeOf('far')), 'the host to be removed');
    process.env['PATH'] = path;
  });

  it('gets the program by the command that is told, runs a sweep, and shows it here through a cut line', async () => {
    const missing = await place.run('ls', '--host', 'far');
    const command = /→ [^:]*: (tar .*)$/m.exec(missing.err)![1]!;
    // Not waited for in place: the line is kept by this very process.
    expect((await once(spawn('sh', ['-c', command]), 'close'))[0]).toBe(0);
    writeFileSync(join(hosts.homeOf('far'), 'slow.yaml'), sweep);
    const launched = await place.run('--host', 'far', 'slow.yaml', '--detach');
    expect([launched.code, launched.out]).toEqual([0, expect.stringContaining('slow: 1 run')]);
    const terminal = place.open('attach', '--host', 'far');
    const shows = (what: RegExp) => terminal.waitFor((lines) => what.test(lines.join('\n')));
    await shows(/q detach/);
    await shows(/[⠁-⣿]{2}/);
    terminal.write('\u001b[B');
    await shows(/│ line \d+/);
    const last = () =>
      Number(
        [
          ...terminal
            .lines()
            .join('\n')
            .matchAll(/│ line (\d+)/g),
        ].at(-1)?.[1] ?? 0,
      );
    hosts.line.cut();
    await shows(/reconnecting/);
    const before = last();
    hosts.line.heal();
    await terminal.waitFor((lines) => !lines.join('\n').includes('reconnecting'));
    await terminal.waitFor(() => last() > before);
    terminal.write('q');
    expect(await terminal.ended()).toMatchObject({ code: 0 });
    expect((await place.run('kill', '--host', 'far', 'slow', '--wait')).code).toBe(0);
  });
});
