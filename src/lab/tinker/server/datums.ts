/** Datums and losses of a client's request as the engine trains on them. */
import { UserError } from '../../../base/user-error.js';
import { didYouMean } from '../../../text/nearest.js';
import { crossEntropy, type LossFn, lossFns, type Objective, objectiveOf } from '../../objectives/objectives.js';
import { type Datum, scoredTokens } from '../../service/service.js';
import type { ForwardBackwardRequest, WireDatum } from '../protocol/messages.js';
import type { Tensor } from '../protocol/tensors.js';
import type { BaseModel } from './model-catalogue.js';

const known = ['cross_entropy', ...lossFns];
/** The protocol documents no default of dro's beta; this is the value of its example. */
const usualBeta = 0.05;

/** @throws UserError when there is no such loss, or a setting is not a number that it takes. */
export function lossOf({ lossFn, config }: Pick<ForwardBackwardRequest, 'lossFn' | 'config'>): Objective {
  if (lossFn === 'cross_entropy') return crossEntropy;
  if (lossFn === 'stable_reinforce') {
    throw new UserError(
      'The loss stable_reinforce is not there, because its formula has not been published.',
      'Use loss_fn=importance_sampling on policy, and loss_fn=ppo or loss_fn=cispo off policy.',
    );
  }
  if (!(lossFns as readonly string[]).includes(lossFn)) {
    throw new UserError(`There is no loss ${lossFn} here.`, didYouMean(lossFn, known));
  }
  const number = (name: string): number | null => {
    const value = config[name];
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value ?? null;
    throw new UserError(`The loss setting ${name} is ${value}, not a number.`, 'Give a number.');
  };
  return objectiveOf(lossFn as LossFn, {
    clip_low_threshold: number('clip_low_threshold'),
    clip_high_threshold: number('clip_high_threshold'),
    beta: number('beta') ?? usualBeta,
  });
}

/**
 * The datum of the engine's service for one of the wire. Its prompt is the first token alone, so that each later position has its
 * log-probability. A token without a weight has the weight 1, as in the examples of the SDK.
 *
 * @param known Whether the model has this token.
 * @throws UserError that says which input is missing or too short.
 */
export function datumOf(
  datum: WireDatum,
  index: number,
  { objective, known }: { readonly objective: Objective; readonly known: (token: number) => boolean },
): SequenceDatum {
  const { tokens } = datum;
  if (tokens.length === 0) throw new UserError(`Datum ${index} has no tokens.`, 'Send at least one.');
  const { count, shape } = targetsOf(datum, index);
  const inputs = inputsOf(datum, { index, loss: objective.name, count });
  const loss = {
    // The pull of dro towards the sampler also acts on tokens whose advantage is 0.
    isSilent: objective.name !== 'dro',
    ...(objective.name === 'cross_entropy'
      ? { weights: inputs.optional('weights') ?? new Float32Array(count).fill(1) }
      : rolloutOf(inputs, count, objective)),
  };
  const each = count / tokens.length;
  const after = (at: number) => tokens[Math.floor(at / each) + 1];
  // Clients may send any number where nothing is trained; an invalid token is replaced by the token that follows.
  const targets = Int32Array.from(inputs.needed('target_tokens'), (target, at) =>
    known(target) || isTrainedOn(loss, at) ? target : (after(at) ?? 0),
  );
  const following = Int32Array.from(tokens, (_, at) => tokens[at + 1] ?? (each === 1 ? targets[at]! : 0));
  const isFollowing = each === 1 && targets.every((target, at) => target === following[at]);
  return {
    prompt: tokens.subarray(0, 1),
    tokens: following,
    ...(!isFollowing && { targets }),
    trailing: shape.length === 2 && shape[0] === tokens.length ? shape.slice(1) : [],
    ...loss,
  };
}

/** Number of targets of a datum: one for each token of the input, or several. */
function targetsOf({ tokens, inputs }: WireDatum, index: number): { count: number; shape: readonly number[] } {
  const { values, shape } = inputs.get('target_tokens') ?? { values: tokens, shape: [tokens.length] };
  if (values.length > 0 && values.length % tokens.length === 0) return { count: values.length, shape };
  throw new UserError(
    `target_tokens of datum ${index} has the shape [${shape.join(', ')}], and the input has ${tokens.length} tokens.`,
    'Send one target for each token of the input, or as many for each.',
  );
}

type Inputs = {
  readonly needed: (name: string) => Tensor['values'];
  readonly optional: (name: string) => Tensor['values'] | undefined;
};

function inputsOf(
  { inputs }: WireDatum,
  { index, loss, count }: { readonly index: number; readonly loss: string; readonly count: number },
): Inputs {
  const optional = (name: string): Tensor['values'] | undefined => {
    const tensor = inputs.get(name);
    if (tensor !== undefined) checkLength(tensor, count, `${name} of datum ${index}`);
    return tensor?.values;
  };
  const needed = (name: string): Tensor['values'] => {
    const values = optional(name);
    if (values !== undefined) return values;
    throw new UserError(`Datum ${index} has no ${name}, which ${loss} needs.`, `Add it to loss_fn_inputs.`);
  };
  return { needed, optional };
}

/** Inputs of the losses on sampled sequences. */
function rolloutOf({ needed, optional }: Inputs, length: number, { ratio }: Objective) {
  const [low, high] = [optional('clip_low_threshold'), optional('clip_high_threshold')];
  const isClipped = low !== undefined || high !== undefined;
  return {
    weights: optional('mask') ?? new Float32Array(length).fill(1),
    advantages: needed('advantages'),
    logprobs: needed('logprobs'),
    ...(ratio === 'sequence' && { ratioMask: needed('sequence_ratio_mask') }),
    ...(isClipped && { clips: { ...(low && { low }), ...(high && { high }) } }),
  };
}

function checkLength({ values, shape }: Tensor, length: number, what: string): void {
  if (values.length === length) return;
  throw new UserError(
    `${what} has the shape [${shape.join(', ')}] with ${values.length} numbers, and there are ${length} targets.`,
    'Send one number for each target.',
  );
}

// Sequences that begin alike, as rollouts of one prompt do, are computed with one beginning for all of them. A client
// wants the log-probability of every token, also of the prompt, so a beginning is computed twice: once as a sequence
// whose tokens are scored, and once as the prompt of what follows; not once for each sequence. No token of a beginning
// may be trained on, because it would count once instead of once for each sequence.

type Values = Tensor['values'];

/**
 * A datum whose prompt is its first token. `isSilent`: whether the loss of a token with advantage 0 is 0. `trailing`: shape of the scores
 * of one token, where the client gave its targets in two dimensions.
 */
type SequenceDatum = Datum & {
  readonly trailing: readonly number[];
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

/** Minimum tokens and sequences for computing a common prefix once; below, it costs more than it saves. */
const leastTokens = 8;
const leastSequences = 3;

/** Splits datums into plans of about `tokensAtOnce` tokens each, in their order. */
export function* plansOf(datums: readonly SequenceDatum[], tokensAtOnce: number): Generator<Plan> {
  let plans: Plan[] = [];
  let tokens = 0;
  for (const plan of runsOf(datums, tokensAtOnce)) {
    const more = plan.datums.reduce((sum, datum) => sum + scoredTokens(datum).length, 0);
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
function* runsOf(datums: readonly SequenceDatum[], tokensAtOnce: number): Generator<Plan> {
  for (let first = 0; first < datums.length;) {
    const { end, common } = runFrom(datums, first, tokensAtOnce);
    if (end - first >= leastSequences) yield sharing(datums.slice(first, end), common);
    else for (const datum of datums.slice(first, end)) yield { datums: [datum], restore: (scores) => [...scores] };
    first = end;
  }
}

/**
 * The run of similar datums that starts at `first`, of at most `tokensAtOnce` tokens where it has more than one. `common` counts the
 * tokens after the first that all of them share, and that none is trained on.
 */
function runFrom(
  datums: readonly SequenceDatum[],
  first: number,
  tokensAtOnce: number,
): { end: number; common: number } {
  const limit = untrainedPrefix(datums[first]!);
  let common = limit;
  let whole = scoredTokens(datums[first]!).length;
  let end = first + 1;
  for (; end < datums.length; end++) {
    const agreed = Math.min(common, untrainedPrefix(datums[end]!), agreement(datums[first]!, datums[end]!));
    // A datum that would halve the run's common prefix starts a run of its own.
    if (agreed < Math.max(leastTokens, limit / 2)) break;
    // Rollouts of one game share the text of its rules, so a run could be a whole batch, which need not fit into
    // memory.
    const tokens = whole + scoredTokens(datums[end]!).length;
    if (tokens - (end - first) * agreed > tokensAtOnce) break;
    [common, whole] = [agreed, tokens];
  }
  return { end, common };
}

/** Counts the tokens at the beginning that are not trained on; leaves one token to follow them. */
function untrainedPrefix(datum: SequenceDatum): number {
  // Sequences with several targets per token are not rollouts, and are computed apart.
  if (scoredTokens(datum).length > datum.tokens.length) return 0;
  let count = 0;
  while (count < datum.weights.length - 1 && !isTrainedOn(datum, count)) count++;
  return count;
}

/** Whether the token of this position takes part in the loss. */
function isTrainedOn(
  datum: Pick<SequenceDatum, 'weights' | 'advantages' | 'ratioMask' | 'isSilent'>,
  at: number,
): boolean {
  const { weights, advantages, ratioMask, isSilent } = datum;
  if (ratioMask !== undefined && ratioMask[at] !== 0) return true;
  return weights[at] !== 0 && !(isSilent && advantages?.[at] === 0);
}

function agreement(a: SequenceDatum, b: SequenceDatum): number {
  if (a.prompt[0] !== b.prompt[0]) return 0;
  const most = Math.min(a.tokens.length, b.tokens.length);
  const [one, other] = [scoredTokens(a), scoredTokens(b)];
  let count = 0;
  while (count < most && a.tokens[count] === b.tokens[count] && one[count] === other[count]) count++;
  return count;
}

function sharing(run: readonly SequenceDatum[], common: number): Plan {
  const { prompt, tokens, targets } = run[0]!;
  const beginning: Datum = {
    prompt,
    tokens: tokens.subarray(0, common),
    targets: targets?.subarray(0, common),
    weights: new Float32Array(common),
  };
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

function after(datum: SequenceDatum, prompt: Int32Array, from: number): Datum {
  const { tokens, targets, weights, advantages, logprobs, ratioMask, clips } = datum;
  return {
    prompt,
    tokens: tokens.subarray(from),
    targets: targets?.subarray(from),
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

/** @throws UserError when the model has no such token. */
export function requireVocabulary(what: string, tokens: ArrayLike<number>, { shape }: BaseModel): void {
  const wrong = Array.from(tokens).find((token) => !(token >= 0 && token < shape.vocabulary));
  if (wrong === undefined) return;
  throw new UserError(
    `${what} has the token ${wrong}, and the vocabulary ends at ${shape.vocabulary - 1}.`,
    'Use the tokenizer of the model.',
  );
}
