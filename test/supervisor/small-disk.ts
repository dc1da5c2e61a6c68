import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Programs } from '../../src/client/ensure-supervisor.js';
import { identityOf, isAlive } from '../../src/processes/process-identity.js';
import { readLock } from '../../src/supervisor/core/lock.js';
import { bundledSupervisor, waitFor } from './testbed.js';
import { isDeserted, removeFolder } from '../remove-folder.js';

/** Whether a file system may be mounted here without being root. Says loudly what is left out when it may not. */
export function canMount(needed: string): boolean {
  const can = spawnSync('unshare', ['-rm', 'true']).status === 0 && spawnSync('nsenter', ['--version']).status === 0;
  if (!can) console.warn(`SKIPPED, because unshare -rm is not permitted here: ${needed}`);
  return can;
}

/**
 * A file system of its own for a runs directory, small enough to be filled. It is mounted where only the processes that
 * are started in it see it; everyone else comes to it by way of its keeper's `/proc` entry.
 */
export class SmallDisk {
  /** The runs directory, for those who are started in it. */
  readonly inside: string;
  /** The same, for the test. */
  readonly outside: string;
  readonly #place: string;
  readonly #keeper: ChildProcess;

  private constructor(place: string, inside: string, keeper: ChildProcess) {
    this.#place = place;
    this.inside = inside;
    this.outside = join('/proc', String(keeper.pid), 'root', inside);
    this.#keeper = keeper;
  }

  /** `size`: in the words of `mount`. */
  static async mount(size: string): Promise<SmallDisk> {
    const place = realpathSync(mkdtempSync(join(tmpdir(), 'small-disk-')));
    const inside = join(place, 'runs');
    const script = `mkdir ${inside} && mount -t tmpfs -o size=${size} none ${inside} && echo there && exec sleep 600`;
    const keeper = spawn('unshare', ['-rm', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => keeper.stdout.once('data', resolve));
    return new SmallDisk(place, inside, keeper);
  }

  /** How a supervisor is started in it. */
  async programs(): Promise<Programs> {
    const node = join(this.#place, 'node');
    const enter = `nsenter -t ${this.#keeper.pid} -U -m --preserve-credentials`;
    writeFileSync(node, `#!/bin/sh\nexec ${enter} ${process.execPath} "$@"\n`, { mode: 0o755 });
    const environment = { ...process.env, MEMRL_LEASES: join(this.#place, 'leases') };
    return { node, supervisor: await bundledSupervisor(), bin: this.#place, environment };
  }

  /** A file beside the disk, that there is always room for. */
  beside(name: string): string {
    return join(this.#place, name);
  }

  /** Bytes that are free. */
  get free(): number {
    const { bavail, bsize } = statfsSync(this.outside);
    return bavail * bsize;
  }

  get supervisorPid(): number | null {
    const lock = readLock(join(this.outside, '.supervisor', 'lock.json'));
    return lock !== null && isAlive(lock) ? lock.pid : null;
  }

  async killSupervisor(): Promise<void> {
    const pid = this.supervisorPid;
    if (pid === null) throw new Error('there is no supervisor to kill');
    process.kill(pid, 'SIGKILL');
    await waitFor('the supervisor to be dead', () => identityOf(pid) === null);
  }

  /** Text of a file on it; empty when there is none. */
  text(...parts: string[]): string {
    try {
      return readFileSync(join(this.outside, ...parts), 'utf8');
    } catch {
      return '';
    }
  }

  async close(): Promise<void> {
    await waitFor('nothing to be left', () => isDeserted(this.#place));
    // It holds an output of the tests, which would wait for its end.
    this.#keeper.kill('SIGKILL');
    removeFolder(this.#place);
  }
}
