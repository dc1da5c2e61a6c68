import { resolve } from 'node:path';
import { UserError } from '../base/user-error.js';

/** What may follow the name of a sweep file, as typed. */
export type LaunchOptions = {
  dryRun?: boolean;
  json?: boolean;
  verbose?: boolean;
  sweep?: string[];
  set?: string[];
  runs?: string;
  gpus?: string;
  perGpu?: number;
  slots?: number;
  detach?: boolean;
  plain?: boolean;
  ascii?: boolean;
};

/** Room for runs that the person grants; what is left out is the whole machine. */
export type SlotWish = { slots?: number; gpus?: number[] | 'none'; perGpu?: number };

/** Absolute path of the folder that holds the sweeps. */
export function runsDirectory(given: string | undefined): string {
  return resolve(given ?? 'runs');
}

/** Reads a count from the command line. */
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

export function slotWish({ slots, gpus, perGpu }: LaunchOptions): SlotWish {
  return {
    ...(slots === undefined ? {} : { slots }),
    ...(gpus === undefined ? {} : { gpus: gpuList(gpus) }),
    ...(perGpu === undefined ? {} : { perGpu }),
  };
}

function gpuList(text: string): number[] | 'none' {
  if (text === 'none') return 'none';
  const indexes = text.split(',').map(Number);
  if (/^\d+(,\d+)*$/.test(text)) return indexes;
  throw new UserError(
    `--gpus ${text} is not a list of GPU indexes.`,
    'Write for example `--gpus 0,1`, or `--gpus none` to run on the CPU.',
  );
}
