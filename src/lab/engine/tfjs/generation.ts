import { UserError } from '../../../base/user-error.js';
import { resumeRng, rng, type Rng } from '../../rng.js';
import type { Generated, Sampling, SeededPrompt } from '../engine.js';
import { checkTokens } from '../model/batch.js';
import { checkPrompt } from '../model/generation.js';
import { checkSampling } from '../model/sampling.js';
import type { Device, Tensor } from './device.js';
import { logSoftmax } from './head.js';
import { type Cache, type Part, runTokens } from './inference.js';
import { type Model, readAndDispose as numbers } from './model.js';

/** A sequence that grows. `rows`: rows of the cache that hold its tokens. */
type Sequence = {
  readonly prompt: Int32Array;
  readonly seed: number;
  readonly room: number;
  readonly rows: number[];
  readonly tokens: number[];
  readonly logprobs: number[];
  readonly samplingLogprobs: number[];
  ended: Generated['ended'] | null;
};

/**
 * Uniform numbers: a row of them for each sequence; or one list for all, of which `used` are drawn, by the sequences
 * that have a 1 in `open`. So the device knows which sequences have ended before the tokens are read.
 */
type Uniforms = { readonly own: Tensor } | { readonly shared: Tensor; readonly used: Tensor; readonly open: Tensor };

/** State kept on the device from token to token, one row for each sequence that continues. */
type State = { readonly cache: Cache; readonly uniforms: Uniforms; readonly tokens: Tensor };

type Step = { readonly state: State; readonly drawn: DrawnTokens };

/** Tokens drawn for some sequences and not yet read. */
type UnreadTokens = { readonly sequences: readonly Sequence[]; readonly drawn: DrawnTokens };

/** Tokens of each sequence between two reads on a GPU: up to so many are drawn in vain after a stop token. */
const TOKENS_A_READ = 16;
/** Prompt tokens computed in one pass. */
const ROWS_AT_ONCE = 4096;
/** Floats of keys or values that one block of attention may gather: the size of a WebGPU buffer. */
const FLOATS_AT_ONCE = 2 ** 25;

/** Continues prompts until each has ended. Tokens are drawn on the device, and read many at a time. */
export async function generate(
  model: Model,
  prompts: readonly SeededPrompt[],
  sampling: Sampling,
  stream: Rng | null,
): Promise<Generated[]> {
  const { shape } = model;
  checkSampling(model, sampling);
  if ((sampling.repetitionPenalty ?? 1) !== 1) {
    throw new UserError(
      'TensorFlow.js draws tokens without a repetition penalty.',
      'Use engine=wasm, or a penalty of 1.',
    );
  }
  for (const { tokens, seed } of prompts) {
    checkTokens(shape, tokens, 'A prompt');
    checkPrompt(shape.context, tokens.length, seed);
  }
  const sequences = prompts.map(({ tokens, seed }) =>
    begin(tokens, seed, Math.min(sampling.maxTokens, shape.context - tokens.length)),
  );
  for (const wave of wavesOf(model, sequences)) {
    await runWave(model, wave, { sampling, stream });
    // The stream advances once for each token kept; numbers used for tokens in vain are drawn again.
    for (const { tokens } of wave) tokens.forEach(() => stream?.next());
  }
  return sequences.map((sequence) => ({
    tokens: Int32Array.from(sequence.tokens),
    logprobs: Float32Array.from(sequence.logprobs),
    samplingLogprobs: Float32Array.from(sequence.samplingLogprobs),
    ended: sequence.ended!,
  }));
}

function begin(prompt: Int32Array, seed: number, room: number): Sequence {
  const nothing = { rows: [], tokens: [], logprobs: [], samplingLogprobs: [] };
  return { prompt, seed, room, ...nothing, ended: room === 0 ? 'length' : null };
}

function wavesOf({ shape }: Model, sequences: readonly Sequence[]): Sequence[][] {
  const open = sequences.filter(({ ended }) => ended === null);
  const longest = open.reduce((most, { prompt, room }) => Math.max(most, prompt.length + room), 1);
  const perSequence = longest * (shape.width / shape.heads) * shape.kvHeads;
  const atOnce = Math.max(1, Math.floor(FLOATS_AT_ONCE / perSequence));
  return Array.from({ length: Math.ceil(open.length / atOnce) }, (_, index) =>
    open.slice(index * atOnce, (index + 1) * atOnce),
  );
}

/** How a wave draws. `stream`: the stream of all its sequences; null when each has its own. */
type Drawing = { readonly sampling: Sampling; readonly stream: Rng | null };

async function runWave(model: Model, wave: readonly Sequence[], { sampling, stream }: Drawing): Promise<void> {
  const { device } = model;
  // A read costs nothing where memory is shared with the processor.
  const mostUnread = ['wasm', 'cpu'].includes(device.backend) ? 1 : TOKENS_A_READ;
  const unread: UnreadTokens[] = [];
  let live = wave;
  let step: Step = device.run(() => start(model, wave, { sampling, stream }));
  try {
    for (let drawn = 1; ; drawn++) {
      unread.push({ sequences: live, drawn: step.drawn });
      if (unread.length >= mostUnread) await collect(model, unread, sampling);
      const going = live.flatMap(({ ended, room }, index) => (ended === null && drawn < room ? [index] : []));
      if (going.length === 0) break;
      await model.pause();
      const before = { ...step.state, live, drawn };
      step = device.run(() => advance(model, before, going, sampling));
      device.free({ cache: before.cache, uniforms: before.uniforms, tokens: before.tokens });
      live = going.map((index) => live[index]!);
    }
    await collect(model, unread, sampling);
  } finally {
    device.free([step.state, unread.map(({ drawn }) => drawn)]);
  }
}

/** Computes the prompts, each distinct one once, and draws the first tokens. */
function start(model: Model, wave: readonly Sequence[], { sampling, stream }: Drawing): Step {
  const { device } = model;
  const { tf } = device;
  const different = new Map<string, Sequence[]>();
  for (const sequence of wave) {
    const key = sequence.prompt.join();
    different.set(key, [...(different.get(key) ?? []), sequence]);
  }
  const groups = [...different.values()];
  let cache: Cache | null = null;
  const scores: Tensor[] = [];
  for (const pass of passesOf(groups)) {
    const parts = pass.map(([{ prompt }]) => ({ rows: prompt.length, position: 0, seen: [] }));
    let row: number = cache?.rows ?? 0;
    for (const sequences of pass) {
      for (const { rows, prompt } of sequences) rows.push(...Array.from(prompt, (_, i) => row + i));
      row += sequences[0].prompt.length;
    }
    const run: ReturnType<typeof runTokens> = runTokens(
      model,
      cache,
      parts,
      device.ids(pass.flatMap(([{ prompt }]) => [...prompt])),
    );
    cache = run.cache;
    scores.push(run.logprobs);
  }
  const groupOf = new Map(
    groups.flatMap((sequences, index) => sequences.map((sequence) => [sequence, index] as const)),
  );
  const logprobs = device.rows(tf.concat(scores, 0), device.ids(wave.map((sequence) => groupOf.get(sequence)!)));
  return draw(model, { cache: cache!, uniforms: uniformsOf(model, wave, stream), logprobs, drawn: 0 }, sampling);
}

/** Groups of the same prompt, in passes of about as many rows as are computed at once. */
function passesOf(groups: readonly Sequence[][]): [Sequence, ...Sequence[]][][] {
  const passes: [Sequence, ...Sequence[]][][] = [];
  let rows = Infinity;
  for (const group of groups as [Sequence, ...Sequence[]][]) {
    rows += group[0].prompt.length;
    if (rows > ROWS_AT_ONCE) {
      passes.push([]);
      rows = group[0].prompt.length;
    }
    passes.at(-1)!.push(group);
  }
  return passes;
}

/** Uniform numbers for all tokens that the sequences could draw, from one stream or from the stream of each. */
function uniformsOf({ device }: Model, wave: readonly Sequence[], stream: Rng | null): Uniforms {
  const { tf } = device;
  const most = Math.max(...wave.map(({ room }) => room));
  const numbers = new Float32Array(wave.length * most);
  const fill = (from: number, count: number, random: Rng) => {
    // The next number below 1 in single precision, where rounding would make it 1.
    for (let i = 0; i < count; i++) numbers[from + i] = Math.min(random.next(), 1 - 2 ** -24);
  };
  if (stream !== null) {
    fill(0, numbers.length, resumeRng(stream.state()));
    return { shared: device.floats(numbers), used: tf.scalar(0), open: tf.ones([wave.length]) };
  }
  wave.forEach(({ seed, room }, index) => fill(index * most, room, rng(seed, 'generate')));
  return { own: tf.reshape(device.floats(numbers), [wave.length, most]) };
}

/** The next uniform number of each row. */
function nextUniforms({ device }: Model, uniforms: Uniforms, drawn: number): Tensor {
  const { tf } = device;
  if ('own' in uniforms) return tf.reshape(tf.slice(uniforms.own, [0, drawn], [-1, 1]), [-1]);
  const places = tf.add(tf.cumsum(uniforms.open, 0, true), uniforms.used);
  return device.rows(uniforms.shared, tf.cast(tf.minimum(places, uniforms.shared.size - 1), 'int32'));
}

/** The uniform numbers that are left after the rows have drawn these tokens. */
function uniformsAfter({ device }: Model, uniforms: Uniforms, tokens: Tensor, stop: readonly number[]): Uniforms {
  const { tf } = device;
  if ('own' in uniforms) return { own: tf.clone(uniforms.own) };
  const goesOn = stop.map((token) => tf.cast(tf.notEqual(tokens, tf.scalar(token, 'int32')), 'float32'));
  return {
    shared: tf.clone(uniforms.shared),
    used: tf.add(uniforms.used, tf.sum(uniforms.open)),
    open: goesOn.reduce((open, isOpen) => tf.mul(open, isOpen), tf.clone(uniforms.open)),
  };
}

function uniformsOfRows({ device }: Model, uniforms: Uniforms, ids: Tensor): Uniforms {
  if ('own' in uniforms) return { own: device.rows(uniforms.own, ids) };
  return { ...uniforms, open: device.rows(uniforms.open, ids) };
}

/** Computes the last tokens of the sequences that continue, and draws the next ones. @param going Their indices. */
function advance(
  model: Model,
  { cache, uniforms, tokens, live, drawn }: State & { live: readonly Sequence[]; drawn: number },
  going: readonly number[],
  sampling: Sampling,
): Step {
  const { device } = model;
  const isAll = going.length === live.length;
  const ids = isAll ? null : device.ids(going);
  const parts: Part[] = going.map((index, row) => {
    const { rows } = live[index]!;
    const seen = rows.slice();
    rows.push(cache.rows + row);
    return { rows: 1, position: seen.length, seen };
  });
  const run = runTokens(model, cache, parts, ids === null ? tokens : device.rows(tokens, ids));
  const left = ids === null ? uniforms : uniformsOfRows(model, uniforms, ids);
  return draw(model, { cache: run.cache, uniforms: left, logprobs: run.logprobs, drawn }, sampling);
}

function draw(
  model: Model,
  { cache, uniforms, logprobs, drawn }: Omit<State, 'tokens'> & { logprobs: Tensor; drawn: number },
  sampling: Sampling,
): Step {
  const { tf } = model.device;
  const next = drawTokens(model.device, logprobs, nextUniforms(model, uniforms, drawn), sampling);
  const left = uniformsAfter(model, uniforms, next.tokens, sampling.stop ?? []);
  return { state: { cache, uniforms: left, tokens: tf.clone(next.tokens) }, drawn: next };
}

/** Reads all drawn tokens in one go. Tokens drawn after a sequence's end are dropped. */
async function collect({ device }: Model, unread: UnreadTokens[], { stop = [], ends }: Sampling): Promise<void> {
  const read = unread.splice(0);
  if (read.length === 0) return;
  const flat = device.run(() =>
    device.tf.concat(
      read.flatMap(({ drawn }) => [device.tf.cast(drawn.tokens, 'float32'), drawn.logprobs, drawn.samplingLogprobs]),
      0,
    ),
  );
  for (const { drawn } of read) device.free(drawn);
  const values = await numbers(flat);
  let at = 0;
  for (const { sequences } of read) {
    const { length } = sequences;
    sequences.forEach((sequence, i) => {
      if (sequence.ended !== null) return;
      const token = values[at + i]!;
      sequence.tokens.push(token);
      sequence.logprobs.push(values[at + length + i]!);
      sequence.samplingLogprobs.push(values[at + 2 * length + i]!);
      if (stop.includes(token) || ends?.(sequence.tokens) === true) sequence.ended = 'stop';
      else if (sequence.tokens.length === sequence.room) sequence.ended = 'length';
    });
    at += 3 * length;
  }
}

/** The tokens that a step of sampling has drawn, one for each row, on the device. */
type DrawnTokens = {
  /** [rows], int32 */
  readonly tokens: Tensor;
  /** Log-probability of the token under the model, and under the distribution drawn from; [rows]. */
  readonly logprobs: Tensor;
  readonly samplingLogprobs: Tensor;
};

/** A score no token can have; its probability is exactly 0. */
const NEVER = -1e30;

/**
 * Draws by inverse CDF from the distribution of each row under `sampling`, in single precision.
 *
 * @param logprobs The model's, [rows × vocabulary];
 * @param uniforms in [0, 1), [rows].
 */
function drawTokens(device: Device, logprobs: Tensor, uniforms: Tensor, sampling: Sampling): DrawnTokens {
  const { tf } = device;
  const { temperature } = sampling;
  if (temperature === 0) {
    const tokens = tf.cast(tf.argMax(logprobs, 1), 'int32');
    return { tokens, logprobs: at(device, logprobs, tokens), samplingLogprobs: tf.zerosLike(uniforms) };
  }
  const tempered = temperature === 1 ? logprobs : logSoftmax(device, tf.div(logprobs, temperature));
  const drawn = applyTopKTopP(device, tempered, sampling);
  const tokens = passing(device, tf.exp(drawn), uniforms);
  return {
    tokens,
    logprobs: at(device, logprobs, tokens),
    samplingLogprobs: drawn === logprobs ? at(device, logprobs, tokens) : at(device, drawn, tokens),
  };
}

/** Applies top-k, then top-p, and normalises; ties of the last token kept stay. */
function applyTopKTopP(device: Device, logprobs: Tensor, { topK = Infinity, topP = 1 }: Sampling): Tensor {
  const { tf } = device;
  const vocabulary = logprobs.shape[1]!;
  if (topK >= vocabulary && topP >= 1) return logprobs;
  const sorted = tf.topk(logprobs, Math.min(topK, vocabulary), true).values;
  let least = tf.min(sorted, 1, true);
  if (topP < 1) {
    // The share of top-p counts from the sum that top-k has left, without ties beyond k.
    const p = tf.exp(sorted);
    const before = tf.cumsum(p, 1, true);
    const isKept = tf.less(before, tf.mul(tf.sum(p, 1, true), topP));
    least = tf.min(tf.where(isKept, sorted, tf.zerosLike(sorted)), 1, true);
  }
  return logSoftmax(device, tf.where(tf.greaterEqual(logprobs, least), logprobs, tf.fill(logprobs.shape, NEVER)));
}

/**
 * The token where the running sum passes `uniform` of its total; the last token, where rounding leaves that beyond it.
 */
function passing({ tf }: Device, weights: Tensor, uniforms: Tensor): Tensor {
  const running = tf.cumsum(weights, 1);
  const goal = tf.mul(tf.reshape(uniforms, [-1, 1]), tf.sum(weights, 1, true));
  const passed = tf.sum(tf.cast(tf.lessEqual(running, goal), 'float32'), 1);
  const ids = tf.range(0, weights.shape[1]!);
  const last = tf.max(tf.mul(tf.cast(tf.greater(weights, 0), 'float32'), ids), 1);
  return tf.cast(tf.minimum(passed, last), 'int32');
}

/** The number of each row at its token. */
function at(device: Device, rows: Tensor, tokens: Tensor): Tensor {
  const { tf } = device;
  const [count, width] = rows.shape as [number, number];
  const places = tf.add(tf.mul(tf.range(0, count, 1, 'int32'), tf.scalar(width, 'int32')), tokens);
  return device.rows(tf.reshape(rows, [-1]), places);
}
