import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layersOf, loraOnAll, projections } from '../../../src/lab/engine/adapters/config.js';
import { adapterLayout } from '../../../src/lab/engine/adapters/layout.js';
import { mergeAdapters } from '../../../src/lab/engine/adapters/merging.js';
import { compiledKernels } from '../../../src/lab/engine/create-engine.js';
import { readPeft, writePeft } from '../../../src/lab/hugging-face/peft.js';
import { fixture, fixtureWeights, flatOf, unpack } from '../engine/adapters/adapted.js';
import { maxDifference, slopes } from '../engine/models.js';
import { tempDirectory } from '../temp-directory.js';
import { engineOf, nextLogprobs } from './fixtures.js';

const directory = 'test/fixtures/peft';
const { shape } = fixture;

describe("PEFT's directory", () => {
  it('gives the same logits as with peft', async () => {
    const { adapter, parameters } = readPeft(directory, shape);
    expect(adapter).toMatchObject({ name: 'default', rank: 3, alpha: 5, layers: { start: 0, end: 1, stride: 1 } });
    expect(adapter.targets.toSorted()).toEqual(projections.toSorted());
    expect(parameters).toEqual(flatOf(adapterLayout(shape, [adapter]).tensors, fixture.single.parameters));
    const frozen = { shape, weights: fixtureWeights(), adapters: [adapter] };
    const merged = mergeAdapters(await compiledKernels(), frozen, parameters);
    const engine = await engineOf({ config: { ...merged, beginning: null, endings: [] }, weights: merged.weights });
    const logits = unpack(fixture.single.logits);
    for (const [index, tokens] of fixture.tokens.entries()) {
      const rows = await nextLogprobs(engine, tokens);
      rows.forEach((row, at) => {
        const start = (index * tokens.length + at) * shape.vocabulary;
        const expected = logits.subarray(start, start + shape.vocabulary);
        const total = Math.log(expected.reduce((sum, logit) => sum + Math.exp(logit), 0));
        expect(
          maxDifference(
            row,
            expected.map((logit) => logit - total),
          ),
        ).toBeLessThan(3e-6);
      });
    }
  });

  it('has the same bytes of weights as from peft', () => {
    const target = join(tempDirectory(), 'adapter');
    writePeft(target, shape, readPeft(directory, shape));
    const weights = (path: string) => readFileSync(join(path, 'adapter_model.safetensors')).toString('base64');
    expect(weights(target)).toBe(weights(directory));
    const config = (path: string) =>
      JSON.parse(readFileSync(join(path, 'adapter_config.json'), 'utf8')) as Record<string, unknown>;
    const theirs = config(directory);
    for (const [name, value] of Object.entries(config(target))) {
      if (name === 'target_modules')
        expect((value as string[]).toSorted()).toEqual((theirs[name] as string[]).toSorted());
      else expect(value, name).toEqual(theirs[name]);
    }
  });

  it('reads back with the same layers, targets and numbers, whatever they are', () => {
    const target = join(tempDirectory(), 'adapter');
    const adapters = fc.record({
      kind: fc.constant('lora' as const),
      name: fc.constant('default'),
      rank: fc.integer({ min: 1, max: 3 }),
      alpha: fc.integer({ min: 1, max: 64 }),
      targets: fc.subarray([...projections], { minLength: 1 }).map((targets) => targets),
      layers: fc.record({
        start: fc.double({ min: 0, max: 0.5, noNaN: true }),
        end: fc.double({ min: 0.6, max: 1, noNaN: true }),
        stride: fc.integer({ min: 1, max: 9 }),
      }),
    });
    fc.assert(
      fc.property(adapters, fc.integer({ min: 10, max: 60 }), (adapter, layers) => {
        const deep = { ...shape, layers };
        const parameters = slopes(adapterLayout(deep, [adapter]).size, 3);
        writePeft(target, deep, { adapter, parameters });
        const back = readPeft(target, deep);
        expect(layersOf(deep, back.adapter)).toEqual(layersOf(deep, adapter));
        expect([back.adapter.rank, back.adapter.alpha]).toEqual([adapter.rank, adapter.alpha]);
        expect(back.parameters).toEqual(parameters);
      }),
      { numRuns: 25 },
    );
  });

  it.each<{ what: string; change: Record<string, unknown>; says: RegExp }>([
    { what: 'DoRA', change: { use_dora: true }, says: /plain LoRA: `use_dora`/ },
    { what: 'rank-stabilised LoRA', change: { use_rslora: true }, says: /`use_rslora`/ },
    { what: 'ranks of their own', change: { rank_pattern: { q_proj: 4 } }, says: /`rank_pattern\.q_proj`/ },
    { what: 'another method', change: { peft_type: 'IA3' }, says: /`peft_type`/ },
    { what: 'a head that was trained', change: { modules_to_save: ['lm_head'] }, says: /`modules_to_save`/ },
    { what: 'modules that are no projections', change: { target_modules: ['embed_tokens'] }, says: /`target_modules/ },
    { what: 'no alpha', change: { lora_alpha: undefined }, says: /`lora_alpha`/ },
    { what: 'uneven layers', change: { layers_to_transform: [0, 1, 3] }, says: /0, 1, 3, and the model has 3 layers/ },
    { what: 'layers that the model lacks', change: { layers_to_transform: 7 }, says: /is 7, and the model has 3/ },
    {
      what: 'fewer layers than its weights',
      change: { layers_to_transform: [0, 2] },
      says: /has a tensor "base_model/,
    },
    { what: 'another rank than its weights', change: { r: 4 }, says: /shape \[3, 16\] .* \[4, 16\]/ },
  ])('with $what is refused, with the reason', ({ change, says }) => {
    const copy = tempDirectory();
    cpSync(directory, copy, { recursive: true });
    const file = join(copy, 'adapter_config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...config, ...change }));
    expect(() => readPeft(copy, shape)).toThrow(says);
  });

  const paths = (start: string) =>
    Array.from({ length: shape.layers }, (_, layer) =>
      projections.map((name) => `${start}layers.${layer}.${/^[qkvo]_/.test(name) ? 'self_attn' : 'mlp'}.${name}`),
    ).flat();
  const withTargets = (modules: unknown): string => {
    const copy = join(tempDirectory(), 'adapter');
    cpSync(directory, copy, { recursive: true });
    const file = join(copy, 'adapter_config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...config, target_modules: modules }));
    return copy;
  };

  it.each([
    { what: 'target_modules="all-linear"', modules: 'all-linear' },
    { what: 'the full path of each module', modules: paths('model.') },
    { what: 'full paths as peft finds them in its own model', modules: paths('base_model.model.model.') },
  ])('with $what is the same adapter', ({ modules }) => {
    const [plain, read] = [readPeft(directory, shape), readPeft(withTargets(modules), shape)];
    expect(read.parameters).toEqual(plain.parameters);
    expect({
      ...read.adapter,
      layers: layersOf(shape, read.adapter),
      targets: read.adapter.targets.toSorted(),
    }).toEqual(
      { ...plain.adapter, layers: layersOf(shape, plain.adapter), targets: plain.adapter.targets.toSorted() }, // prettier-ignore
    );
  });

  it.each([
    {
      what: 'a module that is no projection',
      modules: [...projections, 'embed_tokens'],
      says: /embed_tokens is none of/,
    },
    { what: 'paths that leave one out', modules: paths('model.').slice(1), says: /same projections in each layer/ },
  ])('with $what among its targets is refused', ({ modules, says }) => {
    expect(() => readPeft(withTargets(modules), shape)).toThrow(says);
  });

  it('is refused when a file is missing or truncated', () => {
    const copy = tempDirectory();
    cpSync(directory, copy, { recursive: true });
    writeFileSync(join(copy, 'adapter_config.json'), '{');
    expect(() => readPeft(copy, shape)).toThrow(/is not JSON/);
    rmSync(join(copy, 'adapter_config.json'));
    expect(() => readPeft(copy, shape)).toThrow(/has no adapter_config\.json/);
    expect(existsSync(join(copy, 'adapter_model.safetensors'))).toBe(true);
  });

  it('is refused when it belongs to another model', () => {
    expect(() => readPeft(directory, { ...shape, width: 32 })).toThrow(/shape \[3, 16\] .* \[3, 32\]/);
    expect(loraOnAll('a', 1, 1).targets).toHaveLength(7);
  });
});
