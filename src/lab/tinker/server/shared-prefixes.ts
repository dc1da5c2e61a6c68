/**
 * Sequences that begin alike, as rollouts of one prompt do, computed with one beginning for all of them.
 *
 * A client wants the log-probability of every token, those of the prompt too. So a beginning is computed twice: once as a
 * sequence whose tokens are scored, and once as the prompt of what follows; not once for each sequence. What is learnt from
 * the tokens of a beginning must be nothing, for it would be counted once.
 */
import type { Datum } from '../../service/service.js';
import type { Tensor } from '../protocol/tensors.js';

type Values = Tensor['values'];

/** A datum whose prompt is its first token. `isSilent`: whether the loss of a token with advantage 0 is 0. */
export type Learnable = Datum & {
  readonly weights: Values;
  readonly advantages?: Values | undefined;
  readonly logprobs?: Values | undefined;
  readonly ratioMask?: Values | undefined;
  readonly clips?: { readonly low?: Values; readonly high?: Values } | undefined;
  readonly isSilent: boolean;
};

/** Datums that are computed in one pass, and how their scores become those of the sequences that were sent. */
type Plan = {
  readonly datums: readonly Datum[];
  readonly restore: (scores: readonly Float32Array[]) => Float32Array[];
};

/** A common beginning is computed once only from so many tokens and so many sequences on; below, it costs more than it saves. */
const leastTokens = 8;
const leastSequences = 3;

/** Splits datums into plans of about `tokensAtOnce` tokens each, in their order. */
export function* plansOf(datums: readonly Learnable[], tokensAtOnce: number): Generator<Plan> {
  let plans: Plan[] = [];
  let tokens = 0;
  for (const plan of runsOf(datums)) {
    const more = plan.datums.reduce((sum, datum) => sum + datum.tokens.length, 0);
    if (plans.length > 0 && tokens + more > tokensAtOnce) {
      yield together(plans);
      [plans, tokens] = [[], 0];
    }
    plans.push(plan);
    tokens += more;
  }
  if (plans.length > 0) yield together(plans);
}

function together(plans: readonly Plan[]): Plan {
  const restore = (scores: readonly Float32Array[]) => {
    let at = 0;
    return plans.flatMap((plan) => plan.restore(scores.slice(at, (at += plan.datums.length))));
  };
  return { datums: plans.flatMap((plan) => plan.datums), restore };
}

/** Yields a plan for each run of neighbouring datums with a common prefix, and for each other datum. */
function* runsOf(datums: readonly Learnable[]): Generator<Plan> {
  for (let first = 0; first < datums.length;) {
    const { end, common } = runFrom(datums, first);
    if (end - first >= leastSequences) yield sharing(datums.slice(first, end), common);
    else for (const datum of datums.slice(first, end)) yield { datums: [datum], restore: (scores) => [...scores] };
    first = end;
  }
}

/** The run of similar datums that starts at `first`. `common` counts the tokens after the first that all of them share, and that none is trained on. */
function runFrom(datums: readonly Learnable[], first: number): { end: number; common: number } {
  const limit = untrained(datums[first]!);
  let common = limit;
  let end = first + 1;
  for (; end < datums.length; end++) {
    const agreed = Math.min(common, untrained(datums[end]!), agreement(datums[first]!, datums[end]!));
    // A datum that would cost the run half of its common beginning starts a run of its own.
    if (agreed < Math.max(leastTokens, limit / 2)) break;
    common = agreed;
  }
  return { end, common };
}

/** Counts the tokens at the beginning that are not trained on; leaves one token to follow them. */
function untrained(datum: Learnable): number {
  let count = 0;
  while (count < datum.weights.length - 1 && !isTrainedOn(datum, count)) count++;
  return count;
}

/** Whether the token of this position takes part in the loss. */
export function isTrainedOn(datum: Omit<Learnable, 'tokens' | 'prompt'>, at: number): boolean {
  const { weights, advantages, ratioMask, isSilent } = datum;
  if (ratioMask !== undefined && ratioMask[at] !== 0) return true;
  return weights[at] !== 0 && !(isSilent && advantages?.[at] === 0);
}

function agreement(a: Learnable, b: Learnable): number {
  if (a.prompt[0] !== b.prompt[0]) return 0;
  const most = Math.min(a.tokens.length, b.tokens.length);
  let count = 0;
  while (count < most && a.tokens[count] === b.tokens[count]) count++;
  return count;
}

function sharing(run: readonly Learnable[], common: number): Plan {
  const { prompt, tokens } = run[0]!;
  const beginning: Datum = { prompt, tokens: tokens.subarray(0, common), weights: new Float32Array(common) };
  const shared = Int32Array.of(prompt[0]!, ...beginning.tokens);
  const restore = ([first, ...rest]: readonly Float32Array[]) =>
    rest.map((scores) => {
      const whole = new Float32Array(common + scores.length);
      whole.set(first!);
      whole.set(scores, common);
      return whole;
    });
  return { datums: [beginning, ...run.map((datum) => after(datum, shared, common))], restore };
}

function after(datum: Learnable, prompt: Int32Array, from: number): Datum {
  const { tokens, weights, advantages, logprobs, ratioMask, clips } = datum;
  return {
    prompt,
    tokens: tokens.subarray(from),
    weights: weights.subarray(from),
    advantages: advantages?.subarray(from),
    logprobs: logprobs?.subarray(from),
    ratioMask: ratioMask?.subarray(from),
    ...(clips && {
      clips: {
        ...(clips.low && { low: clips.low.subarray(from) }),
        ...(clips.high && { high: clips.high.subarray(from) }),
      },
    }),
  };
}
