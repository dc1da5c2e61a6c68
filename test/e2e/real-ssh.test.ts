import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasProgram } from '../has-program.js';
import { eventually, isCleared, workplace } from './program.js';

/** Of the line to the host and back, ms. */
const DELAY_MS = 100;
const sshd = '/usr/sbin/sshd';
const isInstalled = [sshd, 'ssh', 'ssh-keygen', 'tar'].every((name) => hasProgram(name, 'tests over a real sshd'));
/** What an sshd of root needs, and its service makes when it is started. */
const canStart = process.getuid!() !== 0 || existsSync('/run/sshd');
if (isInstalled && !canStart) console.warn('SKIPPED, because there is no /run/sshd: tests over a real sshd');

const sweep = `
name: slow
command: [sh, -c, 'for i in $(seq 2000); do echo "{\\"step\\": $i, \\"loss\\": $i}" >> \${run_dir}/metrics.jsonl; echo line $i; sleep 0.05; done']
`;

/** A line on which every byte takes a while, and that can be cut. */
class SlowLine {
  readonly #server: Server;
  readonly #ends = new Set<Socket>();
  #isCut = false;

  constructor(target: number) {
    this.#server = createServer((from) => {
      if (this.#isCut) return void from.destroy();
      const to = connect(target, '127.0.0.1');
      this.#pass(from, to);
      this.#pass(to, from);
    }).listen(0, '127.0.0.1');
  }

  get port(): number {
    return (this.#server.address() as { port: number } | null)?.port ?? 0;
  }

  cut(): void {
    this.#isCut = true;
    for (const end of this.#ends) end.destroy();
  }

  heal(): void {
    this.#isCut = false;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #pass(from: Socket, to: Socket): void {
    this.#ends.add(from);
    from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), DELAY_MS / 2));
    from.on('error', () => undefined);
    from.on('close', () => {
      this.#ends.delete(from);
      setTimeout(() => to.destroy(), DELAY_MS / 2);
    });
  }
}

describe.skipIf(!isInstalled || !canStart)('a host behind a real sshd and a slow line', () => {
  const place = workplace();
  const path = process.env['PATH'];
  let server: ChildProcess;
  let line: SlowLine;

  beforeEach(async () => {
    for (const folder of ['bin', 'home']) mkdirSync(place.at(folder));
    for (const key of ['host_key', 'id'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', place.at(key)]);
    writeFileSync(place.at('keys'), readFileSync(place.at('id.pub')));
    const port = await freePort();
    const config = [
      ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${place.at('host_key')}`, 'StrictModes no', 'UsePAM no'],
      ...[`AuthorizedKeysFile ${place.at('keys')}`, 'PasswordAuthentication no', `PidFile ${place.at('sshd.pid')}`],
      // The home directory of the person at this machine is not that of the host.
      `SetEnv HOME=${place.at('home')} SHELL=/bin/sh`,
      `ForceCommand cd "${place.at('home')}" && eval "$SSH_ORIGINAL_COMMAND"`,
    ];
    writeFileSync(place.at('sshd_config'), `${config.join('\n')}\n`);
    server = spawn(sshd, ['-D', '-e', '-f', place.at('sshd_config')], { stdio: 'ignore' });
    line = new SlowLine(port);
    await eventually(() => line.port > 0, 'a port');
    const client = [
      ...['Host far', 'HostName 127.0.0.1', `Port ${line.port}`, `IdentityFile ${place.at('id')}`],
      ...['IdentitiesOnly yes', `UserKnownHostsFile ${place.at('known')}`, 'StrictHostKeyChecking accept-new'],
    ];
    writeFileSync(place.at('ssh_config'), `${client.join('\n')}\n`);
    const ssh = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
    writeFileSync(place.at('bin/ssh'), `#!/bin/sh\nexec ${ssh} -F ${place.at('ssh_config')} "$@"\n`);
    chmodSync(place.at('bin/ssh'), 0o755);
    process.env['PATH'] = `${place.at('bin')}:${path}`;
    await eventually(() => existsSync(place.at('sshd.pid')), 'sshd to listen');
  });
  afterEach(async () => {
    line.close();
    server.kill();
    await eventually(() => isCleared(place.at('home')), 'the host to be removed');
    process.env['PATH'] = path;
  });

  it('gets the program by the command that is told, runs a sweep, and shows it here through a cut line', async () => {
    const missing = await place.run('ls', '--host', 'far');
    const command = /→ [^:]*: (tar .*)$/m.exec(missing.err)![1]!;
    // Not waited for in place: the line is kept by this very process.
    expect((await once(spawn('sh', ['-c', command]), 'close'))[0]).toBe(0);
    writeFileSync(join(place.at('home'), 'slow.yaml'), sweep);
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
    line.cut();
    await shows(/reconnecting/);
    const before = last();
    line.heal();
    await terminal.waitFor((lines) => !lines.join('\n').includes('reconnecting'));
    await terminal.waitFor(() => last() > before);
    terminal.write('q');
    expect(await terminal.ended()).toMatchObject({ code: 0 });
    expect((await place.run('kill', '--host', 'far', 'slow', '--wait')).code).toBe(0);
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
