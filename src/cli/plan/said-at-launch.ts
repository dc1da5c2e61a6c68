import { type LaunchOverrides, readLaunchOverrides } from '../../files/sweep-text.js';
import { startAtIn } from '../../spec/file/overrides.js';
import { shellQuote } from '../../text/shell-words.js';
import { instantOf, parseDatedTime } from '../../text/zoned-time.js';
import { type LaunchOptions, projectOf, requestedSets } from '../options.js';
import { localZone } from '../ports.js';

type Options = Pick<LaunchOptions, 'set' | 'wandbProject' | 'at' | 'perGpu'>;

/** The options that change what runs, and how many at once; the supervisor keeps slots and GPUs. */
export function saidBy({ perGpu, ...options }: Options): LaunchOverrides {
  return { set: requestedSets(options), ...(perGpu === undefined ? {} : { perGpu }) };
}

/**
 * Options of the sweep's last launch that this one lacks, so that the file would mean other runs. Null: there are none. Options
 * that now have other values do not count, as that is intended.
 */
export function leftOutNow(sweepDirectory: string, options: Options): LaunchOverrides | null {
  const [before, now] = [readLaunchOverrides(sweepDirectory), saidBy(options)];
  const names = new Set(now.set.map(nameOf));
  const set = before.set.filter((word) => !names.has(nameOf(word)) && !hasPassed(word));
  const perGpu = now.perGpu === undefined ? before.perGpu : undefined;
  return set.length === 0 && perGpu === undefined ? null : saidBy({ set, ...(perGpu === undefined ? {} : { perGpu }) });
}

/** The options as they are typed: `--set n_batches=500 --per-gpu 2`. */
export function optionWords({ set, perGpu }: LaunchOverrides): string {
  const words = [
    ...set.map((word) => {
      const [project, start] = [projectOf(word), startAtIn(word)];
      if (start !== null) return `--at ${shellQuote([start])}`;
      return project === null ? `--set ${shellQuote([word])}` : `--wandb-project ${shellQuote([project])}`;
    }),
    ...(perGpu === undefined ? [] : [`--per-gpu ${perGpu}`]),
  ];
  return words.join(' ');
}

/** The options with the missing ones added. */
export function withLeftOut<Given extends Options>(options: Given, { set, perGpu }: LaunchOverrides): Given {
  const all = [...set, ...(options.set ?? [])];
  return { ...options, ...(all.length === 0 ? {} : { set: all }), ...(perGpu === undefined ? {} : { perGpu }) };
}

/** Whether it set a start time that has come. */
function hasPassed(word: string): boolean {
  const time = parseDatedTime(startAtIn(word) ?? '');
  return time !== null && instantOf(time, localZone()) <= Date.now();
}

/** The name that an option sets: the `N` of `A.N=[16, 64]` is another one than that of `N=16`. */
function nameOf(word: string): string {
  return word.slice(0, word.indexOf('='));
}
