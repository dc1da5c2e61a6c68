import { groupBy } from '../../base/group-by.js';
import type { Packing } from '../../executors/executor.js';
import { packingBy } from '../../executors/registry.js';
import { otherOrigin } from '../../files/sweep-folder.js';
import { hasSweepInside, hasWandbAccount, scriptsIn } from '../../files/wandb-setup.js';
import { demandOf } from '../../launch/demand.js';
import { loggerEnvironment } from '../../spec/expand/wandb-run.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { compactNames } from '../../text/compact-names.js';
import { counted } from '../../text/numbers.js';
import { type Redact, redactor, redactWords } from '../../text/redaction.js';
import { definedEnvironment, type LaunchOptions, projectOf, requestedSets } from '../options.js';
import { at } from '../ports.js';
import { leftOutNow, optionWords, type ReadPlan, sweepDirectory } from './read.js';

type Environment = Readonly<Record<string, string>>;

/** What whoever launches a sweep should know beforehand. Nothing is changed. @param file The file of its text. */
export function launchNotes(plan: ReadPlan, file: string): string[] {
  const allocation = allocationNote(plan.plan, definedEnvironment());
  return [originWarning(plan, file), allocation, leftOutNote(plan, file)].filter((note) => note !== null);
}

/** What a plan tells beside its launch: which runs share jobs of Slurm, and which of them show secrets. */
export function runNotes({ plan: { runs, executor }, options: { perGpu } }: ReadPlan): string[] {
  const packs = executor === 'slurm' ? packNote(runs, perGpu) : null;
  return [packs, exposedSecrets(runs, definedEnvironment())].filter((note) => note !== null);
}

/** Where the runs log to; empty: to no service. */
export function loggingNotes({ plan: { runs }, options }: ReadPlan): string[] {
  const note = wandbNote(runs, definedEnvironment(), requestedProject(options));
  return note === null ? [] : [note];
}

/** Warns of two files with the same sweep name, whose runs would be mixed, usually by mistake. */
function originWarning(plan: ReadPlan, file: string): string | null {
  const directory = sweepDirectory(plan);
  const other = otherOrigin(directory, at(file), plan.read.text);
  if (other === null) return null;
  return `${plan.plan.sweep} was launched from another file before: ${other}. Its runs and those of ${file} are in one sweep, ${directory}, which keeps the text of both; give one of the files another \`name\` if they are two sweeps.`;
}

/** Tells of the options of the last launch that this one lacks. */
function leftOutNote(plan: ReadPlan, file: string): string | null {
  const left = leftOutNow(sweepDirectory(plan), plan.options);
  if (left === null) return null;
  const words = optionWords(left);
  return `${plan.plan.sweep} was launched with ${words} last, and now is without. To keep it: memrl-tui ${file} ${words}`;
}

/**
 * Where runs are started inside an allocation (`salloc`, a notebook's job): here, on what it has. Null: not in one, or they are
 * submitted.
 */
export function allocationNote({ executor }: Pick<Plan, 'executor'>, environment: Environment): string | null {
  const job = environment['SLURM_JOB_ID'];
  if (job === undefined || (executor ?? 'local') !== 'local') return null;
  const node = environment['SLURMD_NODENAME'];
  if (node === undefined) {
    return `inside the allocation of Slurm job ${job}, but this shell is not on its node: \`srun --pty --overlap memrl-tui …\` starts the runs there`;
  }
  const gpus = environment['CUDA_VISIBLE_DEVICES'] ?? environment['ROCR_VISIBLE_DEVICES'] ?? '';
  const has = gpus === '' ? 'which has no GPU' : `on ${gpus.includes(',') ? 'its GPUs' : 'its GPU'} ${gpus}`;
  return `inside Slurm job ${job}: runs are started here on ${node}, ${has}, and end with the job`;
}

/**
 * A note on where programs with W&B or trackio write, if the first run's script names one of them or a project is set; null:
 * neither.
 *
 * @param project The W&B project that the command line sets for all runs.
 */
export function wandbNote(
  runs: readonly PlannedRun[],
  environment: Readonly<Record<string, string | undefined>>,
  project: string | null = null,
): string | null {
  const isFirst = (index: number) => runs[index]!.group !== runs[index - 1]?.group;
  const logging = runs.find((run, index) => isFirst(index) && (project !== null || isLogging(run)));
  if (logging === undefined) return null;
  const said = { ...environment, ...logging.env };
  const given = { ...loggerEnvironment(logging.directory, said, hasWandbAccount(said, logging.cwd)), ...logging.env };
  const words = project === null ? [] : [`The runs have WANDB_PROJECT=${project}.`];
  if (given['WANDB_MODE'] === 'offline') {
    words.push(
      'wandb and trackio write to the directory of each run, wandb offline, as no key of it is configured here.',
      'To send it later: wandb sync RUN/wandb/offline-run-*',
      ...(hasSweepInside(logging.argv, logging.cwd)
        ? ['The sweep inside the program is answered on this machine.']
        : []),
    );
  } else if (given['WANDB_DIR'] !== undefined) words.push('wandb and trackio write to the directory of each run.');
  return words.length === 0 ? null : words.join(' ');
}

function isLogging({ argv, cwd }: PlannedRun): boolean {
  return [...argv, ...scriptsIn(argv, cwd)].some((text) => /\b(wandb|trackio)\b/.test(text));
}

/** The W&B project that the command line sets for all runs; null: none. */
function requestedProject(options: LaunchOptions): string | null {
  return requestedSets(options).flatMap((set) => projectOf(set) ?? [])[0] ?? null;
}

/** Which runs workers take, and why where nobody asked for that; null: none. */
export function packNote(runs: readonly PlannedRun[], perGpu: number | undefined): string | null {
  const packed = alike(runs, perGpu).filter(({ packing }) => packing !== null);
  if (packed.length === 0) return null;
  const total = packed.reduce((sum, { count }) => sum + count, 0);
  const whys = [...new Set(packed.flatMap(({ packing }) => packing?.why ?? []))].join(' and ');
  const why = whys === '' ? '' : `, as ${whys}; \`slurm: { mode: jobs }\` makes each a job of its own`;
  return `${counted(total, 'run')} in packs: jobs of Slurm that take one after the other${why}`;
}

/**
 * Jobs of Slurm, each as what it is: `slurm job`, which is one run, or `slurm worker`, which takes many.
 *
 * @param most Jobs at a time. @param perGpu Runs that may share a GPU, where the command line says so.
 */
export function slurmSlots(runs: readonly PlannedRun[], most: number, perGpu: number | undefined): string[] {
  const slots = alike(runs, perGpu).flatMap(({ count, packing }) =>
    packing === null
      ? Array.from({ length: count }, () => 'slurm job')
      : Array.from({ length: Math.min(packing.workers, count) }, () => 'slurm worker'),
  );
  return slots.slice(0, most);
}

/** Runs that ask for the same. */
function alike(runs: readonly PlannedRun[], perGpu: number | undefined): { count: number; packing: Packing | null }[] {
  const groups = groupBy(runs, (run) => JSON.stringify(demandOf(run, perGpu)));
  return [...groups.values()].map((same) => ({
    count: same.length,
    packing: packingBy('slurm', demandOf(same[0]!, perGpu)),
  }));
}

/** Width in columns to which names are shortened. */
const WIDTH = 60;

/**
 * A warning for users with secrets in command lines: this program does not show them, but the operating system does, to everyone.
 * Null: there are none.
 *
 * @param environment The user's environment, which defines the secrets.
 */
export function exposedSecrets(
  runs: readonly PlannedRun[],
  environment: Readonly<Record<string, string>>,
): string | null {
  const redactors = new Map<string, Redact>();
  const exposed = runs.filter(({ argv, env }) => {
    const key = JSON.stringify(env);
    const redact = redactors.get(key) ?? redactor({ ...environment, ...env });
    redactors.set(key, redact);
    return redactWords(argv, redact).some((word, index) => word !== argv[index]);
  });
  if (exposed.length === 0) return null;
  const names = compactNames(
    exposed.map(({ name }) => name),
    WIDTH,
  );
  const whose =
    exposed.length === 1 ? `The command of ${names} holds` : `The commands of ${exposed.length} runs (${names}) hold`;
  return `${whose} a secret, which everyone on this machine can read with \`ps\`. Let the program read it from its environment, which the runs get from you, instead.`;
}
