/**
 * A worker of a pack as a program: `slurm-worker.js FOLDER WORKER COUNT`, called by the script of its job (`team.ts`).
 *
 * It needs of Slurm the variables of its job, and at most one call: of `squeue`, for how long it may take.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepSpareDescriptors } from '../../../files/spare-descriptor.js';
import { askProgram } from '../../../processes/short-call.js';
import { executorNamed } from '../../registry.js';
import { indicesIn } from '../cluster-nodes.js';
import { isOfEnclosingJob, secondsOf } from '../slurm-calls.js';
import { packFiles, type PackText } from './pack-files.js';
import { PackWorker } from './pack-worker.js';

const PATIENCE_MS = 60_000;
/** Between looks at whether the shell of the job is there, ms. */
const PARENT_MS = 1000;

const { env } = process;
void main(process.argv.slice(2));

async function main([folder = '', name = '', count = '1']: readonly string[]): Promise<void> {
  keepSpareDescriptors();
  const worker = new PackWorker(
    {
      open: await executorNamed('local'),
      ...{ folder, name, count: Number(count), index: Number(name.split('.').at(-1)) },
      ...{ job: Number(env['SLURM_JOB_ID']), node: env['SLURMD_NODENAME'] ?? '' },
      gpus: indicesIn(env['SLURM_JOB_GPUS'] ?? ''),
      text: JSON.parse(readFileSync(join(folder, packFiles.pack), 'utf8')) as PackText,
      given: Object.fromEntries(
        Object.entries(env).flatMap(([key, value = '']) => (isOfEnclosingJob(key) ? [[key, value]] : [])),
      ),
      log: (line) => process.stderr.write(`memrl-tui: ${line}\n`),
    },
    () => process.exit(0),
  );
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => worker.interrupt());
  process.on('SIGHUP', () => undefined);

  // Without its shell Slurm takes the job for over, and its runs for lost.
  const shell = process.ppid;
  setInterval(() => {
    if (process.ppid !== shell) worker.interrupt();
  }, PARENT_MS).unref();

  worker.start();
  const seconds = await secondsLeft();
  if (seconds !== null) worker.endsIn(seconds);
}

/** Of the job; null: it has no limit, or nobody says. */
async function secondsLeft(): Promise<number | null> {
  const end = Number(env['SLURM_JOB_END_TIME']);
  if (end > 0) return end - Date.now() / 1000;
  const args = ['-h', '-j', env['SLURM_JOB_ID'] ?? '', '-o', '%L'];
  const answer = await askProgram({ program: 'squeue', args, environment: env, patienceMs: PATIENCE_MS });
  const said = answer.kind === 'answered' ? answer.stdout.trim() : '';
  return /^[\d:-]+$/.test(said) ? secondsOf(said) : null;
}
