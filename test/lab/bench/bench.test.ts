import { describe, expect, it } from 'vitest';
import { bench, benchLines, type BenchReport, type BenchContext } from '../../../src/lab/bench/bench.js';
import { benchKeys } from '../../../src/lab/bench/keys.js';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { openBackend, type Attempt, type BackendName } from '../../../src/lab/engine/tfjs/backends.js';
import { importModule } from '../../../src/base/import-module.js';
import { Device } from '../../../src/lab/engine/tfjs/device.js';
import type { StopSignal } from '../../../src/lab/run/process-context.js';

const cpu = await openBackend('tfjs-cpu', { environment: {}, load: importModule });
if (cpu.kind === 'absent') throw new Error(cpu.why);
const { device } = cpu;

/** A machine with these backends, on which every look at the clock finds it `ms` later. */
function machine(
  present: Partial<Record<BackendName, boolean>>,
  ms = 1,
  stopAsked?: () => StopSignal | null,
): BenchContext {
  let clock = 0;
  const open = async (name: BackendName): Promise<Attempt> => {
    const isGpu = present[name];
    return isGpu === undefined
      ? { name, kind: 'absent', why: `${name} is not installed` }
      : {
          name,
          kind: 'ready',
          device: new Device(device.tf, device.backend, name),
          where: { isGpu, words: 'somewhere' },
        };
  };
  return {
    open,
    environment: {},
    log: () => undefined,
    processes: { own: process.pid, answers: () => true },
    now: () => (clock += ms),
    time: () => 0,
    stopAsked: async () => stopAsked?.() ?? null,
  };
}

function config(...argv: string[]) {
  return readArguments(benchKeys, ['model_name=micro', ...argv]).config;
}

async function report(world: BenchContext, ...argv: string[]): Promise<BenchReport> {
  const result = await bench(config(...argv), world);
  if (typeof result === 'string') throw new Error(result);
  return result;
}

describe('memrl bench', () => {
  it('reports the time of a step on each available engine, and why the others are unavailable', async () => {
    const measured = await report(machine({ 'tfjs-cpu': false }), 'rounds=2', 'steps=3');
    expect(measured.engines).toEqual([
      { engine: 'wasm', on: 'our WebAssembly kernels', median: 1, least: 1, most: 1, steps: 6 },
      { engine: 'tfjs-cpu', on: 'somewhere', median: 1, least: 1, most: 1, steps: 6 },
    ]);
    expect(measured.absent.map(({ engine }) => engine)).toEqual([
      'tfjs-node-gpu',
      'tfjs-node',
      'tfjs-webgpu',
      'tfjs-wasm',
    ]);
    expect(measured.absent[0]!.why).toBe('tfjs-node-gpu is not installed');
    expect(measured.auto).toMatchObject({ engine: 'wasm', why: expect.stringMatching(/^auto: no GPU/) as string });
  });

  it('ends the round of a slow engine after a second', async () => {
    const measured = await report(machine({ 'tfjs-cpu': false }, 400), 'rounds=2', 'steps=100');
    expect(measured.engines.map(({ steps, median }) => [steps, median])).toEqual([
      [6, 400],
      [6, 400],
    ]);
  });

  it('stops at a signal in the middle', async () => {
    let asked = 0;
    const world = machine({ 'tfjs-cpu': false }, 1, () => (asked++ === 4 ? 'SIGINT' : null));
    const { numTensors } = device.tf.memory();
    expect(await bench(config('steps=3'), world)).toBe('SIGINT');
    expect(device.tf.memory().numTensors).toBe(numTensors);
  });

  it('does not load two TensorFlow packages', async () => {
    const measured = await report(machine({ 'tfjs-node-gpu': true, 'tfjs-node': false }), 'rounds=1', 'steps=1');
    expect(measured.engines.map(({ engine }) => engine)).toEqual(['wasm', 'tfjs-node-gpu']);
    const why = 'auto: a small step takes 1.0 ms beside 1.0 ms on our WebAssembly kernels';
    expect(measured.auto).toEqual({ engine: 'tfjs-node-gpu', why });
  });

  it('reports the engine that auto would choose: the faster one, GPU or not', async () => {
    const world = machine({ 'tfjs-node-gpu': true });
    let [looks, clock] = [0, 0];
    // Two engines, two turns each, two looks a turn; then auto measures the GPU, three times.
    const now = () => (clock += ++looks > 8 && looks <= 14 ? 30 : 2);
    const measured = await report({ ...world, now }, 'rounds=1', 'steps=1');
    expect(measured.auto).toEqual({ engine: 'wasm', why: 'auto: a small step takes 2.0 ms beside 30.0 ms on tfjs-node-gpu, somewhere' }); // prettier-ignore
  });

  it('refuses a sequence longer than the model’s context', async () => {
    await expect(bench(config('prompt_tokens=60'), machine({}))).rejects.toThrow(/65 tokens .* context, 64/);
  });

  it('prints a table, with a note when auto would choose a slower engine', () => {
    const engine = (name: string, median: number) => ({
      ...{ engine: name, on: 'somewhere', steps: 10 },
      ...{ median, least: 0.9 * median, most: 1.1 * median },
    });
    const lines = benchLines({
      ...{ model: 'tiny', parameters: 101_184, rounds: 5, step: { sequences: 4, prompt: 10, sampled: 5 } },
      engines: [engine('wasm', 1), engine('tfjs-node-gpu', 12)],
      absent: [{ engine: 'tfjs-cpu', why: 'it is not installed' }],
      auto: { engine: 'tfjs-node-gpu', why: 'auto: there is a GPU' },
    });
    expect(lines.join('\n')).toBe(
      [
        'tiny, 101184 parameters; a step: 4 × 5 tokens sampled after a prompt of 10, one update',
        '5 rounds, one engine after the other; ms per step, median of the rounds and their range',
        '',
        '  wasm              1.000  0.900 to 1.100        somewhere',
        '  tfjs-node-gpu      12.0  10.8 to 13.2          somewhere',
        '  tfjs-cpu              –                        it is not installed',
        '',
        'engine=auto is tfjs-node-gpu here · auto: there is a GPU',
        'wasm is 12.0 times as fast at this size; engine=wasm and engine=tfjs choose.',
      ].join('\n'),
    );
  });
});
