import { describe, expect, it, onTestFinished } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { chooseEngine, type EngineChoice } from '../../../src/lab/engine/choose-engine.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { backendNames, openBackend, type Attempt, type BackendName } from '../../../src/lab/engine/tfjs/backends.js';
import { loadPackage } from '../../../src/lab/engine/tfjs/load-package.js';
import { TfjsEngine } from '../../../src/lab/engine/tfjs/tfjs-engine.js';

const cpu = await openBackend('tfjs-cpu', { environment: {}, load: loadPackage });
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

async function choose(choice: EngineChoice, { sources }: ReturnType<typeof machine>) {
  const chosen = await chooseEngine(presets.micro, choice, sources);
  const { engine } = chosen;
  if (engine instanceof TfjsEngine) onTestFinished(() => engine.dispose());
  return { isTfjs: engine instanceof TfjsEngine, ...chosen };
}

const gpu = { isGpu: true, words: 'a fast one' };
const processor = { isGpu: false, words: 'no GPU' };

describe('the choice of an engine', () => {
  it('is ours without looking further when that is asked for', async () => {
    const here = machine({ 'tfjs-node-gpu': gpu });
    expect(await choose('wasm', here)).toMatchObject({ isTfjs: false, why: 'engine=wasm' });
    expect(here.tried).toEqual([]);
  });

  it('is automatically TensorFlow.js where it has a GPU', async () => {
    expect(await choose('auto', machine({ 'tfjs-node-gpu': gpu, 'tfjs-webgpu': gpu }))).toMatchObject({
      isTfjs: true,
      on: 'tfjs-node-gpu, a fast one',
      why: 'auto: there is a GPU',
    });
    expect((await choose('auto', machine({ 'tfjs-node-gpu': processor, 'tfjs-webgpu': gpu }))).on).toContain('webgpu');
  });

  it('is automatically ours where TensorFlow.js has none, and says why each has none', async () => {
    const here = machine({ 'tfjs-node': processor, 'tfjs-webgpu': processor, 'tfjs-wasm': processor });
    const { isTfjs, engine, why } = await choose('auto', here);
    expect([isTfjs, engine.backend]).toEqual([false, 'wasm']);
    expect(why).toBe('auto: no GPU for TensorFlow.js: tfjs-node-gpu is not installed; tfjs-webgpu: no GPU');
    expect(here.tried).toEqual(['tfjs-node-gpu', 'tfjs-webgpu']);
  });

  it.each(['', '-1'])(
    'does not take a GPU that the slot of the run does not have: CUDA_VISIBLE_DEVICES=%j',
    async (visible) => {
      const here = machine({ 'tfjs-node-gpu': gpu }, visible);
      expect(await choose('auto', here)).toMatchObject({ isTfjs: false, why: 'auto: this process was given no GPU' });
      expect(here.tried).toEqual([]);
    },
  );

  it('is the first backend of TensorFlow.js that works, GPU or not, when that is asked for', async () => {
    const here = machine({ 'tfjs-wasm': processor, 'tfjs-cpu': processor });
    const { isTfjs, on, why } = await choose('tfjs', here);
    expect([isTfjs, on]).toEqual([true, 'tfjs-wasm, no GPU']);
    expect(why).toContain('tfjs-webgpu is not installed');
    expect(here.tried).toEqual(backendNames.slice(0, 4));
  });

  it('is refused when TensorFlow.js is asked for and not there, with how to install it', async () => {
    const error: unknown = await choose('tfjs', machine({})).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toMatch(/cannot compute here: .*tfjs-cpu is not installed/);
    expect((error as UserError).fix).toContain('docs/engines.md');
  });
});
