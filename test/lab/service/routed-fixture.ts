import { readFileSync } from 'node:fs';
import type { AdaptedEngine } from '../../../src/lab/engine/adapters/adapted-engine.js';
import { weightsFrom } from '../../../src/lab/engine/checkpoint.js';
import type { Engine, ModelShape } from '../../../src/lab/engine/engine.js';
import { layout } from '../../../src/lab/engine/layout.js';
import type { Task } from '../../../src/lab/environments/environment.js';
import type { Rollout } from '../../../src/lab/rollouts/rollouts.js';
import { dualLora, type Passes, type RoutingMode } from '../../../src/lab/service/dual-adapters.js';
import { adaptedOn, flatOf, unpack } from '../engine/adapters/adapted.js';
import { engineOn } from '../engine/every-engine.js';

type Packed = Readonly<Record<string, string>>;

/** What `test/fixtures/grpo/routed_step.py` wrote. */
export const fixture = JSON.parse(readFileSync('test/fixtures/grpo/routed_step.json', 'utf8')) as {
  readonly shape: ModelShape;
  readonly ranks: { readonly retain: number; readonly forget: number };
  readonly alpha: number;
  readonly temperature: number;
  readonly prompts: number[][];
  readonly completions: number[][][];
  readonly rewards: number[][];
  readonly hack: boolean[][];
  readonly ablatedRows: boolean[][];
  readonly weights: Packed;
  readonly parameters: Packed;
  readonly steps: readonly {
    readonly mode: RoutingMode | 'none';
    readonly beta: number;
    readonly ablated: boolean;
    readonly loss: number;
    readonly gradient: Packed;
  }[];
};

const weights = weightsFrom(
  fixture.shape,
  new Map(
    layout(fixture.shape).map(({ name, shape }) => [name, { shape, values: unpack(fixture.weights[name]!) }] as const),
  ),
);

/** The fixture's model without adapters. */
export async function baseOn(backend: string): Promise<Engine> {
  const engine = await engineOn(backend, fixture.shape);
  await engine.loadWeights(weights);
  return engine;
}

/** The fixture's model with both adapters. */
export async function dualOn(backend: string): Promise<AdaptedEngine> {
  const { shape, ranks, alpha, parameters } = fixture;
  const engine = await adaptedOn(backend, shape, dualLora({ ...ranks, alpha, stride: 1 }), weights);
  await engine.loadWeights(flatOf(engine.tensors, parameters));
  return engine;
}

/** The fixture's completions, those of a prompt side by side. */
export const rollouts: readonly Rollout[] = fixture.completions.flatMap((group, index) => {
  const task = { id: String(index), text: '', prompt: Int32Array.from(fixture.prompts[index]!) };
  return group.map((tokens) => rolloutOf(task, tokens));
});

/** An episode of one turn that says this. */
export function rolloutOf(task: Task, tokens: readonly number[]): Rollout {
  const logprobs = tokens.map(() => 0);
  const ended = tokens.at(-1) === 1 ? 'stop' : 'length';
  const said = { tokens: Int32Array.from(tokens), logprobs: Float32Array.from(logprobs), text: '', ended } as const;
  const arrays = { tokens: [...tokens], logprobs, samplingLogprobs: logprobs, turnOf: tokens.map(() => 0) };
  return { task, ...arrays, turns: [said], rewards: [{ total: 0 }], observed: task.prompt.length };
}

/** What the fixture flags, and ablates if that is asked for. */
export function passesOf(isAblated: boolean): Passes {
  const hack = fixture.hack.flat();
  const ablated = fixture.ablatedRows.flat().map((is, index) => isAblated && is && !hack[index]!);
  return { hack, ablated, good: hack.map((is, index) => !is && !ablated[index]!) };
}
