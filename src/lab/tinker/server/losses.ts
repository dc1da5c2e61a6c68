/** Turns what a client sends into what the engine trains on: datums, and the loss of a name. */
import { UserError } from '../../../base/user-error.js';
import { didYouMean } from '../../../text/nearest.js';
import { crossEntropy, lossFns, objectiveOf, type LossFn, type Objective } from '../../objectives/objectives.js';
import type { ForwardBackwardRequest, WireDatum } from '../protocol/messages.js';
import type { Tensor } from '../protocol/tensors.js';
import type { Learnable } from './shared-prefixes.js';

const known = ['cross_entropy', ...lossFns];
/** The protocol documents no default of dro's beta; this is the value of its example. */
const usualBeta = 0.05;

/** @throws UserError when there is no such loss, or a setting is not a number that it takes. */
export function lossOf({ lossFn, config }: Pick<ForwardBackwardRequest, 'lossFn' | 'config'>): Objective {
  if (lossFn === 'cross_entropy') return crossEntropy;
  if (!(lossFns as readonly string[]).includes(lossFn)) {
    throw new UserError(`There is no loss ${lossFn} here.`, didYouMean(lossFn, known));
  }
  const number = (name: string): number | null => {
    const value = config[name];
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value ?? null;
    throw new UserError(`The loss setting ${name} is ${value}.`, 'Give a number.');
  };
  return objectiveOf(lossFn as LossFn, {
    clip_low_threshold: number('clip_low_threshold'),
    clip_high_threshold: number('clip_high_threshold'),
    beta: number('beta') ?? usualBeta,
  });
}

/**
 * The datum of the engine's service for one of the wire. Its prompt is the first token alone, so that each later position has its log-probability.
 *
 * @throws UserError that says which input is missing or too short.
 */
export function datumOf(datum: WireDatum, index: number, { name }: Objective): Learnable {
  const { tokens, inputs } = datum;
  const length = tokens.length;
  const needed = (input: string): Tensor['values'] => {
    const values = optional(input);
    if (values !== undefined) return values;
    throw new UserError(`Datum ${index} has no ${input}, which ${name} needs.`, `Add it to loss_fn_inputs.`);
  };
  const optional = (input: string): Tensor['values'] | undefined => {
    const tensor = inputs.get(input);
    if (tensor !== undefined) checkLength(tensor, length, `${input} of datum ${index}`);
    return tensor?.values;
  };
  if (length === 0) throw new UserError(`Datum ${index} has no tokens.`, 'Send at least one.');
  const targets = Int32Array.from(needed('target_tokens'));
  const isSupervised = name === 'cross_entropy';
  const clips = { low: optional('clip_low_threshold'), high: optional('clip_high_threshold') };
  const isClipped = clips.low !== undefined || clips.high !== undefined;
  return {
    prompt: tokens.subarray(0, 1),
    tokens: checkedTargets(tokens, targets, index),
    weights: isSupervised ? needed('weights') : (optional('mask') ?? new Float32Array(length).fill(1)),
    advantages: isSupervised ? undefined : needed('advantages'),
    logprobs: isSupervised ? undefined : needed('logprobs'),
    // The pull of dro towards the sampler also acts on tokens whose advantage is 0.
    isSilent: name !== 'dro',
    ...(isClipped && {
      clips: { ...(clips.low && { low: clips.low }), ...(clips.high && { high: clips.high }) },
    }),
  };
}

function checkLength({ values, shape }: Tensor, length: number, what: string): void {
  if (values.length === length && shape.filter((size) => size !== 1).length <= 1) return;
  throw new UserError(
    `${what} has the shape [${shape.join(', ')}] with ${values.length} numbers, and the input has ${length} tokens.`,
    'Send one number for each token of the input.',
  );
}

/** Checks that each target but the last is the token that the model reads next; only the last is free. */
function checkedTargets(tokens: Int32Array, targets: Int32Array, index: number): Int32Array {
  const wrong = targets.subarray(0, -1).findIndex((target, at) => target !== tokens[at + 1]);
  if (wrong < 0) return targets;
  throw new UserError(
    `Target ${wrong} of datum ${index} is ${targets[wrong]}, and the input goes on with ${tokens[wrong + 1]}.`,
    'Give as targets the input, moved by one token.',
  );
}
