import { median } from './statistics.js';
import { ceilingOf, reachableBits, secretBits, topRewardTies, type Ceiling } from './ceiling.js';
import { conditionName, type Condition, type MemoryTask } from './memory-task.js';
import type { Verdict } from './verdict.js';

/** What the seeds of one condition at one N came to. `episodes` are examples for SFT. */
export type MemoryRow = {
  group: string;
  condition: string;
  kind: Condition['kind'];
  N: number;
  bins: number | null;
  /** Other parameters that tell this row from its neighbours. */
  extra: Record<string, unknown>;
  seeds: number;
  counts: Record<Verdict['kind'], number>;
  secretBits: number;
  /** Below `secretBits` when several integers earn the top reward. */
  reachableBits: number;
  topRewardTies: number;
  /** Over the seeds that memorised. */
  episodes: { median: number; least: number; most: number } | null;
  /** Over all seeds that ended, those that did not memorise counted as infinite. Null when none has ended. */
  medianOfAll: number | null;
  /** Training steps, median over the seeds that memorised. */
  steps: number | null;
  /** Episodes after which the first seed was given up. Null when none was. */
  budget: number | null;
  /** Episodes between the evaluations around the moment of memorising; the measurement is no finer. */
  resolution: number | null;
  bitsPerEpisode: BitsPerEpisode;
  ceiling: Ceiling;
};

/** `below`: most seeds did not memorise within the budget, so this is what it must be less than. */
export type BitsPerEpisode = { kind: 'measured' | 'below'; bits: number } | null;

export type JudgedRuns = {
  group: string;
  task: MemoryTask;
  extra: Record<string, unknown>;
  verdicts: readonly Verdict[];
};

export function summarise({ group, task, extra, verdicts }: JudgedRuns): MemoryRow {
  const { condition, N } = task;
  const memorised = verdicts.filter((verdict) => verdict.kind === 'memorised');
  const missed = verdicts.filter(isMiss);
  const episodes = memorised.map((verdict) => verdict.episodes);
  const medianOfAll = median([...episodes, ...missed.map(() => Infinity)]);
  const budget = missed.length === 0 ? null : Math.min(...missed.map((verdict) => verdict.episodes));
  return {
    group,
    condition: conditionName(condition),
    kind: condition.kind,
    N,
    bins: condition.kind === 'binned' ? condition.bins : null,
    extra,
    seeds: verdicts.length,
    counts: countOf(verdicts),
    secretBits: secretBits(N),
    reachableBits: reachableBits(condition, N),
    topRewardTies: topRewardTies(condition, N),
    episodes:
      episodes.length === 0
        ? null
        : { median: median(episodes)!, least: Math.min(...episodes), most: Math.max(...episodes) },
    medianOfAll,
    steps: median(memorised.map(({ step }) => step)),
    budget,
    resolution: median(memorised.flatMap(({ resolution }) => resolution ?? [])),
    bitsPerEpisode: bitsPerEpisode(secretBits(N), medianOfAll, budget),
    ceiling: ceilingOf(condition, N),
  };
}

/** Runs that had their chance. A run that failed or was killed before its budget says nothing about learning. */
function isMiss(verdict: Verdict): verdict is Extract<Verdict, { kind: 'stuck' | 'collapsed' | 'censored' }> {
  return verdict.kind === 'stuck' || verdict.kind === 'collapsed' || verdict.kind === 'censored';
}

function countOf(verdicts: readonly Verdict[]): Record<Verdict['kind'], number> {
  const counts: Record<Verdict['kind'], number> = {
    memorised: 0,
    stuck: 0,
    collapsed: 0,
    censored: 0,
    unfinished: 0,
    running: 0,
    queued: 0,
    unmeasured: 0,
  };
  for (const { kind } of verdicts) counts[kind] += 1;
  return counts;
}

/** The secret's bits over the median number of episodes; nothing where it was known from the start. */
function bitsPerEpisode(bits: number, medianOfAll: number | null, budget: number | null): BitsPerEpisode {
  if (medianOfAll === null || medianOfAll === 0) return null;
  if (Number.isFinite(medianOfAll)) return { kind: 'measured', bits: bits / medianOfAll };
  return budget === null || budget === 0 ? null : { kind: 'below', bits: bits / budget };
}
