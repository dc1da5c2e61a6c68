import { describe, expect, it, onTestFinished } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { chooseEngine, type EngineChoice } from '../../../src/lab/engine/choose-engine.js';
import type { ModelShape } from '../../../src/lab/engine/engine.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { backendNames, openBackend, type Attempt, type BackendName } from '../../../src/lab/engine/tfjs/backends.js';
import { importModule } from '../../../src/base/import-module.js';
import { TfjsEngine } from '../../../src/lab/engine/tfjs/tfjs-engine.js';

const cpu = await openBackend('tfjs-cpu', { environment: {}, load: importModule });
if (cpu.kind === 'absent') throw new Error(cpu.why);
const { device } = cpu;

/** A machine on which these backends are there; each really computes in plain JavaScript. */
function machine(present: Partial<Record<BackendName, { isGpu: boolean; words: string }>>, visible?: string) {
  const tried: BackendName[] = [];
  const open = async (name: BackendName): Promise<Attempt> => {
    tried.push(name);
    const where = present[name];
    return where === undefined
      ? { name, kind: 'absent', why: `${name} is not installed` }
      : { name, kind: 'ready', device, where };
  };
  return { tried, sources: { open, environment: { CUDA_VISIBLE_DEVICES: visible } } };
}

type More = {
  readonly penalizes?: boolean;
  readonly began?: string;
  readonly onProcessor?: boolean;
  readonly now?: () => number;
};

async function choose(engine: EngineChoice, { sources }: ReturnType<typeof machine>, { now, ...more }: More = {}) {
  const asked = { ...sources, ...(now !== undefined && { now }) };
  const chosen = await chooseEngine(presets.micro, { engine, threads: null, ...more }, asked);
  const made = chosen.engine;
  if (made instanceof TfjsEngine) onTestFinished(() => made.dispose());
  return { isTfjs: made instanceof TfjsEngine, ...chosen };
}

/** A clock by which each of the two steps that count takes so many milliseconds, and each of those on our kernels. */
function steps(onGpu: number, onKernels: number): More {
  let [time, asked] = [0, 0];
  return { now: () => (asked++ % 2 === 0 ? time : (time += asked <= 4 ? onGpu : onKernels)) };
}

const gpu = { isGpu: true, words: 'a fast one' };
const processor = { isGpu: false, words: 'no GPU' };

describe('the choice of an engine', () => {
  it('is wasm without trying others when engine=wasm', async () => {
    const here = machine({ 'tfjs-node-gpu': gpu });
    expect(await choose('wasm', here)).toMatchObject({ isTfjs: false, why: 'engine=wasm' });
    expect(here.tried).toEqual([]);
  });

  it('is for auto the faster engine when TensorFlow.js has a GPU', async () => {
    const present = { 'tfjs-node-gpu': gpu, 'tfjs-webgpu': gpu };
    expect(await choose('auto', machine(present), steps(1, 2))).toMatchObject({
      isTfjs: true,
      on: 'tfjs-node-gpu, a fast one',
      why: 'auto: a small step takes 1.0 ms beside 2.0 ms on our WebAssembly kernels',
    });
    expect(await choose('auto', machine(present), steps(3, 2))).toMatchObject({
      isTfjs: false,
      why: 'auto: a small step takes 2.0 ms beside 3.0 ms on tfjs-node-gpu, a fast one',
    });
    expect(
      (await choose('auto', machine({ 'tfjs-node-gpu': processor, 'tfjs-webgpu': gpu }), steps(1, 2))).on,
    ).toContain('webgpu');
  });

  it('is for auto wasm when TensorFlow.js lacks a feature of the run, and the run’s own engine on a resume', async () => {
    const here = machine({ 'tfjs-node-gpu': gpu });
    expect(await choose('auto', here, { penalizes: true })).toMatchObject({
      isTfjs: false,
      why: 'auto: TensorFlow.js draws without a repetition penalty',
    });
    expect(await choose('auto', here, { began: 'wasm' })).toMatchObject({
      isTfjs: false,
      why: 'auto: as the run began',
    });
    expect(here.tried).toEqual([]);
    expect(await choose('auto', here, { began: 'tfjs-node-gpu' })).toMatchObject({ isTfjs: true });
  });

  it('is for auto wasm when no TensorFlow.js backend has a GPU, with the reason of each', async () => {
    const here = machine({ 'tfjs-node': processor, 'tfjs-webgpu': processor, 'tfjs-wasm': processor });
    const { isTfjs, engine, why } = await choose('auto', here);
    expect([isTfjs, engine.backend]).toEqual([false, 'wasm']);
    expect(why).toBe('auto: no GPU for TensorFlow.js: tfjs-node-gpu is not installed; tfjs-webgpu: no GPU');
    expect(here.tried).toEqual(['tfjs-node-gpu', 'tfjs-webgpu']);
  });

  it('is TensorFlow on the CPU when that is allowed and faster, with a GPU or without one', async () => {
    const present = { 'tfjs-node': processor };
    const wanted = { onProcessor: true };
    for (const visible of [undefined, '']) {
      expect(await choose('auto', machine(present, visible), { ...wanted, ...steps(1, 2) })).toMatchObject({
        isTfjs: true,
        on: 'tfjs-node, no GPU',
        why: 'auto: a small step takes 1.0 ms beside 2.0 ms on our WebAssembly kernels',
      });
      expect(await choose('auto', machine(present, visible), { ...wanted, ...steps(3, 2) })).toMatchObject({
        isTfjs: false,
      });
    }
    expect(await choose('auto', machine({ ...present, 'tfjs-webgpu': gpu }), { ...wanted, ...steps(1, 2) })).toMatchObject({ on: 'tfjs-webgpu, a fast one' }); // prettier-ignore
    expect((await choose('auto', machine({}, ''), wanted)).why).toBe('auto: this process was given no GPU');
    expect((await choose('auto', machine({}), wanted)).why).toContain('tfjs-node is not installed');
  });

  it.each(['', '-1'])('does not use a GPU that CUDA_VISIBLE_DEVICES=%j hides', async (visible) => {
    const here = machine({ 'tfjs-node-gpu': gpu }, visible);
    expect(await choose('auto', here)).toMatchObject({ isTfjs: false, why: 'auto: this process was given no GPU' });
    expect(here.tried).toEqual([]);
  });

  it('is for tfjs the first backend that works, GPU or not', async () => {
    const here = machine({ 'tfjs-wasm': processor, 'tfjs-cpu': processor });
    const { isTfjs, on, why } = await choose('tfjs', here);
    expect([isTfjs, on]).toEqual([true, 'tfjs-wasm, no GPU']);
    expect(why).toContain('tfjs-webgpu is not installed');
    expect(here.tried).toEqual(backendNames.slice(0, 4));
  });

  it('fails for tfjs when it is not installed, with the command to install it', async () => {
    const error: unknown = await choose('tfjs', machine({})).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toMatch(/cannot compute here: .*tfjs-cpu is not installed/);
    expect((error as UserError).fix).toContain('docs/engines.md');
  });
});

describe('the number of threads', () => {
  const large = { ...presets.micro, vocabulary: 4096, width: 128, heads: 4, kvHeads: 2, feedForward: 341 };
  const cases: {
    when: string;
    shape: ModelShape;
    wish: number | null;
    omp?: string;
    cores: number;
    threads: number;
  }[] = [
    { when: 'what was asked for', shape: presets.micro, wish: 3, omp: '1', cores: 1, threads: 3 },
    { when: 'one for a small model', shape: presets.tiny, wish: null, cores: 4, threads: 1 },
    { when: 'what the slot allows', shape: large, wish: null, omp: '2', cores: 16, threads: 2 },
    { when: 'the outermost of nested threads', shape: large, wish: null, omp: ' 2,4', cores: 16, threads: 2 },
    { when: 'one for each core', shape: large, wish: null, omp: '', cores: 4, threads: 4 },
    { when: 'no more than is of use', shape: large, wish: null, cores: 64, threads: 8 },
  ];
  it.each(cases)('is $when', async ({ shape, wish, omp, cores, threads }) => {
    const sources = { environment: { OMP_NUM_THREADS: omp }, cores };
    const chosen = await chooseEngine(shape, { engine: 'wasm', threads: wish }, sources);
    expect(chosen.threads).toBe(threads);
    expect(chosen.on).toBe(`our WebAssembly kernels${threads === 1 ? '' : `, ${threads} threads`}`);
  });
});
