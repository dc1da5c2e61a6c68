/** Turns what a client sends into what the engine trains on: datums, and the loss of a name. */
import { UserError } from '../../../base/user-error.js';
import { didYouMean } from '../../../text/nearest.js';
import { crossEntropy, lossFns, objectiveOf, type LossFn, type Objective } from '../../objectives/objectives.js';
import type { ForwardBackwardRequest, WireDatum } from '../protocol/messages.js';
import type { Tensor } from '../protocol/tensors.js';
import { isTrainedOn, type Learnable } from './shared-prefixes.js';

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
export function datumOf(datum: WireDatum, index: number, objective: Objective): Learnable {
  const { tokens } = datum;
  if (tokens.length === 0) throw new UserError(`Datum ${index} has no tokens.`, 'Send at least one.');
  const inputs = inputsOf(datum, index, objective.name);
  const loss = {
    // The pull of dro towards the sampler also acts on tokens whose advantage is 0.
    isSilent: objective.name !== 'dro',
    ...(objective.name === 'cross_entropy'
      ? { weights: inputs.needed('weights') }
      : rolloutOf(inputs, tokens.length, objective)),
  };
  const targets = Int32Array.from(inputs.needed('target_tokens'));
  const wrong = targets.findIndex((target, at) => isOther(target, tokens[at + 1]) && isTrainedOn(loss, at));
  if (wrong >= 0) {
    throw new UserError(
      `Target ${wrong} of datum ${index} is ${targets[wrong]}, and the input goes on with ${tokens[wrong + 1]}.`,
      'Give as targets the input, moved by one token.',
    );
  }
  // Clients put any number where nothing is trained on, as the cookbook's rl_loop does for the tokens of a prompt.
  const following = targets.map((target, at) => tokens[at + 1] ?? target);
  return { prompt: tokens.subarray(0, 1), tokens: following, ...loss };
}

/** The last target has no token of the input beside it. */
function isOther(target: number, following: number | undefined): boolean {
  return following !== undefined && target !== following;
}

type Inputs = {
  readonly needed: (name: string) => Tensor['values'];
  readonly optional: (name: string) => Tensor['values'] | undefined;
};

function inputsOf({ tokens, inputs }: WireDatum, index: number, loss: string): Inputs {
  const optional = (name: string): Tensor['values'] | undefined => {
    const tensor = inputs.get(name);
    if (tensor !== undefined) checkLength(tensor, tokens.length, `${name} of datum ${index}`);
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
  if (values.length === length && shape.filter((size) => size !== 1).length <= 1) return;
  throw new UserError(
    `${what} has the shape [${shape.join(', ')}] with ${values.length} numbers, and the input has ${length} tokens.`,
    'Send one number for each token of the input.',
  );
}
