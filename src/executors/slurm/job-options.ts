import { basename, dirname, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import type { LaunchSpec } from '../executor.js';

/** Seconds added to what a run may take, so that the supervisor ends it before Slurm does. */
const SPARE = 60;

/** What a job is asked for on behalf of a run. */
export type Demand = Pick<LaunchSpec, 'cwd' | 'needs' | 'slurm'>;

/** @param gpusOfAuto What a run gets that takes a GPU where there is one. */
export function gpusFor({ gpus }: Demand['needs'], gpusOfAuto: number): number {
  return gpus === 'auto' ? gpusOfAuto : gpus;
}

/** The words for `sbatch` that say what jobs may have, and where: equal for runs that may be submitted together. */
export function jobOptions({ cwd, needs, slurm = {} }: Demand, gpusOfAuto: number): string[] {
  const gpus = gpusFor(needs, gpusOfAuto);
  const seconds = needs.seconds == null ? null : needs.seconds + SPARE;
  const time = slurm.time ?? seconds;
  return [
    ...['--export=ALL', '--open-mode=append', '--no-requeue', '-D', cwd],
    ...['--nodes=1', '--ntasks=1', `--cpus-per-task=${needs.cpus}`],
    ...(gpus === 0 ? [] : [`--gres=gpu:${gpus}`]),
    ...(time === null ? [] : [`--time=${clock(time)}`]),
    ...(['partition', 'account', 'qos', 'constraint'] as const).flatMap((name) => {
      const value = slurm[name];
      return value === undefined ? [] : [`--${name}=${value}`];
    }),
    ...(slurm.extra ?? []),
  ];
}

/** Where Slurm itself writes what it has to say of a job: the run's log. In names of files it takes `%j` for the job's number. */
export function logOption({ directory }: LaunchSpec): string[] {
  return ['-o', join(directory, runFiles.log).replaceAll('%', '%%')];
}

/** What people see in `squeue`. Slurm makes no file of a name with a slash. */
export function jobName({ directory, attempt }: LaunchSpec): string {
  return `${basename(dirname(directory))}:${basename(directory)}.${attempt}`;
}

/** `1-02:03:04` */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const part = (unit: number, of: number) => String(Math.floor(whole / unit) % of).padStart(2, '0');
  return `${Math.floor(whole / 86_400)}-${part(3600, 24)}:${part(60, 60)}:${part(1, 60)}`;
}
