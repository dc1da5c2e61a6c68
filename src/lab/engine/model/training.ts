import { UserError } from '../../../base/user-error.js';
import type { PromptGroup, TokenScores } from '../engine.js';
import { runBackward } from './backward.js';
import { layOutBatch } from './batch.js';
import { headScores } from './head.js';
import { runLayer } from './layer.js';
import type { Model } from './model.js';
import { type Pass, TrainingMemory } from './training-buffers.js';

/** Forward and backward over batches of prompt groups. Keeps the activations of the last forward pass. */
export class Training {
  readonly #model: Model;
  readonly #memory: TrainingMemory;
  #pass: Pass | null = null;

  constructor(model: Model) {
    this.#model = model;
    this.#memory = new TrainingMemory(model);
  }

  forward(groups: readonly PromptGroup[]): TokenScores {
    const model = this.#model;
    const batch = layOutBatch(model.shape, groups);
    this.#pass = null;
    const buffers = this.#memory.buffersFor(batch);
    const pass = { model, batch, buffers, version: model.parameters.version };
    model.parameters.readyForward();
    embed(pass);
    runLayers(pass);
    const scores = headScores(pass);
    this.#pass = pass;
    return scores;
  }

  backward(dLogprob: Float32Array, dEntropy: Float32Array | null): void {
    const pass = this.#pass;
    if (pass === null) throw new UserError('There was no forward pass to go back through.', 'Call `forward` first.');
    if (pass.version !== this.#model.parameters.version) {
      throw new UserError(
        'The weights have changed since the last forward pass, so its derivative is lost.',
        'Call `forward` again before `backward`.',
      );
    }
    checkLength('dLogprob', dLogprob, pass);
    if (dEntropy !== null) checkLength('dEntropy', dEntropy, pass);
    this.#model.parameters.readyBackward();
    runBackward(pass, dLogprob, dEntropy);
  }
}

function checkLength(name: string, values: Float32Array, { batch }: Pass): void {
  const wanted = batch.targets.length;
  if (values.length === wanted) return;
  throw new UserError(
    `\`${name}\` has ${values.length} numbers, but the last forward pass scored ${wanted} tokens.`,
    'Give one number per continuation token of the last forward pass, in its order.',
  );
}

function embed({ model, batch, buffers }: Pass): void {
  const { kernels, shape, parameters } = model;
  const { i32 } = kernels.heap;
  i32.set(batch.tokens, buffers.tokens / 4);
  i32.set(batch.positions, buffers.positions / 4);
  i32.set(batch.headRows, buffers.headRowIds / 4);
  const x = buffers.layers[0]!.x;
  kernels.gatherRows(batch.tokens.length, shape.width, buffers.tokens, parameters.embedding.at, x);
}

function runLayers(pass: Pass): void {
  const { model, batch, buffers } = pass;
  const attend = (index: number) => attendSegments(pass, index);
  const rows = batch.tokens.length;
  buffers.layers.forEach((layer, index) => {
    runLayer(model, index, { rows, positions: buffers.positions, buffers: layer }, attend);
  });
}

function attendSegments({ model, batch, buffers }: Pass, index: number): void {
  const { kernels, shape, widths, scoreScale } = model;
  const { heads, kvHeads, width } = shape;
  const { qkv, p, attended } = buffers.layers[index]!;
  const row = widths.qkv;
  for (const segment of batch.segments) {
    const own = qkv + segment.row * row * 4;
    kernels.attention(
      heads,
      kvHeads,
      widths.head,
      segment.rows,
      own,
      row,
      qkv + (segment.sharedRow * row + width) * 4,
      segment.sharedRows,
      own + width * 4,
      0,
      row,
      p + segment.p * 4,
      segment.pRow,
      attended + segment.row * width * 4,
      width,
      scoreScale,
    );
  }
}
