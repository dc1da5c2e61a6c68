import { expect, it } from 'vitest';
import { AdaptedEngine } from '../../../src/lab/engine/adapters/adapted-engine.js';
import { initialAdapters } from '../../../src/lab/engine/adapters/initial-adapters.js';
import { computedShape } from '../../../src/lab/engine/adapters/layout.js';
import { compiledKernels, createEngine } from '../../../src/lab/engine/create-engine.js';
import { crossEntropy, objectiveOf, type LossFn, type Objective } from '../../../src/lab/objectives/objectives.js';
import { rng } from '../../../src/lab/rng.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import type { Datum } from '../../../src/lab/service/service.js';
import { ModelCatalogue } from '../../../src/lab/tinker/server/model-catalogue.js';
import { adaptersOf } from '../../../src/lab/tinker/server/parameters.js';
import { tempDirectory } from '../temp-directory.js';
import { example, runningService, withModel } from './running-service.js';

const lora = { rank: 3, seed: 5, trainUnembed: true, trainMlp: true, trainAttn: true };
const rows = [
  [5, 6, 7, 8, 9, 10, 11],
  [5, 30, 31, 32],
];
const q = (row: readonly number[]) => row.slice(1).map((_, at) => -4 - 0.1 * at);
const A = (row: readonly number[]) => row.slice(1).map((_, at) => 0.5 - 0.4 * at);

it.each([
  { loss: 'cross_entropy', config: {} },
  { loss: 'importance_sampling', config: {} },
  { loss: 'ppo', config: { clip_low_threshold: 0.9, clip_high_threshold: 1.1 } },
  { loss: 'cispo', config: {} },
  { loss: 'dro', config: { beta: 0.05 } },
  { loss: 'gspo', config: { clip_low_threshold: 0.9, clip_high_threshold: 1.1 } },
])(
  '$loss over HTTP is the same as in process: loss, log-probabilities, gradient and step',
  async ({ loss, config }) => {
    const directory = tempDirectory();
    const service = await runningService(directory);
    try {
      const { model } = await withModel(service, { rank: 3, seed: 5 });
      const data = rows.map((row) => ({ ...example(row), loss_fn_inputs: inputsOf(loss, row) }));
      const input = { data, loss_fn: loss, loss_fn_config: config };
      const ask = (path: string, seq: number) =>
        service.result(path, { model_id: model, seq_id: seq, forward_backward_input: input });
      const learnt = (await ask('forward_backward', 1)).body;
      const adam_params = { learning_rate: 0.001, eps: 1e-8 };
      const norm = (await service.result('optim_step', { model_id: model, seq_id: 2, adam_params })).body.metrics;
      const after = (await ask('forward', 3)).body;

      const own = await inProcess(directory);
      const objective = objectiveNamed(loss, config);
      const datums = rows.map((row) => datumOf(loss, row));
      const expected = await own.forwardBackward(datums, { objective });
      close([learnt.metrics['loss:sum']!], [expected.loss]);
      rows.forEach((_, at) => close(learnt.loss_fn_outputs[at]!.logprobs.data, expected.logprobs[at]!));
      const step = { learningRate: 0.001, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };
      close([norm['optim/grad_norm']!], [(await own.optimStep(step)).gradientNorm!]);
      const scores = await own.forward(datums);
      rows.forEach((_, at) => close(after.loss_fn_outputs[at]!.logprobs.data, scores[at]!));
    } finally {
      await service.close();
    }
  },
);

function close(got: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(got.length).toBe(expected.length);
  for (let at = 0; at < expected.length; at++) {
    expect(Math.abs(got[at]! - expected[at]!)).toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(expected[at]!)));
  }
}

async function inProcess(home: string): Promise<EngineService> {
  const base = await new ModelCatalogue(`${home}/models`, []).open('memrl/tiny');
  const adapters = adaptersOf(lora)!;
  const engine = await createEngine(computedShape(base.shape, adapters));
  const adapted = await AdaptedEngine.on(engine, await compiledKernels(), { ...base, adapters });
  const random = rng(lora.seed, 'adapters');
  await adapted.loadWeights(initialAdapters(base.shape, adapters, () => random.next()));
  return new EngineService(adapted);
}

function objectiveNamed(
  loss: string,
  config: { clip_low_threshold?: number; clip_high_threshold?: number; beta?: number },
): Objective {
  if (loss === 'cross_entropy') return crossEntropy;
  const { clip_low_threshold = null, clip_high_threshold = null, beta = 0.05 } = config;
  return objectiveOf(loss as LossFn, { clip_low_threshold, clip_high_threshold, beta });
}

function inputsOf(loss: string, row: readonly number[]): ReturnType<typeof example>['loss_fn_inputs'] {
  const { target_tokens, weights } = example(row).loss_fn_inputs;
  const floats = (data: number[]) => ({ ...weights, data });
  const inputs =
    loss === 'cross_entropy'
      ? { target_tokens, weights }
      : {
          target_tokens,
          logprobs: floats(q(row)),
          advantages: floats(A(row)),
          ...(loss === 'gspo' && { sequence_ratio_mask: floats(row.slice(1).map(() => 1)) }),
        };
  return inputs as ReturnType<typeof example>['loss_fn_inputs'];
}

function datumOf(loss: string, row: readonly number[]): Datum {
  const tokens = Int32Array.from(row.slice(1));
  const datum = { prompt: Int32Array.of(row[0]!), tokens, weights: new Float32Array(tokens.length).fill(1) };
  if (loss === 'cross_entropy') return datum;
  return { ...datum, logprobs: Float32Array.from(q(row)), advantages: Float32Array.from(A(row)) };
}
