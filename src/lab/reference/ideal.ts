import { dirname, resolve } from 'node:path';
import { mean, median } from '../../analysis/statistics.js';
import { UserError } from '../../base/user-error.js';
import { countText, NOTHING, shortNumber } from '../../text/numbers.js';
import { columnsOf, tableLines } from '../../text/table.js';
import type { Config } from '../config/key.js';
import { ceilingOf } from '../environments/memory/ceiling.js';
import { signalBits } from '../environments/memory/rules.js';
import { conditionName } from '../environments/memory/task.js';
import { rng, type Rng } from '../rng.js';
import { makeDirectory } from '../run/make-directory.js';
import type { ProcessContext, StopSignal } from '../run/process-context.js';
import { writeWhole } from '../run/run-directory.js';
import type { ReferenceEpisodes, ReferenceFile, ReferenceRow } from './reference-file.js';
import { type Channel, channelOf, mutualBits } from './channel.js';
import { conditionNamed, type LabCondition } from './conditions.js';
import type { idealKeys } from './keys.js';
import { tabular, type TabularSettings } from './tabular.js';

type IdealConfig = Config<typeof idealKeys>;

/** Pairs of guess and secret are enumerated: 16.8 million of them at this size. */
const LARGEST_N = 4096;

/**
 * Results of learners without a network on the same channels: the ideal learner, and a table of logits.
 *
 * @returns the signal that interrupted it, if one did.
 * @throws UserError when N is too large to be enumerated.
 */
export async function ideal(config: IdealConfig, context: ProcessContext): Promise<ReferenceFile | StopSignal> {
  const large = config.N.find((N) => N > LARGEST_N);
  if (large !== undefined) {
    throw new UserError(
      `N=${large} is more than can be enumerated here, ${LARGEST_N}.`,
      'Leave it out: the figures grow evenly with N.',
    );
  }
  const rows: ReferenceRow[] = [];
  for (const name of config.conditions) {
    for (const N of config.N) {
      const signal = await context.stopAsked();
      if (signal !== null) return signal;
      rows.push(rowOf(conditionNamed(name)!, N, config));
    }
  }
  const { optimizer, learning_rate, group_size, budget } = config;
  return { version: 1, tabular: { optimizer, learning_rate, group_size, budget }, rows };
}

/** Each cell has streams of its own, so that it does not depend on the other cells. */
function rowOf(condition: LabCondition, N: number, config: IdealConfig): ReferenceRow {
  const channel = channelOf(condition, N);
  const seeds = Array.from({ length: config.seeds }, (_, index) => config.seed + index);
  const secretOf = (seed: number) => rng(seed, `secret below ${N}`).below(N);
  const stream = (seed: number, learner: string) => rng(seed, `${learner}/${JSON.stringify(condition)}/${N}`);
  const guessed = seeds.map((seed) => thompson(channel, secretOf(seed), stream(seed, 'ideal')));
  const table = (seed: number) => tabular(condition, tableOf(config, N, secretOf(seed)), stream(seed, 'tabular'));
  return {
    condition,
    N,
    secretBits: signalBits(N),
    ceilingBits: ceilingOf(condition, N).bits,
    mutualBits: mutualBits(channel),
    ideal: overSeeds(guessed),
    tabular: condition.kind === 'sft' ? null : overSeeds(seeds.map(table)),
  };
}

function tableOf(config: IdealConfig, N: number, secret: number): TabularSettings {
  const { group_size: groupSize, optimizer, learning_rate: learningRate, budget } = config;
  return { N, secret, groupSize, optimizer, learningRate, budget };
}

/** Writes the results where `memrl-tui report` finds them. @throws UserError when the file cannot be written. */
export function writeReference(path: string, file: ReferenceFile): void {
  try {
    makeDirectory(dirname(resolve(path)), 'out');
    writeWhole(path, `${JSON.stringify(file, null, 1)}\n`);
  } catch (cause) {
    throw new UserError(`${path} cannot be written.`, 'Set out to a file in a folder that you may write to.', {
      cause,
    });
  }
}

/** The results as lines of text; no line is wider than `width`. */
export function idealLines(
  { rows, tabular: { optimizer, learning_rate, group_size, budget } }: ReferenceFile,
  width: number,
): string[] {
  const column = columnsOf(rows);
  const [left, right] = [column('left'), column('right')];
  const columns = [
    left('condition', ({ condition }) => conditionName(condition)),
    right('N', ({ N }) => String(N)),
    right('B', ({ condition }) => (condition.kind === 'binned' ? String(condition.bins) : '')),
    right('ceiling', ({ ceilingBits }) => shortNumber(ceilingBits)),
    right('I(R;S|G)', ({ mutualBits: bits }) => shortNumber(bits)),
    right('ideal', ({ ideal: episodes }) => medianText(episodes)),
    left('95 %', ({ ideal: episodes }) => intervalText(episodes), 2),
    right('mean', ({ ideal: { mean } }) => shortNumber(mean), 1),
    right('table', ({ tabular: episodes }) => medianText(episodes)),
    left('95 %', ({ tabular: episodes }) => intervalText(episodes), 2),
    right('memorised', ({ tabular: episodes }) =>
      episodes === null ? NOTHING : `${episodes.reached}/${episodes.seeds}`,
    ),
  ];
  return [
    ...tableLines(columns, width),
    '',
    'ceiling: the most bits one episode can carry. I(R;S|G): those that it carries while all guesses are equally likely.',
    'ideal: episodes until a learner that draws every conclusion has guessed the secret; median over the seeds, and its 95 % interval.',
    `table: episodes until a table of independent logits has memorised it (${optimizer}, learning rate ${learning_rate}, groups of ${group_size}); ∞: most had not after ${countText(budget)}.`,
  ];
}

function medianText(episodes: ReferenceEpisodes | null): string {
  return episodes === null ? NOTHING : countText(episodes.median ?? Infinity);
}

function intervalText(episodes: ReferenceEpisodes | null): string {
  if (episodes === null || episodes.interval === null) return '';
  const [low, high] = episodes.interval;
  return `${countText(low)} to ${countText(high ?? Infinity)}`;
}

/**
 * A player that knows the rules: it guesses any of the secrets that are still possible and not yet guessed, each
 * equally likely (Thompson 1933, with a uniform prior and rewards without noise), and rules out secrets by each
 * reward. It tries to be right at once rather than to learn most, so there may be faster players.
 *
 * @returns the episodes up to and including the first in which it guesses the secret. With an example it is the first.
 */
export function thompson(channel: Channel, secret: number, random: Rng): number {
  const { condition, N, rewardIndex } = channel;
  if (condition.kind === 'sft') return 1;
  // A wrong guess rules out nothing but itself, so all numbers are guessed in random order.
  if (condition.kind === 'binary') return 1 + random.below(N);
  // Words of the multi-step environment that are no number below N are never worth guessing.
  const guessed = new Uint8Array(N);
  let possible = Array.from({ length: N }, (_, value) => value);
  for (let episode = 1; ; episode++) {
    const untried = possible.filter((value) => guessed[value] === 0);
    const guess = untried[random.below(untried.length)]!;
    guessed[guess] = 1;
    const observed = rewardIndex(guess, secret);
    possible = possible.filter((candidate) => rewardIndex(guess, candidate) === observed);
    if (guess === secret) return episode;
  }
}

/**
 * Summary over the seeds of one setting.
 * @param episodes null for a seed that did not reach the goal: it counts as infinite.
 */
export function overSeeds(episodes: readonly (number | null)[]): ReferenceEpisodes {
  const all = episodes.map((each) => each ?? Infinity).sort((a, b) => a - b);
  const reached = all.filter(Number.isFinite);
  const ranks = medianRanks(all.length);
  return {
    seeds: all.length,
    reached: reached.length,
    median: finite(median(all)!),
    interval: ranks === null || all[ranks[0]] === Infinity ? null : [all[ranks[0]]!, finite(all[ranks[1]]!)],
    mean: mean(reached),
  };
}

/**
 * Ranks, from 0, of the sorted values between which the true median lies with at least 95 % confidence, whatever the
 * distribution: the number of values below it is binomial with ½ (Conover 1999, 3.2).
 *
 * @returns null with fewer than 6 values: even the whole range has less confidence than that.
 */
export function medianRanks(count: number): readonly [number, number] | null {
  let below = -1;
  let chance = 2 ** -count;
  for (let tail = chance; tail <= 0.025; tail += chance) {
    below++;
    chance *= (count - below) / (below + 1);
  }
  return below < 0 ? null : [below, count - 1 - below];
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
