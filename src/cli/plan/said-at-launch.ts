import { type SaidAtLaunch, saidAtLaunch } from '../../files/sweep-text.js';
import { shellQuote } from '../../text/shell-words.js';
import { type LaunchOptions, projectOf, requestedSets } from '../options.js';

type Options = Pick<LaunchOptions, 'set' | 'wandbProject' | 'perGpu'>;

/** What of the options says what runs, and how many at once; slots and GPUs are kept by the supervisor. */
export function saidBy({ perGpu, ...options }: Options): SaidAtLaunch {
  return { set: requestedSets(options), ...(perGpu === undefined ? {} : { perGpu }) };
}

/**
 * What the last launch of a sweep said beside its file, and this one does not: without it the file means other runs. Null: there
 * is nothing. What is said otherwise now was thought of.
 */
export function leftOutNow(sweepDirectory: string, options: Options): SaidAtLaunch | null {
  const [before, now] = [saidAtLaunch(sweepDirectory), saidBy(options)];
  const names = new Set(now.set.map(nameOf));
  const set = before.set.filter((word) => !names.has(nameOf(word)));
  const perGpu = now.perGpu === undefined ? before.perGpu : undefined;
  return set.length === 0 && perGpu === undefined ? null : saidBy({ set, ...(perGpu === undefined ? {} : { perGpu }) });
}

/** `--set n_batches=500 --per-gpu 2`. */
export function optionWords({ set, perGpu }: SaidAtLaunch): string {
  const words = [
    ...set.map((word) => {
      const project = projectOf(word);
      return project === null ? `--set ${shellQuote([word])}` : `--wandb-project ${shellQuote([project])}`;
    }),
    ...(perGpu === undefined ? [] : [`--per-gpu ${perGpu}`]),
  ];
  return words.join(' ');
}

/** The options with what was left out of them. */
export function withLeftOut<Given extends Options>(options: Given, { set, perGpu }: SaidAtLaunch): Given {
  const all = [...set, ...(options.set ?? [])];
  return { ...options, ...(all.length === 0 ? {} : { set: all }), ...(perGpu === undefined ? {} : { perGpu }) };
}

/** `N` of `A.N=[16, 64]` is another than that of `N=16`. */
function nameOf(word: string): string {
  return word.slice(0, word.indexOf('='));
}
