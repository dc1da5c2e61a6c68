import util from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { backendNames, openBackend, type BackendName } from '../../../../src/lab/engine/tfjs/backends.js';

/** TensorFlow.js as far as opening a backend needs it. `gpu`: what the native one says of itself. */
function library(options: { starts?: boolean; gpu?: boolean } = {}) {
  let current = '';
  return {
    env: () => ({ set: () => undefined }),
    setBackend: async (name: string) => {
      current = name;
      return options.starts ?? true;
    },
    ready: async () => undefined,
    getBackend: () => current,
    backend: () => ({ isUsingGpuDevice: options.gpu }),
  };
}

/** Dawn with an adapter, or with none. */
function dawn(info: object | null) {
  return { create: () => ({ requestAdapter: async () => (info === null ? null : { info }) }), globals: {} };
}

const nvidia = { vendor: 'nvidia', architecture: 'hopper', description: 'NVIDIA H100' };

/** Tries a backend on a machine that has these packages; an Error stands for one that cannot be loaded. */
function open(name: BackendName, packages: Record<string, unknown>, environment: Record<string, string> = {}) {
  const load = async (wanted: string): Promise<unknown> => {
    const found = packages[wanted];
    if (found === undefined) throw new Error(`Cannot find package '${wanted}' imported from /somewhere/memrl.js`);
    if (found instanceof Error) throw found;
    // Dawn is a module, the others are CommonJS.
    return wanted === 'webgpu' ? found : { default: found };
  };
  return openBackend(name, { environment, load });
}

const core = { '@tensorflow/tfjs-core': library() };
const webgpu = { ...core, webgpu: dawn(nvidia), '@tensorflow/tfjs-backend-webgpu': {} };
const native = new Error(
  'The Node.js native addon module (tfjs_binding.node) can not be found at path: /a/b. \nPlease',
);

describe('the backends of TensorFlow.js', () => {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  afterEach(() => {
    if (own === undefined) Reflect.deleteProperty(globalThis, 'navigator');
    else Object.defineProperty(globalThis, 'navigator', own);
  });

  it('are tried in order, CUDA first and plain JavaScript last', () => {
    expect(backendNames).toEqual(['tfjs-node-gpu', 'tfjs-node', 'tfjs-webgpu', 'tfjs-wasm', 'tfjs-cpu']);
  });

  it.each<{ name: BackendName; packages: Record<string, unknown>; environment?: Record<string, string>; why: RegExp }>([
    { name: 'tfjs-node-gpu', packages: {}, why: /^@tensorflow\/tfjs-node-gpu is not installed$/ },
    { name: 'tfjs-node-gpu', packages: { '@tensorflow/tfjs-node-gpu': native }, why: /native part .* not installed/ },
    {
      name: 'tfjs-node',
      packages: { '@tensorflow/tfjs-node': new Error('libtensorflow.so.2: cannot open shared object file') },
      why: /^libtensorflow\.so\.2: cannot open/,
    },
    { name: 'tfjs-webgpu', packages: core, why: /^webgpu is not installed$/ },
    { name: 'tfjs-webgpu', packages: { ...webgpu, webgpu: dawn(null) }, why: /^there is no adapter/ },
    {
      name: 'tfjs-webgpu',
      packages: { ...core, webgpu: dawn(nvidia) },
      why: /^@tensorflow\/tfjs-backend-webgpu is not installed$/,
    },
    {
      name: 'tfjs-webgpu',
      packages: webgpu,
      environment: { CUDA_VISIBLE_DEVICES: '2,3' },
      why: /takes the first GPU .* given GPU 2,3$/,
    },
    { name: 'tfjs-webgpu', packages: webgpu, environment: { CUDA_VISIBLE_DEVICES: '' }, why: /given no GPU$/ },
    {
      name: 'tfjs-webgpu',
      packages: webgpu,
      environment: { ROCR_VISIBLE_DEVICES: '1', CUDA_VISIBLE_DEVICES: '0' },
      why: /given GPU 1$/,
    },
    { name: 'tfjs-wasm', packages: core, why: /^@tensorflow\/tfjs-backend-wasm is not installed$/ },
    {
      name: 'tfjs-wasm',
      packages: { '@tensorflow/tfjs-core': library({ starts: false }), '@tensorflow/tfjs-backend-wasm': {} },
      why: /could not start its backend `wasm`/,
    },
  ])('report why one is unavailable: $name, $why', async ({ name, packages, environment, why }) => {
    const attempt = await open(name, packages, environment);
    expect(attempt).toMatchObject({ name, kind: 'absent', why: expect.stringMatching(why) as string });
  });

  it.each<{ packages: Record<string, unknown>; name: BackendName; isGpu: boolean; words: RegExp; gpus?: string }>([
    {
      name: 'tfjs-node-gpu',
      packages: { '@tensorflow/tfjs-node-gpu': library({ gpu: true }) },
      gpus: '3,1',
      isGpu: true,
      words: /CUDA, GPU 3$/,
    },
    {
      name: 'tfjs-node-gpu',
      packages: { '@tensorflow/tfjs-node-gpu': library({ gpu: true }) },
      isGpu: true,
      words: /CUDA, the first GPU$/,
    },
    {
      name: 'tfjs-node-gpu',
      packages: { '@tensorflow/tfjs-node-gpu': library({ gpu: false }) },
      isGpu: false,
      words: /sees no GPU$/,
    },
    {
      name: 'tfjs-node',
      packages: { '@tensorflow/tfjs-node': library({ gpu: false }) },
      isGpu: false,
      words: /on the processor$/,
    },
    { name: 'tfjs-webgpu', packages: webgpu, gpus: '0', isGpu: true, words: /^NVIDIA H100$/ },
    {
      name: 'tfjs-webgpu',
      packages: {
        ...webgpu,
        webgpu: dawn({ vendor: 'google', architecture: 'swiftshader', description: 'SwiftShader driver 5.0.0' }),
      },
      isGpu: false,
      words: /^SwiftShader driver 5\.0\.0, which computes on the processor$/,
    },
  ])('report their hardware: $name, $words', async ({ name, packages, gpus, isGpu, words }) => {
    const attempt = await open(name, packages, gpus === undefined ? {} : { CUDA_VISIBLE_DEVICES: gpus });
    expect(attempt).toMatchObject({ kind: 'ready', where: { isGpu, words: expect.stringMatching(words) as string } });
  });

  it('restore for the native one, before it is loaded, the functions that Node 23 removed', async () => {
    const old = util as { isNullOrUndefined?: ((value: unknown) => boolean) | undefined };
    const before = old.isNullOrUndefined;
    old.isNullOrUndefined = undefined;
    try {
      await open('tfjs-node-gpu', { '@tensorflow/tfjs-node-gpu': library() });
      expect([null, undefined, 0, ''].map((value) => old.isNullOrUndefined!(value))).toEqual([
        true,
        true,
        false,
        false,
      ]);
    } finally {
      old.isNullOrUndefined = before;
    }
  });
});
