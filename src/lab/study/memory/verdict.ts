import type { ReportedState } from '../../../analysis/analysed-run.js';

/**
 * One evaluation of the model. `episodes`: training episodes (SFT: examples) before it. `updates`: optimizer steps
 * before it, fewer than batches where some had no signal; absent: not counted.
 */
export type Evaluation = { step: number; episodes: number; bits: number; updates?: number };

/** All evaluations of a run, by step, and the last answer at temperature 0. Bits are raw: negative below chance. */
export type Curve = {
  evaluations: readonly Evaluation[];
  /** The last greedy answer; its `answer` is null when it was not a number. Null when the run did not measure it. */
  greedy: { answer: number | null; probability: number } | null;
  /**
   * Over the last tenth of the rows: the share of groups with equal rewards, and the mean reward. Null or absent: not
   * measured.
   */
  lately?: { constantShare: number; reward: number } | null;
  /** Number of different examples learnt from (SFT). Null or absent: the run did not count them. */
  distinct?: number | null;
};

/**
 * The outcome of a memory run.
 *
 * `memorised`: from some evaluation on it always knew 95 % of the bits. `stuck`: sure of a wrong answer. `plateau`:
 * nearly all groups had equal rewards above 0, so that no gradient was left. `collapsed`: the secret became far less
 * likely than by chance. `censored`: the budget ended first. `unfinished`: the run ended before its budget.
 * `unmeasured`: it wrote no evaluation.
 */
export type Verdict =
  | { kind: 'memorised'; step: number; episodes: number; updates?: number; resolution: number | null }
  | { kind: 'stuck'; answer: number | null; bits: number; episodes: number }
  | { kind: 'plateau'; reward: number; bits: number; episodes: number }
  | { kind: 'collapsed'; bits: number; episodes: number }
  | { kind: 'censored'; bits: number; episodes: number }
  | { kind: 'unfinished'; state: ReportedState; bits: number; episodes: number }
  | { kind: 'running'; bits: number | null; episodes: number | null }
  | { kind: 'queued' }
  | { kind: 'unmeasured'; state: ReportedState };

export type Miss = Extract<Verdict, { kind: 'stuck' | 'plateau' | 'collapsed' | 'censored' }>;

/** Whether a run used its budget and did not memorise. A run that failed or was killed before says nothing about learning. */
export function isMiss(verdict: Verdict): verdict is Miss {
  return ['stuck', 'plateau', 'collapsed', 'censored'].includes(verdict.kind);
}

/** Share of the secret's bits that counts as knowing it. */
export const MEMORISED_SHARE = 0.95;
/** Probability of a wrong answer that counts as being stuck on it. */
export const STUCK_PROBABILITY = 0.9;
/**
 * Share of groups without a signal from which on a run is on a plateau. Most such runs are above 99 %; one whose reward
 * stayed at 0.856 ± 0.001 for its last 10,000 steps, one number from its secret, was at 98.8 %.
 */
export const PLATEAU_SHARE = 0.98;
/** Raw bits below which the secret counts as lost: eight times less likely than by chance. */
export const COLLAPSED_BITS = -3;

/** `secretBits`: log2 N. */
export type VerdictInput = { secretBits: number; secret: number | null; state: ReportedState };

/** The verdict on a run. A running one has none yet: it may forget what it knows. */
export function judge(curve: Curve, judged: VerdictInput): Verdict {
  const { state } = judged;
  const last = curve.evaluations.at(-1);
  // A run that waits for a retry or a release may learn more in its next attempt.
  if (waiting.includes(state)) return last === undefined ? { kind: 'queued' } : unfinished(state, last);
  if (up.includes(state)) return { kind: 'running', bits: last?.bits ?? null, episodes: last?.episodes ?? null };
  return last === undefined ? { kind: 'unmeasured', state } : judgeEnded(curve, last, judged);
}

const waiting: readonly ReportedState[] = ['queued', 'held'];
const up: readonly ReportedState[] = ['starting', 'running', 'paused', 'stopping'];

function judgeEnded(
  curve: Curve,
  { bits, episodes }: Evaluation,
  { secretBits, secret, state }: VerdictInput,
): Verdict {
  const memorised = firstOfStay(curve.evaluations, MEMORISED_SHARE * secretBits);
  if (memorised !== null) return memorised;
  if (isStuck(curve, secret)) return { kind: 'stuck', answer: curve.greedy!.answer, bits, episodes };
  const { constantShare, reward } = curve.lately ?? { constantShare: 0, reward: 0 };
  if (constantShare >= PLATEAU_SHARE && reward > 0) return { kind: 'plateau', reward, bits, episodes };
  if (bits < COLLAPSED_BITS) return { kind: 'collapsed', bits, episodes };
  return state === 'done' ? { kind: 'censored', bits, episodes } : unfinished(state, { bits, episodes });
}

function unfinished(state: ReportedState, { bits, episodes }: Pick<Evaluation, 'bits' | 'episodes'>): Verdict {
  return { kind: 'unfinished', state, bits, episodes };
}

/** The first evaluation from which on all evaluations are at or above the threshold. */
function firstOfStay(
  evaluations: readonly Evaluation[],
  threshold: number,
): Extract<Verdict, { kind: 'memorised' }> | null {
  const below = evaluations.findLastIndex(({ bits }) => !(bits >= threshold));
  const first = evaluations[below + 1];
  if (first === undefined) return null;
  const resolution = below < 0 ? null : first.episodes - evaluations[below]!.episodes;
  const { step, episodes, updates } = first;
  return { kind: 'memorised', step, episodes, ...(updates === undefined ? {} : { updates }), resolution };
}

function isStuck({ greedy, evaluations }: Curve, secret: number | null): boolean {
  if (greedy === null || greedy.probability <= STUCK_PROBABILITY) return false;
  // Without a known secret, bits decide: a run that is sure of an answer and knows less than one bit is sure of a wrong
  // one.
  return secret === null ? evaluations.at(-1)!.bits < 1 : greedy.answer !== secret;
}
