import { ceilingOf } from './ceiling.js';
import { signalBits } from './memory-rules.js';
import { memoryTask, type Settings, sizeOf } from './memory-task.js';
import type { Curve } from './verdict.js';

/** Keys under which bits known may be found, best first: by the answer alone, then by memory-rl's count. */
const bitsKeys = [
  'test/bits/answer_raw',
  'test/bits/answer_clamped',
  'test/bits/known_raw_mean',
  'test/bits/known_clamped_mean',
];
/** Keys that count what has been learnt from, best first. */
const countKeys = ['progress/episodes', 'progress/examples'];

/** The metric that measures bits known, and the one that counts episodes or examples; null: the run has none. */
export function memoryKeys(has: (key: string) => boolean): { bits: string | null; count: string | null } {
  return { bits: bitsKeys.find(has) ?? null, count: countKeys.find(has) ?? null };
}

type LastValues = Readonly<Record<string, number | null>>;

/** The last answer at temperature 0; null: the run did not measure it. */
export function greedyOf(last: LastValues): Curve['greedy'] {
  const probability = last['test/greedy_prob'] ?? null;
  return probability === null ? null : { answer: last['test/greedy'] ?? null, probability };
}

/**
 * The number of episodes after which an ideal observer could have named the secret; null: never. Undefined: there was no observer.
 */
export function determinedIn(last: LastValues): number | null | undefined {
  return 'observer/bits_known' in last ? (last['observer/determined_after'] ?? null) : undefined;
}

/**
 * The bits of the secret and the most bits that one episode can carry, from a run's last values and parameters alone; null: it is
 * no memory run, or does not say.
 *
 * The bits of the learner's credit count where they are fewer than those of the environment. For a dense run that reports neither,
 * the ceiling follows from its settings.
 */
export function memoryFacts(last: LastValues, settings: Settings): { secretBits: number; ceiling: number } | null {
  if (memoryKeys((key) => key in last).bits === null) return null;
  const secretBits = last['theory/signal_bits'] ?? bitsOf(sizeOf(settings));
  if (secretBits === null) return null;
  // An example (SFT) contains the whole secret.
  const ofExample = 'progress/examples' in last ? secretBits : null;
  const ceiling = last['theory/credit_bits_per_episode'] ?? carried(last, settings) ?? ofExample;
  return ceiling === null ? null : { secretBits, ceiling };
}

function bitsOf(N: number | null): number | null {
  return N === null ? null : signalBits(N);
}

function carried(last: LastValues, settings: Settings): number | null {
  const task = memoryTask(settings);
  const byRun = last['theory/channel_bits_per_episode'] ?? null;
  if (task === null) return byRun;
  const bySettings = ceilingOf(task.condition, task.N).bits;
  return task.condition.kind === 'dense' ? bySettings : (byRun ?? bySettings);
}
