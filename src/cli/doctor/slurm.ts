import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isOnPath } from '../../processes/program-file.js';
import { askProgram } from '../../processes/short-call.js';
import { shellQuote } from '../../text/shell-words.js';
import { bad, type Check, type Finding, ok, type Place, warn } from './check.js';

/** Time limit of Slurm's commands, ms, which themselves wait for an unavailable controller. */
const PATIENCE_MS = 12_000;
/** Time limit of a job, ms, which may have to wait for a node of a busy cluster. */
const JOB_PATIENCE_MS = 60_000;
/** Tolerated difference between two clocks of a cluster, seconds. */
const SKEW = 5;

const absent = 'not here (needed only by --executor slurm)';

/** A check of Slurm's commands; its finding is `absent` if there are none. */
function slurmCheck(name: string, look: (place: Place) => Promise<Finding>, patienceMs = PATIENCE_MS): Check {
  const lookIfThere = (place: Place) => (isOnPath('sbatch', place.environment) ? look(place) : ok(absent));
  return { topic: 'Slurm', name, patienceMs, look: lookIfThere };
}

async function asked({ environment }: Place, program: string, ...args: string[]): Promise<string | null> {
  const answer = await askProgram({ program, args, environment, patienceMs: PATIENCE_MS });
  return answer.kind === 'answered' ? answer.stdout.trimEnd() : null;
}

const controller = slurmCheck('Controller', async (place) => {
  const [version, config] = [
    await asked(place, 'sbatch', '--version'),
    await asked(place, 'scontrol', 'show', 'config'),
  ];
  if (config === null) return bad(`${version ?? 'Slurm'}, and its controller does not answer`, 'Try `scontrol ping`.');
  const of = (key: string) => new RegExp(`^${key}\\s*=\\s*(.*)$`, 'm').exec(config)?.[1] ?? '?';
  const limits = `arrays up to ${of('MaxArraySize')}, ended jobs known for ${of('MinJobAge')}, SIGKILL ${of('KillWait')} after SIGTERM`;
  return ok(`${version}, cluster ${of('ClusterName')}: ${limits}`);
});

const partitions = slurmCheck('Partitions', async (place) => {
  const text = await asked(place, 'sinfo', '-h', '-o', '%P|%D|%G|%l|%a');
  if (text === null || text === '') return warn('none are known', 'Try `sinfo`.');
  const words = text.split('\n').map((line) => {
    const [name, nodes, gpus, time, state] = line.split('|');
    const each = gpus === '(null)' ? 'no GPU' : gpus;
    return `${name} (${nodes} nodes, ${each}, at most ${time}${state === 'up' ? '' : `, ${state}`})`;
  });
  return ok([...new Set(words)].join('; '));
});

const accounting = slurmCheck('Accounting', async (place) => {
  const text = await asked(place, 'sacct', '-n', '-X', '-o', 'JobID');
  if (text !== null) return ok('sacct tells of jobs that the controller has forgotten');
  return ok('there is none: how a job ended that the controller has forgotten is known by its exit code alone');
});

export const slurmChecks: readonly Check[] = [controller, partitions, accounting];

/** Starts a very short job that reports what a node sees of the disk, and its clock. */
export const nodeCheck = slurmCheck(
  'A node',
  async ({ environment, runsDirectory }) => {
    const folder = existsSync(runsDirectory) ? runsDirectory : dirname(runsDirectory);
    const script = `test -w ${shellQuote([folder])} && echo seen; date +%s; uname -n`;
    const args = ['-N1', '-n1', '-t1', '-J', 'memrl-doctor', '/bin/sh', '-c', script];
    const answer = await askProgram({ program: 'srun', args, environment, patienceMs: JOB_PATIENCE_MS - 2000 });
    if (answer.kind !== 'answered') return warn('no job could be run just now', 'Try `srun -N1 hostname`.');
    const lines = answer.stdout.trim().split('\n');
    const [node, time] = [lines.at(-1)!, Number(lines.at(-2))];
    if (lines[0] !== 'seen') {
      return bad(
        `${node} cannot write to ${folder}`,
        'Choose a runs directory on a disk that all nodes share: `--runs DIR`.',
      );
    }
    const skew = Math.round(Date.now() / 1000 - time);
    if (Math.abs(skew) > SKEW)
      return warn(`the clock of ${node} is ${skew} s behind`, 'Times of runs will be off by that.');
    return ok(`${node} can write to ${folder}, and its clock agrees`);
  },
  JOB_PATIENCE_MS,
);
