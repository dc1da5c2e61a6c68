import util from 'node:util';
import { Device, type Hardware, type Tf } from './device.js';

/** Backends of TensorFlow.js, in the order in which they are tried. */
export const backendNames = ['tfjs-node-gpu', 'tfjs-node', 'tfjs-webgpu', 'tfjs-wasm', 'tfjs-cpu'] as const;
export type BackendName = (typeof backendNames)[number];

/** Result of trying a backend. */
export type Attempt =
  | { readonly name: BackendName; readonly kind: 'ready'; readonly device: Device; readonly where: Hardware }
  | { readonly name: BackendName; readonly kind: 'absent'; readonly why: string };

/** The process and its installed packages, as a backend sees them. Tests pass their own. */
type HostConfig = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Loads a package by its name. */
  readonly load: (name: string) => Promise<unknown>;
};

const core = '@tensorflow/tfjs-core';

const openers: Readonly<Record<BackendName, (host: HostConfig) => Promise<OpenedBackend>>> = {
  'tfjs-node-gpu': (host) => openNode(host, 'tfjs-node-gpu'),
  'tfjs-node': (host) => openNode(host, 'tfjs-node'),
  'tfjs-webgpu': openWebgpu,
  'tfjs-wasm': (host) => openPlain(host, 'wasm', 'WebAssembly, one core'),
  'tfjs-cpu': (host) => openPlain(host, 'cpu', 'plain JavaScript, one core'),
};

type OpenedBackend = { readonly device: Device; readonly where: Hardware };

/** A backend that cannot be used here, with the reason. No bug. */
class BackendUnavailable extends Error {}

/** Tries one backend. Never throws: the result says why it cannot be used. */
export async function openBackend(name: BackendName, host: HostConfig): Promise<Attempt> {
  try {
    return { name, kind: 'ready', ...(await openers[name](host)) };
  } catch (error) {
    return { name, kind: 'absent', why: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof BackendUnavailable) return message;
  // The message must hold wherever the package would come from.
  const missing = /Cannot find (?:package|module) '([^']+)'/.exec(message)?.[1];
  if (missing !== undefined) return `${missing} is not installed`;
  if (message.includes('native addon module')) return 'its native part (tfjs_binding.node) is not installed';
  return message.split('\n')[0]!.trim();
}

/**
 * Opens TensorFlow on Node. Of several GPUs that the process may see it uses the first; CUDA itself hides the others.
 */
async function openNode(
  { load, environment }: HostConfig,
  name: 'tfjs-node-gpu' | 'tfjs-node',
): Promise<OpenedBackend> {
  // TensorFlow.js 4.22 calls `util.isNullOrUndefined` in most kernels, and Node 23 removed it.
  const old = util as { isNullOrUndefined?: (value: unknown) => boolean };
  old.isNullOrUndefined ??= (value) => value === null || value === undefined;
  const tf = exportsOf(await load(`@tensorflow/${name}`)) as Tf;
  const device = await readyDevice(tf, 'tensorflow', name);
  const { isUsingGpuDevice: isGpu = false } = tf.backend() as { isUsingGpuDevice?: boolean };
  if (!isGpu && name === 'tfjs-node-gpu') return { device, where: { isGpu, words: 'TensorFlow, which sees no GPU' } };
  const visible = environment['CUDA_VISIBLE_DEVICES'];
  const which = visible === undefined ? 'the first GPU' : `GPU ${visible.split(',')[0]}`;
  return { device, where: { isGpu, words: isGpu ? `CUDA, ${which}` : 'TensorFlow on the processor' } };
}

async function openWebgpu({ load, environment }: HostConfig): Promise<OpenedBackend> {
  const given = environment['ROCR_VISIBLE_DEVICES'] ?? environment['CUDA_VISIBLE_DEVICES'];
  // Vulkan does not know these variables, and Dawn takes the first adapter there is.
  if (given !== undefined && given.split(',')[0] !== '0') {
    const which = given === '' || given === '-1' ? 'no GPU' : `GPU ${given}`;
    throw new BackendUnavailable(`it takes the first GPU of the machine, and this process was given ${which}`);
  }
  const tf = exportsOf(await load(core)) as Tf;
  const adapter = await startWebgpu(await load('webgpu'));
  if (adapter === null)
    throw new BackendUnavailable('there is no adapter: no GPU with a Vulkan driver, or no Vulkan loader');
  await load('@tensorflow/tfjs-backend-webgpu');
  return { device: await readyDevice(tf, 'webgpu'), where: adapter };
}

async function openPlain({ load }: HostConfig, backend: 'wasm' | 'cpu', words: string): Promise<OpenedBackend> {
  const tf = exportsOf(await load(core)) as Tf;
  await load(`@tensorflow/tfjs-backend-${backend}`);
  return { device: await readyDevice(tf, backend), where: { isGpu: false, words } };
}

async function readyDevice(tf: Tf, backend: string, name?: BackendName): Promise<Device> {
  // Otherwise every tensor is searched for NaN, and the plain backend advertises the others.
  tf.env().set('PROD', true);
  if (!(await tf.setBackend(backend)))
    throw new BackendUnavailable(`TensorFlow.js could not start its backend \`${backend}\``);
  await tf.ready();
  return new Device(tf, backend, name);
}

/** Exports of a CommonJS package, whether it was loaded by `import` or `require`. */
function exportsOf(loaded: unknown): unknown {
  return (loaded as { default?: unknown }).default ?? loaded;
}

/** The part of the package `webgpu` (Dawn) that is used. */
type Dawn = { readonly create: (options: string[]) => Gpu; readonly globals: object };
type Gpu = { requestAdapter(options: { powerPreference: string }): Promise<Adapter | null> };
type Adapter = { readonly info: AdapterInfo };
type AdapterInfo = {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  readonly isFallbackAdapter?: boolean;
};

/**
 * Gives this process the WebGPU of a browser, which TensorFlow.js looks for in `navigator`.
 *
 * @returns The hardware it computes on; null when there is none.
 */
async function startWebgpu(dawn: unknown): Promise<Hardware | null> {
  const { create, globals } = dawn as Dawn;
  const gpu = create([]);
  // The same request as TensorFlow.js makes.
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (adapter === null) return null;
  Object.assign(globalThis, globals);
  const { navigator = {} } = globalThis as { navigator?: object };
  // Node 20 has no `navigator`; later versions have one without `gpu`.
  Object.defineProperty(navigator, 'gpu', { value: gpu, configurable: true });
  Object.defineProperty(globalThis, 'navigator', { value: navigator, configurable: true });
  return placeOf(adapter.info);
}

function placeOf({ vendor, architecture, description, isFallbackAdapter }: AdapterInfo): Hardware {
  const isSoftware = isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe/i.test(architecture + description);
  const name = description === '' ? `${vendor} ${architecture}`.trim() : description;
  return { isGpu: !isSoftware, words: isSoftware ? `${name}, which computes on the processor` : name };
}
