import { UserError } from '../../base/user-error.js';
import { counted } from '../../text/numbers.js';
import type { Generated, Sampling, SeededPrompt } from '../engine/engine.js';
import type { Environment, Reward, Task, Turn } from '../environments/environment.js';
import { type Rng, rng, shuffle } from '../rng.js';
import type { TrainingService } from '../service/service.js';
import type { Tokenizer } from '../text/tokenizer.js';

/**
 * An episode with its tokens. The arrays over tokens hold everything after the task's prompt: tokens of the policy and
 * of the environment.
 */
export type Rollout = {
  readonly task: Task;
  readonly tokens: number[];
  /** Log-probability of the policy's token at temperature 1; 0 for the environment's tokens. */
  readonly logprobs: number[];
  /** Log-probability in the distribution that the token was drawn from. */
  readonly samplingLogprobs: number[];
  /** Index of the turn in which the policy generated the token; −1 for the environment's tokens. */
  readonly turnOf: number[];
  readonly turns: Turn[];
  /** Has one per turn. */
  readonly rewards: Reward[];
  /** Sum over turns of the tokens in the policy's context. */
  observed: number;
};

/** Options for playing rollouts. */
export type RolloutOptions = {
  /** Rollouts of each task. */
  readonly copies: number;
  /** `maxTokens`: limit of a turn. The environment sets the stop tokens. */
  readonly sampling: Omit<Sampling, 'stop'>;
  /**
   * `own`: each turn draws from a stream of its own, whose seed is taken from the caller's stream. `shared`: all turns
   * draw from the caller's stream, token by token in the order of the rollouts, which is how the published figures of
   * the memory task were drawn.
   */
  readonly streams: 'own' | 'shared';
};

/** The policy that samples, and the environment it plays. */
export type Player = { readonly service: Pick<TrainingService, 'sample'>; readonly environment: Environment };

/**
 * Plays each task `copies` times, side by side, with the present weights.
 *
 * @param random One stream, or one for each task: a group's draws then do not depend on the other groups.
 * @returns a group of rollouts for each task.
 */
export async function rollOut(
  { service, environment }: Player,
  tasks: readonly Task[],
  options: RolloutOptions,
  random: Rng | readonly Rng[],
): Promise<Rollout[][]> {
  const groups = Array.from(tasks, (task) => Array.from({ length: options.copies }, () => begin(task)));
  const streamOf = 'next' in random ? () => random : streamsOf(groups, random);
  for (let open = groups.flat(); open.length > 0;) {
    await generateTurns({ service, environment }, open, options, streamOf);
    open = await appendResponses(environment, open);
  }
  if (environment.scoreGroups === undefined) return groups;
  const scored = await environment.scoreGroups(groups);
  groups.forEach((group, g) => group.forEach(({ rewards }, i) => rewards.push(sumOf(rewards.pop()!, scored[g]![i]!))));
  return groups;
}

function begin(task: Task): Rollout {
  // One literal, because a spread makes new hidden classes for each object, which slows down small steps measurably.
  return { task, tokens: [], logprobs: [], samplingLogprobs: [], turnOf: [], turns: [], rewards: [], observed: 0 };
}

function streamsOf(groups: readonly (readonly Rollout[])[], random: readonly Rng[]): (rollout: Rollout) => Rng {
  const streams = new Map<Rollout, Rng>();
  groups.forEach((group, g) => group.forEach((rollout) => streams.set(rollout, random[g]!)));
  return (rollout) => streams.get(rollout)!;
}

/** Generates the policy's next turn in each of these rollouts. */
async function generateTurns(
  { service, environment: { stop, tokenizer } }: Player,
  open: readonly Rollout[],
  { sampling, streams }: RolloutOptions,
  streamOf: (rollout: Rollout) => Rng,
): Promise<void> {
  const own = streams === 'own';
  const prompts: SeededPrompt[] = [];
  for (const rollout of open) {
    prompts.push({ tokens: contextOf(rollout), seed: own ? streamOf(rollout).below(2 ** 32) : 0 });
  }
  const request = {
    prompts,
    sampling: { ...sampling, stop: stop.tokens },
    stream: own ? undefined : streamOf(open[0]!),
  };
  const generated = await service.sample(request);
  open.forEach((rollout, index) => {
    const { turn, sampled } = turnFrom(generated[index]!, stop.strings, tokenizer);
    if (turn.tokens.length === 0) throw contextIsFull(rollout);
    rollout.observed += prompts[index]!.tokens.length;
    for (let at = 0; at < turn.tokens.length; at++) add(rollout, turn.tokens[at]!, turn.logprobs[at]!, sampled[at]!);
    rollout.turns.push(turn);
  });
}

function contextOf({ task, tokens }: Rollout): Int32Array {
  if (tokens.length === 0) return task.prompt;
  const all = new Int32Array(task.prompt.length + tokens.length);
  all.set(task.prompt);
  all.set(tokens, task.prompt.length);
  return all;
}

/** The turn in the generated tokens, up to the first stop string if there is one. */
export function turnFrom(
  generated: Generated,
  strings: readonly string[],
  tokenizer: Tokenizer,
): { readonly turn: Turn; readonly sampled: Float32Array } {
  const { tokens, logprobs, samplingLogprobs: sampled, ended } = generated;
  const turn = new GeneratedTurn(generated, ended, tokenizer);
  const found = strings.length === 0 ? null : firstOf(turn.text, strings);
  if (found === null) return { turn, sampled };
  let count = 1;
  while (firstOf(tokenizer.decodePlain(tokens.subarray(0, count)), strings) === null) count++;
  const cut = { tokens: tokens.slice(0, count), logprobs: logprobs.slice(0, count) };
  return { turn: { ...cut, text: turn.text.slice(0, found), ended: 'stop' }, sampled: sampled.slice(0, count) };
}

/** A turn that decodes its text only when it is read, since some environments use tokens alone. */
class GeneratedTurn implements Turn {
  readonly tokens: Int32Array;
  readonly logprobs: Float32Array;
  readonly ended: Turn['ended'];
  readonly #tokenizer: Tokenizer;

  constructor({ tokens, logprobs }: Pick<Turn, 'tokens' | 'logprobs'>, ended: Turn['ended'], tokenizer: Tokenizer) {
    this.tokens = tokens;
    this.logprobs = logprobs;
    this.ended = ended;
    this.#tokenizer = tokenizer;
  }

  get text(): string {
    return this.#tokenizer.decodePlain(this.ended === 'stop' ? this.tokens.subarray(0, -1) : this.tokens);
  }
}

/** Index of the first of these strings; null when there is none. */
function firstOf(text: string, strings: readonly string[]): number | null {
  const places = strings.map((string) => text.indexOf(string)).filter((place) => place >= 0);
  return places.length === 0 ? null : Math.min(...places);
}

function contextIsFull({ task, turns }: Rollout): UserError {
  return new UserError(
    `The episode of task ${task.id} leaves the model's context no room for turn ${turns.length + 1}.`,
    'Let the environment end episodes earlier, or give a smaller max_tokens (max_completion_length).',
  );
}

function add(rollout: Rollout, token: number, logprob: number, sampled: number): void {
  rollout.tokens.push(token);
  rollout.logprobs.push(logprob);
  rollout.samplingLogprobs.push(sampled);
  rollout.turnOf.push(rollout.turns.length);
}

/** Appends the environment's response to each rollout. @returns the rollouts that continue. */
async function appendResponses(environment: Environment, open: readonly Rollout[]): Promise<Rollout[]> {
  const going: Rollout[] = [];
  for (const rollout of open) {
    const answer = environment.respond(rollout.task, rollout.turns);
    // Awaiting a value that is no promise would cost a short episode more than its rewards.
    const { reward, next } = answer instanceof Promise ? await answer : answer;
    rollout.rewards.push(reward);
    if (next === null) continue;
    going.push(rollout);
    for (const token of next) {
      rollout.tokens.push(token);
      rollout.logprobs.push(0);
      rollout.samplingLogprobs.push(0);
      rollout.turnOf.push(-1);
    }
  }
  return going;
}

function sumOf(turn: Reward, group: Reward): Reward {
  return {
    total: turn.total + group.total,
    parts: { ...turn.parts, ...group.parts },
    metrics: { ...turn.metrics, ...group.metrics },
  };
}

// The examples or tasks of each training step: no step depends on those before it, so a resumed run has the same.

/** Number of whole batches of `size` in one pass over the examples; an incomplete one is not used. */
export function batchesPerEpoch(examples: number, size: number): number {
  return Math.floor(examples / size);
}

/**
 * `batchesPerEpoch`, for training that needs at least one.
 *
 * @param source Origin of the examples, for the error.
 * @throws UserError when there are fewer than a batch.
 */
export function someBatches(source: string, examples: number, size: number, fix = 'give more examples'): number {
  const batches = batchesPerEpoch(examples, size);
  if (batches > 0) return batches;
  throw new UserError(
    `${source} has ${counted(examples, 'example')}, less than one batch of ${size}.`,
    `Set a smaller batch_size, or ${fix}.`,
  );
}

/**
 * The examples of each step, epoch by epoch; each epoch is shuffled anew.
 *
 * @param name Name of the random stream that shuffles an epoch.
 */
export function epochBatches<T>(
  examples: readonly T[],
  size: number,
  { seed, name }: { readonly seed: number; readonly name: string },
): (step: number) => T[] {
  const perEpoch = batchesPerEpoch(examples.length, size);
  let known = { epoch: -1, order: [] as readonly number[] };
  return (step) => {
    const epoch = Math.floor(step / perEpoch);
    if (known.epoch !== epoch) {
      known = { epoch, order: shuffle([...examples.keys()], rng(seed, `${name}/${epoch}`)) };
    }
    const from = (step % perEpoch) * size;
    return known.order.slice(from, from + size).map((index) => examples[index]!);
  };
}

/**
 * The tasks of each step: epoch by epoch, shuffled anew; in order when there are fewer than a step takes; and drawn
 * when their number is unlimited.
 */
export function taskBatches(environment: Environment, size: number, seed: number): (step: number) => Task[] {
  const { size: known } = environment;
  if (known === Infinity) {
    return (step) =>
      Array.from({ length: size }, (_, at) => taskOf(environment, step * size + at, { seed, name: 'task' }));
  }
  const tasks = Array.from({ length: known }, (_, index) => taskOf(environment, index, { seed, name: 'task' }));
  if (known === 1) return () => Array.from({ length: size }, () => tasks[0]!);
  if (known >= size) return epochBatches(tasks, size, { seed, name: 'prompts' });
  return (step) => Array.from({ length: size }, (_, at) => tasks[(step * size + at) % known]!);
}

/** @param name Name of the random stream that the environment may draw the task from. */
export function taskOf(
  environment: Environment,
  index: number,
  { seed, name }: { readonly seed: number; readonly name: string },
): Task {
  return environment.task(index, rng(seed, `${name}/${index}`));
}

/** Cuts a list into consecutive groups of `size`. */
export function inGroups<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
