import type { WrittenRow } from './formats/format.js';

/**
 * A counter of the training. `key`: its name in the row of a printed line. `is`: `steps` rise with each row, and a row of the same
 * step adds to the row before; `coarse` counters stay the same for several rows; `within` begins again in each epoch; `time` is how
 * long the run has taken.
 */
export type Counter = { readonly key: string; readonly is: 'steps' | 'coarse' | 'within' | 'time' };

/** The names of each counter, without case and separators. A row with several is ordered by the first of them. */
const table: readonly (Counter & { readonly names: string })[] = [
  { key: 'global_step', is: 'steps', names: 'globalstep globalsteps globaliter globaliteration' },
  { key: 'step', is: 'steps', names: 'step' },
  {
    key: 'step',
    is: 'steps',
    names:
      'iteration iterations iter iters it itr niter curriter update updates up numupdates nupdates generation gen currentstep ' +
      'currentsteps trainstep trainsteps trainingstep trainingsteps trainingiteration trainiter optimizerstep optstep optimstep ' +
      'gradientstep gradientsteps gradstep gradsteps learnerstep stepidx round tick kimg',
  },
  { key: 'epoch', is: 'coarse', names: 'epoch epochs ep currentepoch epochnum epochidx nepoch epochnumber' },
  { key: 'episode', is: 'coarse', names: 'episode iepisode episodenum episodeidx' },
  { key: 'trial', is: 'coarse', names: 'trial' },
  {
    key: 'step',
    is: 'coarse',
    names:
      'timestep timesteps totaltimesteps numtimesteps timestepstotal tenv policystep envstep envsteps totalenvsteps numenvsteps envinteracts ' +
      'totalenvinteracts numenvstepssampled numenvstepssampledlifetime agentsteps totalsteps steps numsteps nsteps frame frames ' +
      'numframes totalframes totalnumframes envframes samplesseen numsamplesseen consumedsamples consumedtrainsamples numtokens ' +
      'tokensseen numtokensseen numinputtokensseen consumedtokens totaltokens',
  },
  { key: 'episode', is: 'coarse', names: 'episodes numepisodes totalepisodes episodestotal' },
  { key: 'batch', is: 'within', names: 'batch batches batchidx batchnum minibatch' },
  { key: 'time', is: 'time', names: 'time elapsed elapsedtime timeelapsed elapsedseconds elapseds' },
];

/** `rank`: the place of its name among all, from the first that orders rows. */
type Ranked = Counter & { readonly rank: number };

const byName: ReadonlyMap<string, Ranked> = new Map(
  table
    .flatMap(({ names, ...counter }) => names.split(' ').map((name) => ({ name, counter })))
    .map(({ name, counter }, rank) => [name, { ...counter, rank }]),
);

/** Groups of metrics in which programs put counters. In any other, a name says something else: `time/step` takes seconds. */
const groups =
  /^(?:train|trainer|training|charts|counters|info|global|system)[/.](?=[^/.]+$)|^time\/(?=total_timesteps$)/i;

/** Counters by name: programs use the same few names in all rows. */
const known = new Map<string, Ranked | null>();
const MOST_KNOWN = 8192;

/** The counter with this name, in any case and spelling (`Epoch`, `env_steps`, `trainer/global_step`); null: it is none. */
export function counterNamed(name: string): Ranked | null {
  const before = known.get(name);
  if (before !== undefined) return before;
  if (known.size >= MOST_KNOWN) known.clear();
  const counter = byName.get(
    name
      .replace(groups, '')
      .replaceAll(/[\s_.-]/g, '')
      .toLowerCase(),
  );
  // SB3 counts updates within a row of time steps.
  const found = counter === undefined || /^train\/n_updates$/.test(name) ? null : counter;
  known.set(name, found);
  return found;
}

/**
 * The key of a row that orders the rows of its source, and whether it counts steps. Null: the rows are only numbered.
 *
 * @param valueOf The value of a key; a counter, except one of epochs or time, is a whole number, unlike the loss `gen` of a GAN.
 */
export function stepKeyOf(
  keys: Iterable<string>,
  valueOf?: (key: string) => unknown,
): { key: string; counts: boolean; is: Counter['is'] } | null {
  let best: { key: string; counter: Ranked } | null = null;
  for (const key of keys) {
    const counter = counterNamed(key);
    if (counter === null || (best !== null && best.counter.rank <= counter.rank)) continue;
    if (valueOf === undefined || mayBe(counter, valueOf(key))) best = { key, counter };
  }
  return best && { key: best.key, counts: best.counter.is === 'steps', is: best.counter.is };
}

function mayBe({ is, key }: Counter, value: unknown): boolean {
  return (
    typeof value === 'number' && (is === 'time' || key === 'epoch' ? Number.isFinite(value) : Number.isInteger(value))
  );
}

/** Keys of the time at which a row was written, the surest first. */
export const timeKeys: ReadonlySet<string> = new Set(['_timestamp', 'timestamp', 'wall_time', 'time', 'ts']);

/** Whether a key tells the time, which goes on also in rows that come late. */
export function isClock(key: string): boolean {
  return timeKeys.has(key) || key === '_runtime';
}

/** Whether a metric is a counter or a time by its name, over which others are drawn. */
export function isAxis(name: string): boolean {
  return counterNamed(name) !== null || isClock(name);
}

/** When a row was written by its own fields, Unix ms; null: it has no time. A small number is not a date but a duration. */
export function timeOf(row: WrittenRow): number | null {
  for (const key of timeKeys) {
    const time = row[key];
    if (typeof time === 'number' && time > 1e9) return time > 1e11 ? time : time * 1000;
    if (typeof time === 'string' && !Number.isNaN(Date.parse(time))) return Date.parse(time);
  }
  return null;
}
