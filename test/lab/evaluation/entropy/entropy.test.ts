import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStudy } from '../../../../src/contract/study.js';
import { sft, sftKeys } from '../../../../src/lab/algorithms/sft.js';
import { readArguments } from '../../../../src/lab/config/arguments.js';
import { inDoublePrecision } from '../../../../src/lab/engine/double-precision.js';
import { openSaved } from '../../../../src/lab/evaluation/eval-run/open-saved.js';
import { entropy, entropyLines, type EntropyResult } from '../../../../src/lab/evaluation/entropy/entropy.js';
import { entropyKeys } from '../../../../src/lab/evaluation/entropy/keys.js';
import { noiseOf } from '../../../../src/lab/evaluation/entropy/experiment.js';
import { characterTokenizer } from '../../../../src/lab/hugging-face/character-tokenizer.js';
import { openRunDirectory } from '../../../../src/lab/run/run-directory.js';
import { openRun } from '../../../../src/lab/run/runner.js';
import { openModel } from '../../../../src/lab/service/open-model.js';
import { removeFolder } from '../../../remove-folder.js';
import { testWorld } from '../../algorithms/run-in-test.js';
import { maxDifference } from '../../engine/models.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-entropy-'));
const model = join(root, 'model');
afterAll(() => removeFolder(root));

/** A policy that answers sums with digits, most of them wrong. */
beforeAll(async () => {
  const argv = ['environment=arithmetic', 'environment_params={max: 3, include_fewshot: false}', 'model_name=micro'];
  const more = ['num_examples=64', 'batch_size=16', 'num_epochs=12', 'learning_rate=0.01', 'eval_n_batches=0'];
  const { config } = readArguments(sftKeys, [...argv, ...more, 'load_checkpoint_path=none', 'lora_rank=0']);
  await sft(config, '', openRun(openRunDirectory(model), testWorld()));
});

async function measured(...argv: string[]): Promise<readonly EntropyResult[]> {
  const small = ['environment_params={max: 3, include_fewshot: false}', 'B_U=6', 'G=4', 'B_E=24', 'max_tokens=4'];
  const { config } = readArguments(entropyKeys, [`path=${model}`, ...small, ...argv]);
  const found = await entropy(config, join(root, 'out'), testWorld());
  return found as readonly EntropyResult[];
}

describe('memrl entropy', () => {
  it.each([
    ['token', 'centred'],
    ['token', 'whole'],
    ['sequence', 'centred'],
    ['sequence', 'whole'],
  ])(
    'finds a change in proportion to the learning rate, and a ratio that goes to 1, per %s and %s',
    async (per, credit) => {
      const [result] = await measured('eta=1e-7,1e-6,1e-5,1e-4', 'update=adam', `per=${per}`, `credit=${credit}`);
      const { true: truth, approx, fit } = result!;
      const ratios = truth.entries.map(({ ratio }) => ratio);
      const errors = ratios.map((ratio) => Math.abs(ratio - 1));
      expect(errors[0]).toBeLessThan(1e-3);
      const { eta, delta_h_adjusted: adjusted } = truth.entries[0]!;
      expect(Math.abs(adjusted / (eta * approx.delta_h_per_lr) - 1)).toBeLessThan(1e-3);
      expect(errors).toEqual(errors.toSorted((a, b) => a - b));
      expect(Math.abs(fit!.slope - 1)).toBeLessThan(0.03);
      expect(fit!.r2).toBeGreaterThan(0.99);
      truth.entries.forEach(({ diagnostics }) => expect(diagnostics.ess).toBeGreaterThan(12));
    },
  );

  it('predicts alike by a backward pass and by finite differences, and the parts of the prediction sum to it', async () => {
    const [{ approx }] = (await measured()) as [EntropyResult];
    expect(approx.by_differences / approx.delta_h_per_lr).toBeCloseTo(1, 5);
    const parts = approx.per_prompt.reduce((sum, part) => sum + part, approx.baseline);
    expect(parts / approx.delta_h_per_lr).toBeCloseTo(1, 9);
  });

  it.each(['token', 'sequence'])('has the same derivative in single and double precision, per %s', async (per) => {
    const [double, single] = [await measured(`per=${per}`), await measured(`per=${per}`, 'precision=single')];
    const derivatives = ([result]: readonly EntropyResult[]) => [
      result!.approx.delta_h_per_lr,
      result!.approx.without_denominator,
      result!.true.first_order.delta_h_per_lr,
    ];
    const exact = derivatives(double);
    derivatives(single).forEach((each, at) => expect(Math.abs(each / exact[at]! - 1)).toBeLessThan(1e-4));
  });

  it('tests a prediction on other answers, and reports how often it was right', async () => {
    const results = await measured('precision=single', 'eta=1e-5,1e-4', 'n_runs=6', 'B_E=64', 'B_T=96');
    const z = results.flatMap(({ true: { entries } }) => entries.map((entry) => entry.z!));
    const far = (of: readonly number[]) => of.filter((each) => Math.abs(each) > 1.96).length;
    expect(far(z.map(({ plain }) => plain))).toBeLessThanOrEqual(2);
    expect(far(z.map(({ controlled }) => controlled))).toBeLessThanOrEqual(2);
    for (const { true: truth, approx } of results) {
      expect(truth.num_sequences).toBe(96);
      expect(truth.first_order.delta_h_per_lr).not.toBe(approx.delta_h_per_lr);
      truth.entries.forEach((entry) => {
        expect(entry.controlled_error).toBeLessThanOrEqual(entry.standard_error);
      });
      expect(approx.control_variates.variance_ratio).toBeLessThanOrEqual(1);
      expect(approx.quadratic.standard_error).toBeGreaterThan(0);
    }
    const lines = entropyLines(results, 100).join('\n');
    expect(lines).toMatch(/within 1.96 of their errors: 1[0-2] of 12/);
    expect(lines).toMatch(/^first order: the sign of ΔH in [3-6] of 6; correlation with it 0\.\d+ \(95 %: /m);
    expect(lines).toMatch(/^covariance rule: the sign of ΔH in \d of 6; correlation/m);
    const [{ true: onE }] = (await measured()) as [EntropyResult];
    expect(onE.entries.map((entry) => entry.z)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  it('has the same second derivative in single and double precision', async () => {
    const [double, single] = [await measured(), await measured('precision=single')];
    const { vhvv, standard_error: error } = double[0]!.approx.quadratic;
    expect(Math.abs(single[0]!.approx.quadratic.vhvv - vhvv)).toBeLessThan(0.2 * Math.max(Math.abs(vhvv), error));
  });

  it('changes no entropy at a learning rate of 0', async () => {
    const [{ true: truth }] = (await measured('eta=0')) as [EntropyResult];
    expect(truth.entries[0]!.delta_h_true).toBe(0);
    expect(truth.entries[0]!.diagnostics.ess).toBeCloseTo(24, 9);
  });

  it.each(['eta=1e-4', 'eta=1e-4,1e-4,1e-4'])(
    'fits no slope through one learning rate, with a note: %s',
    async (eta) => {
      const [{ fit, warnings }] = (await measured(eta)) as [EntropyResult];
      expect(fit).toBeNull();
      expect(warnings.join()).toContain('no slope');
    },
  );

  it('gives the same numbers each time, and others for another seed', async () => {
    const [first, second] = [await measured('n_runs=2'), await measured('n_runs=2')];
    expect(second).toEqual(first);
    expect(first[1]!.approx.delta_h_per_lr).not.toBe(first[0]!.approx.delta_h_per_lr);
    const text = readFileSync(join(root, 'out', 'run_01', 'results.json'), 'utf8');
    expect((JSON.parse(text) as EntropyResult).approx).toEqual(first[1]!.approx);
    const study = readStudy(readFileSync(join(root, 'out', 'study.json'), 'utf8'))!;
    expect(study.warnings).toEqual([]);
    expect(study.figures.map(({ title }) => title)).toEqual(['change of entropy against learning rate']);
    const rows = readFileSync(join(root, 'out', 'metrics.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(rows.map((row) => (JSON.parse(row) as { step: number }).step)).toEqual([0, 1]);
    expect(entropyLines(first, 100)[0]).toContain('ΔH adjusted');
  });

  it('has a sketched kernel within its stated error', async () => {
    const [exact] = await measured('fisher=8');
    const [sketched] = await measured('fisher=8', 'sketch_rows=512');
    const far = exact!.fisher!.kernel.flatMap((row, i) =>
      row.map(
        (value, j) => Math.abs(sketched!.fisher!.kernel[i]![j]! - value) / sketched!.fisher!.standard_errors![i]![j]!,
      ),
    );
    expect(far.filter((each) => each > 4)).toEqual([]);
    expect(exact!.fisher!.cosines.samePrompt).toBeLessThanOrEqual(1);
    // The parts of the four answers to a prompt are the part of the prompt.
    const { delta_h_per_lr: parts, influence, strongest } = exact!.fisher!;
    for (const prompt of [0, 1]) {
      const sum = parts.slice(4 * prompt, 4 * prompt + 4).reduce((all, part) => all + part, 0);
      expect(sum).toBeCloseTo(exact!.approx.per_prompt[prompt]!, 9);
    }
    expect(Math.abs(influence[strongest[0]!]!)).toBe(Math.max(...influence.map(Math.abs)));
  });

  it('warns of steps too large to measure, and of changes below single precision', async () => {
    const [large] = await measured('eta=0.3');
    expect(large!.warnings.join()).toContain('too large a step to measure');
    const [small] = await measured('precision=single', 'eta=1e-12');
    expect(small!.warnings.join()).toContain('below what single precision sees');
  });

  it('asks for a policy when none is given', async () => {
    const { config } = readArguments(entropyKeys, []);
    await expect(entropy(config, root, testWorld())).rejects.toThrow('There is no policy to measure.');
  });
});

describe('the noise scale of a checkpoint', () => {
  const numbers = (...values: number[]) => values.map((each) => Float64Array.of(each));

  it('comes from the prompts of batch U, and by two batch sizes from other prompts', () => {
    const { two_sizes: found, signal } = noiseOf(numbers(1, 3, 2, 4), { weights_PG: [[1]] }, numbers(1, 3, 2, 4));
    // By hand: mean square 5 of one prompt, 3² of two; and a term below zero gives no scale.
    expect(found).toMatchObject({ signal: 13, noise: -8, b_simple: NaN });
    expect(signal).toBeCloseTo((4 * 2.5 ** 2 - 7.5) / 3, 12);
    expect(noiseOf(numbers(1, 3, 2), { weights_PG: [[1]] }, null).two_sizes).toBeNull();
  });

  it('draws prompts of its own', async () => {
    const [first] = await measured('gns_prompts=8');
    const [second] = await measured('gns_prompts=10');
    expect(second!.gns.noise).toBe(first!.gns.noise);
    expect(second!.gns.two_sizes!.noise).not.toBe(first!.gns.two_sizes!.noise);
    expect((await measured())[0]!.gns.two_sizes).toBeNull();
  });
});

describe('a copy in double precision', () => {
  it('has the weights and moments of the model', async () => {
    const wish = { engine: 'wasm', threads: null, tokenizer: characterTokenizer } as const;
    const { engine } = await openSaved(model, wish, testWorld());
    const copy = await inDoublePrecision(engine);
    expect(maxDifference(await copy.weights(), await engine.weights())).toBe(0);
    const [a, b] = [await copy.optimizerState(), await engine.optimizerState()];
    expect([a.step, maxDifference(a.m, b.m), maxDifference(a.v, b.v)]).toEqual([b.step, 0, 0]);
    expect(a.step).toBe(48);
  });

  it('has the adapters of a model that trains only these', async () => {
    const source = {
      model_name: 'micro',
      load_checkpoint_path: model,
      seed: 1,
      engine: 'wasm',
      resumed: null,
    } as const;
    const engine = await openModel({ ...source, tokenizer: characterTokenizer, lora_rank: 2 }, testWorld());
    await engine.loadWeights((await engine.weights()).map((weight, at) => weight + ((at % 7) - 3) / 50));
    const copy = await inDoublePrecision(engine);
    const group = [{ prompt: Int32Array.of(5, 6, 7), continuations: [Int32Array.of(8, 9)] }];
    const [rounded, exact] = [await engine.forward(group), await copy.forward(group)];
    expect(maxDifference(exact.logprobs, rounded.logprobs)).toBeLessThan(1e-5);
    const [single, double] = [engine, copy].map(async (each) => {
      await each.backward(Float32Array.of(1, -1), null);
      return each.gradient();
    });
    expect((await double!).length).toBe((await single!).length);
    expect(maxDifference(await double!, await single!)).toBeLessThan(1e-4);
    expect(await double!).toBeInstanceOf(Float64Array);
  });
});
