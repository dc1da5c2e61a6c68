import type { RunSummary, Series } from '../port.js';
import { isEnded } from './state-look.js';

/**
 * What the seeds of one setting of a memory sweep came to. The same measure as in the summary table: a run has memorised
 * at the first evaluation from which on it knew 95 % of the secret's bits at every evaluation; bits per episode are the
 * secret's bits over the median number of episodes until then, runs that had their chance and missed it counted as infinite.
 */
export type MemoryRow = {
  readonly group: string;
  readonly label: string;
  readonly runs: number;
  readonly memorised: number;
  /** Whether the curves of all ended runs have been read: before, `memorised` and `missed` are too small. */
  readonly isRead: boolean;
  /** Ended after their whole budget without having memorised. */
  readonly missed: number;
  /** log2 N: the bits there are to know. */
  readonly secretBits: number;
  /** The mean of what the runs know now; null: none has been measured. */
  readonly known: number | null;
  /** Median over all runs that can be judged; Infinity: most missed it. Examples, where it learns from examples. */
  readonly episodes: number | null;
  /** `below`: most missed it, so this is what it must be less than. */
  readonly bits: { readonly kind: 'measured' | 'below'; readonly perEpisode: number } | null;
  /** The most bits that one episode can carry. */
  readonly ceiling: number;
};

/** Share of the secret's bits that counts as knowing it. */
const memorisedShare = 0.95;
/** Probability of a wrong answer that counts as being stuck on it, and bits below which the secret counts as lost. */
const stuckProbability = 0.9;
const collapsedBits = -3;

/** Columns of bits known, best first, and of what has been learnt from. */
const bitsKeys = [
  'test/bits/answer_raw',
  'test/bits/answer_clamped',
  'test/bits/known_raw_mean',
  'test/bits/known_clamped_mean',
];
const countKeys = ['progress/episodes', 'progress/examples'];

/** Bits known over episodes; null: there are none; undefined: the run has not been read yet. */
export type BitsCurve = (run: RunSummary, bitsKey: string, countKey: string) => Series | null | undefined;

/** What a run's columns say of its secret; null: it is not a run of a memory sweep. */
export function memoryFacts({ metrics, parameters }: RunSummary): { secretBits: number; ceiling: number } | null {
  if (!bitsKeys.some((key) => key in metrics)) return null;
  const { N } = parameters;
  const secretBits = metrics['theory/signal_bits'] ?? (typeof N === 'number' && N > 1 ? Math.log2(N) : null);
  if (secretBits === null) return null;
  const carried = metrics['theory/credit_bits_per_episode'] ?? metrics['theory/channel_bits_per_episode'] ?? null;
  if (carried !== null) return { secretBits, ceiling: carried };
  // An example says the whole secret.
  return 'progress/examples' in metrics ? { secretBits, ceiling: secretBits } : null;
}

/** One row for each setting, in the order of their first run. Runs that are no memory runs are left out. */
export function memoryRows(runs: readonly RunSummary[], curveOf: BitsCurve): MemoryRow[] {
  const settings = new Map<string, { run: RunSummary; secretBits: number; ceiling: number }[]>();
  for (const run of runs) {
    const facts = memoryFacts(run);
    if (facts === null) continue;
    const key = `${run.sweep}\n${run.group}\n${run.subgroup ?? run.name}`;
    const members = settings.get(key);
    if (members === undefined) settings.set(key, [{ run, ...facts }]);
    else members.push({ run, ...facts });
  }
  return [...settings.values()].map((members) => rowOf(members, curveOf));
}

function rowOf(
  members: readonly { run: RunSummary; secretBits: number; ceiling: number }[],
  curveOf: BitsCurve,
): MemoryRow {
  const { run, secretBits, ceiling } = members[0]!;
  const verdicts = members.map((member) => verdictOf(member.run, member.secretBits, curveOf));
  const memorised = verdicts.flatMap((verdict) => (verdict?.kind === 'memorised' ? [verdict.episodes] : []));
  const missed = verdicts.flatMap((verdict) => (verdict?.kind === 'missed' ? [verdict.episodes] : []));
  const episodes = median([...memorised, ...missed.map(() => Infinity)]);
  return {
    group: run.group,
    label: run.subgroup ?? run.name,
    runs: members.length,
    memorised: memorised.length,
    isRead: verdicts.every((verdict) => verdict !== undefined),
    missed: missed.length,
    secretBits,
    known: meanOf(members.map((member) => knownNow(member.run))),
    episodes,
    bits: bitsPerEpisode(secretBits, episodes, missed),
    ceiling,
  };
}

type Verdict = { readonly kind: 'memorised' | 'missed'; readonly episodes: number };

/** Null for a run that cannot be judged: it goes on, or broke off; undefined for one that has not been read. */
function verdictOf(run: RunSummary, secretBits: number, curveOf: BitsCurve): Verdict | null | undefined {
  if (!isEnded(run.state)) return null;
  const bitsKey = bitsKeys.find((key) => key in run.metrics);
  const countKey = countKeys.find((key) => key in run.metrics);
  const curve = bitsKey === undefined || countKey === undefined ? null : curveOf(run, bitsKey, countKey);
  if (curve === null || curve === undefined) return curve;
  const points = [...curve.y.keys()].filter((index) => !Number.isNaN(curve.y[index]));
  const last = points.at(-1);
  if (last === undefined) return null;
  const below = points.findLastIndex((index) => !(curve.y[index]! >= memorisedShare * secretBits));
  const first = points[below + 1];
  if (first !== undefined) return { kind: 'memorised', episodes: curve.x[first]! };
  const hadItsChance = run.state === 'done' || isLost(run, curve.y[last]!);
  return hadItsChance ? { kind: 'missed', episodes: curve.x[last]! } : null;
}

/** Sure of a wrong answer, or the secret far less likely than by chance: more episodes would not have helped. */
function isLost({ metrics, parameters }: RunSummary, bits: number): boolean {
  if (bits < collapsedBits) return true;
  if ((metrics['test/greedy_prob'] ?? 0) <= stuckProbability) return false;
  const secret = parameters['secret'] ?? parameters['fixed_secret'];
  return typeof secret === 'number' ? metrics['test/greedy'] !== secret : bits < 1;
}

function bitsPerEpisode(secretBits: number, episodes: number | null, budgets: readonly number[]): MemoryRow['bits'] {
  if (episodes === null || episodes === 0) return null;
  if (Number.isFinite(episodes)) return { kind: 'measured', perEpisode: secretBits / episodes };
  const budget = Math.min(...budgets);
  return budget > 0 ? { kind: 'below', perEpisode: secretBits / budget } : null;
}

function knownNow({ metrics }: RunSummary): number | null {
  const key = bitsKeys.find((name) => name in metrics);
  const value = key === undefined ? null : (metrics[key] ?? null);
  return value !== null && Number.isFinite(value) ? value : null;
}

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
