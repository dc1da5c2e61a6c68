import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AdamOptions } from '../../../../src/lab/engine/engine.js';
import { layout } from '../../../../src/lab/engine/layout.js';
import { presets } from '../../../../src/lab/engine/model-shape.js';
import { adamStep } from '../../../../src/lab/engine/tfjs/adam.js';
import { openBackend } from '../../../../src/lab/engine/tfjs/backends.js';
import { importModule } from '../../../../src/base/import-module.js';
import { readAndDispose } from '../../../../src/lab/engine/tfjs/model.js';
import { Parameters } from '../../../../src/lab/engine/tfjs/parameters.js';
import { maxDifference, slopes } from '../models.js';

/** Made with PyTorch by the program beside it. */
const torch = JSON.parse(readFileSync('test/fixtures/engine/adamw.json', 'utf8')) as Record<
  'decay' | 'groups',
  { norms: number[]; weights: number[] }
>;
const shape = { ...presets.micro, vocabulary: 6, width: 8, heads: 2, kvHeads: 1, feedForward: 8, context: 8 };
const such = (part: string) => layout(shape).flatMap(({ name }) => (name.includes(part) ? [name] : []));
const adamW: AdamOptions = {
  ...{ learningRate: 0.01, beta1: 0.8, beta2: 0.95, epsilon: 1e-4 },
  ...{ weightDecay: 0.1, clipNorm: 0.5 },
};

describe.each(['tfjs-wasm', 'tfjs-cpu'] as const)('AdamW on %s', (name) => {
  it.each<{ which: 'decay' | 'groups'; how: Partial<AdamOptions> }>([
    { which: 'decay', how: {} },
    {
      which: 'groups',
      how: {
        groups: [
          { tensors: such('q_proj'), learningRate: 0.03 },
          { tensors: such('norm'), weightDecay: 0.3 },
          { tensors: such('k_proj'), frozen: true },
        ],
      },
    },
  ])("takes the steps of PyTorch's, with its clipping: $which", async ({ which, how }) => {
    const opened = await openBackend(name, { environment: {}, load: importModule });
    if (opened.kind === 'absent') throw new Error(opened.why);
    const { device } = opened;
    const parameters = new Parameters(device, shape);
    device.run(() => parameters.put('weights', device.floats(slopes(parameters.count, 1))));
    for (let step = 0; step < 4; step++) {
      // The third is too short to be clipped.
      const gradient = slopes(parameters.count, 10 + step).map((g) => g * (step === 2 ? 0.01 : 1));
      device.run(() => parameters.addGradient(device.floats(gradient)));
      const norm = await readAndDispose(device.run(() => adamStep(device, shape, parameters, { ...adamW, ...how })));
      expect(norm[0]! / torch[which].norms[step]!).toBeCloseTo(1, 6);
    }
    expect(maxDifference(await parameters.get('weights').data(), torch[which].weights)).toBeLessThan(1e-6);
    parameters.dispose();
  });
});
