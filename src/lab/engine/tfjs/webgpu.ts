import type { Place } from './device.js';

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
export async function startWebgpu(dawn: unknown): Promise<Place | null> {
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

function placeOf({ vendor, architecture, description, isFallbackAdapter }: AdapterInfo): Place {
  const isSoftware = isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe/i.test(architecture + description);
  const name = description === '' ? `${vendor} ${architecture}`.trim() : description;
  return { isGpu: !isSoftware, words: isSoftware ? `${name}, which computes on the processor` : name };
}
