import { median } from '../../../analysis/statistics.js';
import { ceilingOf, reachableBits, topRewardTies, type Ceiling } from '../../environments/memory/ceiling.js';
import { signalBits } from '../../environments/memory/rules.js';
import { conditionName, type Condition, type MemoryTask } from '../../environments/memory/task.js';
import type { Compared } from './references.js';
import { type Told, type ToldRun, toldOf, tookOf } from './told.js';
import { isMiss, type Miss, type Verdict } from './verdict.js';

/** The results of the seeds of one condition at one N. `episodes` are examples for SFT. */
export type MemoryRow = {
  group: string;
  condition: string;
  kind: Condition['kind'];
  N: number;
  bins: number | null;
  /** Other parameters that distinguish this row from its neighbours. */
  extra: Record<string, unknown>;
  seeds: number;
  counts: Record<Verdict['kind'], number>;
  secretBits: number;
  /** Below `secretBits` when several integers earn the top reward. */
  reachableBits: number;
  topRewardTies: number;
  /** Statistics over the seeds that memorised. */
  episodes: { median: number; least: number; most: number } | null;
  /** Median over all seeds that ended; those that did not memorise count as infinite. Null when none has ended. */
  medianOfAll: number | null;
  /** Number of different examples learnt from, median over the runs that counted them. */
  distinct: number | null;
  /** Training steps, median over the seeds that memorised. */
  steps: number | null;
  /** Episodes after which the first seed was given up. Null when none was. */
  budget: number | null;
  /** Episodes between the evaluations around the moment of memorising: the resolution of the measurement. */
  resolution: number | null;
  bitsPerEpisode: BitsPerEpisode;
  ceiling: Ceiling;
  /** The seeds that have a verdict, in the order of the runs. */
  judged: readonly JudgedSeed[];
  /** Comparison with an ideal observer of the same episodes; null: there was no observer. */
  told: Told | null;
  /** Comparison with other learners; null: there is no reference file. */
  compared: Compared | null;
};

/** Outcome of a run: it memorised the secret, or used its budget without memorising. */
export type JudgedSeed = RunOrigin & {
  /** Episodes until it memorised the secret; Infinity if it did not. */
  readonly took: number;
  /** Episodes until then, or the whole budget. */
  readonly watched: number;
  /** Optimizer steps until it memorised; null: it did not, or did not count them. */
  readonly updates: number | null;
  /**
   * Episodes after which the rewards left only one possible secret; null: several were left, or the run was not
   * observed.
   */
  readonly told: number | null;
  /** How often the secret was lost after it had been known for long. */
  readonly timesLost: number;
};

/** Seed, secret and base model of a run: the keys of comparisons. */
export type RunOrigin = {
  /** Key of the seed and secret, shared by paired runs. */
  readonly pair: string;
  /** Base model that the run started from. */
  readonly base: string;
  /** Repetition of the study that the run belongs to, where a sweep repeats one; null or absent: none. */
  readonly repetition?: string | null;
};

/** Bits per episode. `below`: most seeds did not memorise within the budget, so the value is an upper bound. */
type BitsPerEpisode = { kind: 'measured' | 'below'; bits: number } | null;

type JudgedRuns = {
  group: string;
  task: MemoryTask;
  extra: Record<string, unknown>;
  verdicts: readonly Verdict[];
  /** Number of different examples of each run that counted them. */
  distinct?: readonly number[];
  /** One for each run; by default runs share nothing but their base. */
  origins?: readonly RunOrigin[];
  /** One for each run, as in `ToldRun`; empty: no run was observed. */
  determinedAfter?: readonly ToldRun['determinedAfter'][];
  /** One for each run; empty: none lost its secret. */
  timesLost?: readonly number[];
  compared?: Compared | null;
};

export function summarise(runs: JudgedRuns): MemoryRow {
  const { group, task, extra, verdicts, distinct = [], compared = null } = runs;
  const { condition, N } = task;
  const secretBits = signalBits(N);
  const { memorised, medianOfAll, budget, bitsPerEpisode } = learningOf(verdicts, secretBits);
  const episodes = memorised.map((verdict) => verdict.episodes);
  // An example (SFT) contains the whole secret.
  const determinedAfter = verdicts.map((_, index) => (condition.kind === 'sft' ? 1 : runs.determinedAfter?.[index]));
  return {
    group,
    condition: conditionName(condition),
    kind: condition.kind,
    N,
    bins: condition.kind === 'binned' ? condition.bins : null,
    extra,
    seeds: verdicts.length,
    counts: countOf(verdicts),
    secretBits,
    reachableBits: reachableBits(condition, N),
    topRewardTies: topRewardTies(condition, N),
    episodes:
      episodes.length === 0
        ? null
        : { median: median(episodes)!, least: Math.min(...episodes), most: Math.max(...episodes) },
    medianOfAll,
    distinct: median(distinct),
    steps: median(memorised.map(({ step }) => step)),
    budget,
    resolution: median(memorised.flatMap(({ resolution }) => resolution ?? [])),
    bitsPerEpisode,
    ceiling: ceilingOf(condition, N),
    judged: judgedSeeds({ ...runs, determinedAfter }),
    told: toldOf(verdicts.map((verdict, index) => ({ verdict, determinedAfter: determinedAfter[index] }))),
    compared,
  };
}

function judgedSeeds({ verdicts, origins = [], determinedAfter = [], timesLost = [] }: JudgedRuns): JudgedSeed[] {
  const runs = verdicts.map((verdict, index) => ({
    ...{ verdict, took: tookOf(verdict), origin: origins[index] ?? { pair: String(index), base: '' } },
    ...{ told: determinedAfter[index] ?? null, timesLost: timesLost[index] ?? 0 },
  }));
  return runs.flatMap(({ verdict, took, origin, ...observed }) => {
    if (took === null || !('episodes' in verdict) || verdict.episodes === null) return [];
    const updates = verdict.kind === 'memorised' ? (verdict.updates ?? null) : null;
    return { ...origin, ...observed, took, watched: verdict.episodes, updates };
  });
}

/** Summary of the seeds of one setting. Seeds without a verdict (yet) do not count. */
type LearningOutcome = Pick<MemoryRow, 'medianOfAll' | 'budget' | 'bitsPerEpisode'> & {
  memorised: readonly Extract<Verdict, { kind: 'memorised' }>[];
  missed: readonly Miss[];
};

function learningOf(verdicts: readonly Verdict[], secretBits: number): LearningOutcome {
  const memorised = verdicts.filter((verdict) => verdict.kind === 'memorised');
  const missed = verdicts.filter(isMiss);
  const medianOfAll = median([...memorised.map(({ episodes }) => episodes), ...missed.map(() => Infinity)]);
  const budget = missed.length === 0 ? null : Math.min(...missed.map(({ episodes }) => episodes));
  return { memorised, missed, medianOfAll, budget, bitsPerEpisode: rateOf(secretBits, medianOfAll, budget) };
}

function countOf(verdicts: readonly Verdict[]): Record<Verdict['kind'], number> {
  const counts: Record<Verdict['kind'], number> = {
    memorised: 0,
    stuck: 0,
    plateau: 0,
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

/** The secret's bits over the median number of episodes; null where it was known from the start. */
function rateOf(bits: number, medianOfAll: number | null, budget: number | null): BitsPerEpisode {
  if (medianOfAll === null || medianOfAll === 0) return null;
  if (Number.isFinite(medianOfAll)) return { kind: 'measured', bits: bits / medianOfAll };
  return budget === null || budget === 0 ? null : { kind: 'below', bits: bits / budget };
}
