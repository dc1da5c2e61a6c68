import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const script = resolve('test/executors/slurm/pretend-slurm.sh');
const commands = ['sbatch', 'squeue', 'scancel', 'scontrol', 'sinfo', 'sacct'];

type Said = 'hold' | 'dead' | 'unstarted' | 'busy' | 'arraySize' | 'end' | 'gpus' | 'nodes';

/** Commands called like those of Slurm in `directory/bin`, whose jobs are processes of this machine; see `pretend-slurm.sh`. */
export class PretendSlurm {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(join(directory, 'bin'), { recursive: true });
    for (const command of commands) {
      const file = join(directory, 'bin', command);
      writeFileSync(
        file,
        `#!/bin/sh\nexport PRETEND_SLURM='${directory}' PRETEND_NODE='${process.execPath}'\nexec /bin/sh '${script}' ${command} "$@"\n`,
      );
      chmodSync(file, 0o755);
    }
  }

  /** For who calls them. */
  get environment(): Record<string, string> {
    const path = `${join(this.#directory, 'bin')}:${process.env['PATH']}`;
    return { PATH: path, MEMRL_SLURM_EVERY_MS: '50' };
  }

  /** Of its jobs, in the order of their submission. */
  addresses(): string[] {
    const jobs = join(this.#directory, 'jobs');
    if (!existsSync(jobs)) return [];
    return readdirSync(jobs).filter((name) => existsSync(join(jobs, name, 'state')));
  }

  fact(address: string, name: 'comment' | 'script' | 'state' | 'log' | 'group'): string {
    return readFileSync(join(this.#directory, 'jobs', address, name), 'utf8').trim();
  }

  /** As a person does it. */
  cancel(address: string): void {
    spawnSync(join(this.#directory, 'bin', 'scancel'), [address], { stdio: 'ignore' });
  }

  isCancelled(address: string): boolean {
    return existsSync(join(this.#directory, 'jobs', address, 'cancelled'));
  }

  /** Puts what a job does not say of itself there, or takes it away: see the script. */
  set(name: Said | `jobs/${string}/${'fate' | 'forgotten'}`, value: string | null): void {
    const path = join(this.#directory, name);
    if (value === null) rmSync(path, { force: true });
    else writeFileSync(path, value);
  }
}
