import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { waitFor } from './supervisor/testbed.js';

/** Where Debian, macOS and the others have it. */
export const SSHD = '/usr/sbin/sshd';

/** Hosts behind slow lines. */
export type SlowHosts = {
  readonly line: SlowLine;
  /** Folder of the `ssh` that knows these hosts. */
  readonly bin: string;
  homeOf(host: string): string;
  close(): void;
};

/** Lines on which every byte takes a while, and that can be cut. */
export class SlowLine {
  readonly #delayMs: number;
  readonly #servers: Server[] = [];
  readonly #ends = new Set<Socket>();
  #state: 'up' | 'cut' | 'silent' = 'up';
  /** Bytes that have come through, of all lines and both ways. */
  bytes = 0;

  /** @param delayMs To the host and back. */
  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** Opens a line to a port of this machine. @returns The port at its near end. */
  async to(target: number): Promise<number> {
    const server = createServer((from) => {
      if (this.#state === 'cut') return void from.destroy();
      const to = connect(target, '127.0.0.1');
      this.#pass(from, to);
      this.#pass(to, from);
    });
    this.#servers.push(server);
    return listening(server);
  }

  /** Ends all connections, and takes no others. */
  cut(): void {
    this.#state = 'cut';
    for (const end of this.#ends) end.destroy();
  }

  /** Drops every byte, as the line of a laptop that sleeps. */
  silence(): void {
    this.#state = 'silent';
  }

  heal(): void {
    this.#state = 'up';
  }

  close(): void {
    this.cut();
    for (const server of this.#servers) server.close();
  }

  #pass(from: Socket, to: Socket): void {
    this.#ends.add(from);
    from.on('data', (bytes) => {
      if (this.#state === 'silent') return;
      this.bytes += bytes.length;
      setTimeout(() => to.writable && to.write(bytes), this.#delayMs / 2);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      this.#ends.delete(from);
      setTimeout(() => to.destroy(), this.#delayMs / 2);
    });
  }
}

/**
 * Starts a real sshd for each host, behind slow lines, and an `ssh` that knows them. `jumped` is the last host through the first,
 * `shared` the first with one connection for all.
 */
export async function openSlowHosts(folder: string, names: readonly string[], delayMs: number): Promise<SlowHosts> {
  const at = (...path: string[]) => join(folder, ...path);
  mkdirSync(at('bin'));
  for (const key of ['host_key', 'id']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  writeFileSync(at('keys'), readFileSync(at('id.pub')));
  const line = new SlowLine(delayMs);
  const servers: ChildProcess[] = [];
  const config: string[] = [];
  const own: number[] = [];
  for (const name of names) {
    const [home, port] = [at(`home-${name}`), await freePort()];
    mkdirSync(home);
    const lines = [
      ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${at('host_key')}`, 'StrictModes no', 'UsePAM no'],
      ...[`AuthorizedKeysFile ${at('keys')}`, 'PasswordAuthentication no', `PidFile ${at(`${name}.pid`)}`],
      // The home directory of the person at this machine is not that of the host.
      `SetEnv HOME=${home} SHELL=/bin/sh`,
      `ForceCommand cd "${home}" && eval "$SSH_ORIGINAL_COMMAND"`,
    ];
    writeFileSync(at(`${name}.sshd`), `${lines.join('\n')}\n`);
    servers.push(spawn(SSHD, ['-D', '-e', '-f', at(`${name}.sshd`)], { stdio: 'ignore' }));
    config.push(`Host ${name}`, `Port ${await line.to(port)}`);
    own.push(port);
  }
  const [first, last] = [names[0]!, own.at(-1)!];
  config.push('Host jumped', `Port ${last}`, `ProxyJump ${first}`);
  config.push('Host shared', config[1]!, 'ControlMaster auto', `ControlPath ${at('cm-%C')}`, 'ControlPersist 1m');
  config.push('Host *', 'HostName 127.0.0.1', `IdentityFile ${at('id')}`, 'IdentitiesOnly yes');
  config.push(`UserKnownHostsFile ${at('known')}`, 'StrictHostKeyChecking accept-new', 'LogLevel ERROR');
  writeFileSync(at('ssh_config'), `${config.join('\n')}\n`);
  const ssh = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
  writeFileSync(at('bin', 'ssh'), `#!/bin/sh\nexec ${ssh} -F ${at('ssh_config')} "$@"\n`);
  chmodSync(at('bin', 'ssh'), 0o755);
  await waitFor('sshd to listen', () => names.every((name) => existsSync(at(`${name}.pid`))));
  return {
    line,
    bin: at('bin'),
    homeOf: (host) => at(`home-${host}`),
    close: () => {
      line.close();
      for (const server of servers) server.kill();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
}
