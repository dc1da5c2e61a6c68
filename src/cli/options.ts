import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { gpuIndexOf } from '../base/ids.js';
import { UserError } from '../base/user-error.js';
import { obstacleOf, statOf } from '../files/regular-file.js';
import { executorNames } from '../spec/executor-names.js';
import type { ExecutorName } from '../spec/planned-run.js';
import { parseDuration } from '../text/duration.js';
import { at, own } from './ports.js';

/** Options of every verb, as typed. */
export type CommonOptions = { runs?: string; json?: boolean; waitRead?: boolean };

/** Options for slots, as typed. */
export type SlotOptions = { gpus?: string; perGpu?: number; slots?: number };

/** Options of a launch, as typed. */
export type LaunchOptions = CommonOptions &
  SlotOptions & {
    dryRun?: boolean;
    verbose?: boolean;
    sweep?: string[];
    set?: string[];
    at?: string;
    wandbProject?: string;
    executor?: ExecutorName;
    detach?: boolean;
    readOnly?: boolean;
    plain?: boolean;
    ascii?: boolean;
    yes?: boolean;
  };

/** The slots that the user requests; an absent field means the whole machine. */
export type SlotFlags = { slots?: number; gpus?: number[] | 'none'; perGpu?: number };

/**
 * Absolute path of the runs directory, which need not exist.
 *
 * @param given The argument of `--runs`.
 * @throws {UserError} If no such folder is possible: the text is empty, it is a file, or a kernel file system.
 */
export function runsDirectory(given: string | undefined): string {
  const directory = runsPath(given);
  const obstacle = obstacleAt(directory);
  if (obstacle === null) return directory;
  throw new UserError(`${directory} cannot be a runs directory: ${obstacle}.`, 'Name another folder with --runs.');
}

/** The same path without checks, for `doctor`. */
export function runsPath(given: string | undefined): string {
  if (given?.trim() !== '') return at(given ?? 'runs');
  throw new UserError(
    '--runs is empty. Perhaps a shell variable is not set.',
    'Name a folder, or leave it out: then it is ./runs.',
  );
}

/** Parses an integer option. */
export function wholeNumber(option: string, least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && text.trim() !== '') return value;
    throw new UserError(
      `${option} ${text} is not a whole number of at least ${least}.`,
      `Write for example \`${option} 2\`.`,
    );
  };
}

/** Parses an option with a fixed set of words. */
export function oneOf<Word extends string>(option: string, words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((each) => each === text);
    if (word !== undefined) return word;
    throw new UserError(`${option} ${text} is not known.`, `Write one of: ${words.join(', ')}.`);
  };
}

/** Parses a duration option, in seconds. */
export function duration(option: string): (text: string) => number {
  return (text) => {
    const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : parseDuration(text);
    if (seconds !== null) return seconds;
    throw new UserError(
      `${option} ${text} is not a length of time.`,
      `Write for example \`${option} 90s\`, 30m, 2h or 1d.`,
    );
  };
}

/** The executor by the command line, else the file, else the environment; undefined: none is set. */
export function requestedExecutor({ executor }: Pick<LaunchOptions, 'executor'>, ofFile: ExecutorName | undefined) {
  const usual = own().env['MEMRL_EXECUTOR'];
  return executor ?? ofFile ?? (usual === undefined ? undefined : oneOf('MEMRL_EXECUTOR', executorNames)(usual));
}

/** Parses names with commas between them. */
export function namesIn(text: string): string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}

/** Collects the values of a repeatable option. */
export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

/** Overrides of the sweep file: those of `--set`, and those that other options stand for. */
export function requestedSets({ set, wandbProject, at: start }: Pick<LaunchOptions, 'set' | 'wandbProject' | 'at'>) {
  return [
    ...(set ?? []),
    ...(wandbProject === undefined ? [] : [projectSet + wandbProject]),
    ...(start === undefined ? [] : [`start.at=${start}`]),
  ];
}

const projectSet = 'env.WANDB_PROJECT=';

/** The option that an override stands for; null: it is from `--set`. */
export function projectOf(set: string): string | null {
  return set.startsWith(projectSet) ? set.slice(projectSet.length) : null;
}

/** Parses a name, which must not be empty, as an unset shell variable would be. */
export function nameFor(option: string): (text: string) => string {
  return (text) => {
    if (text.trim() !== '') return text;
    throw new UserError(
      `${option} is empty. Perhaps a shell variable is not set.`,
      `Name one, or leave ${option} out.`,
    );
  };
}

/** The user's environment for the runs, without undefined entries. */
export function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(own().env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Magic numbers of kernel file systems (proc, sysfs, cgroup, cgroup2, devpts), where creating a folder may hang for ever. */
const madeByKernel = [0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x1cd1];

/** Why the runs directory cannot be here, in words; null: it can. It need not exist yet. */
function obstacleAt(directory: string): string | null {
  try {
    const stat = statOf(directory);
    if (stat === undefined) return dirname(directory) === directory ? null : obstacleAt(dirname(directory));
    if (!stat.isDirectory()) return 'it, or a part of its path, is a file';
    return madeByKernel.includes(statfsSync(directory).type) ? 'what is there is made by the system' : null;
  } catch (error) {
    const obstacle = obstacleOf(error);
    return obstacle.kind === 'absent' ? null : obstacle.reason;
  }
}

export function requestedSlots({ slots, gpus, perGpu }: SlotOptions): SlotFlags {
  return {
    ...(slots === undefined ? {} : { slots }),
    ...(gpus === undefined ? {} : { gpus: gpus === 'none' ? 'none' : gpuList('--gpus', gpus.split(',')) }),
    ...(perGpu === undefined ? {} : { perGpu }),
  };
}

/** Parses GPUs in order of preference. `1:0` is an instance of a divided GPU (MIG). */
export function gpuList(option: string, names: readonly string[]): number[] {
  const indexes = names.map((name) => {
    const index = gpuIndexOf(name.trim());
    if (index !== null) return index;
    throw new UserError(
      `${option} ${names.join(',')} is not a list of GPUs: "${name}" is none.`,
      `Write for example \`${option} 0,1\`, or 1:0 for the first instance of GPU 1${option === '--gpus' ? '; `--gpus none` runs on the CPU' : ''}.`,
    );
  });
  return [...new Set(indexes)];
}
