import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import type { Engine, ModelShape } from '../../../src/lab/engine/engine.js';
import { parameterCount } from '../../../src/lab/engine/layout.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { StepCosts } from '../../../src/lab/tinker/server/step-costs.js';
import { stepTime } from '../../../src/lab/tinker/server/step-time.js';

const large: ModelShape = { ...presets.tiny, width: 256, layers: 12, feedForward: 1024, context: 1024 };

describe('the time of a step', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it.each([
    { backend: 'wasm', atOnce: 1 },
    { backend: 'tfjs-node', atOnce: 8 },
  ])(
    'is that of all layers, all sequences, one packing and one Adam; turns of others do not count: $backend',
    async ({ backend, atOnce }) => {
      let isPacked = false;
      let opened: ModelShape | null = null;
      let sequences = 0;
      const open = async (shape: ModelShape, pause: () => Promise<void> | null) => {
        opened = shape;
        const computes = async (ms: number) => {
          vi.advanceTimersByTime(ms);
          await pause();
        };
        const engine = {
          backend,
          forward: async (groups: readonly unknown[]) => {
            await computes(isPacked ? 4 : 7);
            isPacked = true;
            sequences = groups.length;
            return { logprobs: new Float32Array(128 * sequences) };
          },
          backward: () => computes(6),
          adam: async () => {
            await computes(2);
            isPacked = false;
          },
          dispose: async () => {},
        } as unknown as Engine;
        return { engine, threads: null };
      };
      const pause = async () => {
        await Promise.resolve();
        vi.advanceTimersByTime(1000);
      };
      const ms = await stepTime(large, { open, pause });
      const layer = parameterCount(opened!);
      const head = (large.vocabulary * large.width) / layer;
      expect(opened).toMatchObject({ layers: 1, width: 256, feedForward: 1024 });
      expect(sequences).toBe(atOnce);
      expect(ms).toBeCloseTo(((12 + head) * 8 * 10) / atOnce + (parameterCount(large) / layer) * (3 + 2), 6);
    },
  );
});

describe('the costs of the models of a service', () => {
  const times: Readonly<Record<string, number>> = { big: 54_000, middle: 3120, 'memrl/tiny': 21.4 };
  const told = () => {
    const lines: string[] = [];
    const measured: string[] = [];
    const shapeOf = (name: string): ModelShape => {
      if (name === 'broken') throw new UserError('It has no config.', 'Write one.');
      return name === 'memrl/tiny' ? presets.tiny : { ...large, layers: name === 'big' ? 96 : 12 };
    };
    const stepTimeOf = async (name: string) => {
      measured.push(name);
      shapeOf(name);
      return times[name]!;
    };
    const catalogue = { names: ['big', 'broken', 'middle', 'memrl/tiny'], shapeOf };
    const costs = new StepCosts(catalogue, { stepTime: stepTimeOf }, (line) => void lines.push(line));
    return { costs, lines, measured };
  };

  it('are logged at the start, with an alternative to one that is too slow', async () => {
    const { costs, lines, measured } = told();
    await costs.logAll();
    expect(lines).toEqual([
      'a training step of 8 × 128 tokens takes about: memrl/tiny 21 ms · middle 3.1 s · big 54 s',
      expect.stringMatching(
        /^big is slow here\. Use base_model="middle" \(3\.1 s a step\), or the same client on a bigger service: tinker\.ServiceClient\(base_url="https:/,
      ),
    ]);
    expect(measured).toEqual(['memrl/tiny', 'middle', 'big', 'broken']);
  });

  it.each([
    {
      base: 'big',
      says: [/^model m7: a training step .* will take about 54 s here\. Use base_model="middle" .*base_url/],
    },
    { base: 'middle', says: [] },
    { base: 'memrl/tiny', says: [] },
  ])('are logged for a new model that is slow: $base', async ({ base, says }) => {
    const { costs, lines, measured } = told();
    await costs.logIfSlow('m7', base);
    expect(lines).toHaveLength(says.length);
    says.forEach((words, index) => expect(lines[index]).toMatch(words));
    expect(measured.length > 0).toBe(base !== 'memrl/tiny');
  });
});
