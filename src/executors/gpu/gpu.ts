/** One GPU at the moment of the reading. Memory in MiB. `null`: the driver does not say. */
export type Gpu = {
  /** In PCI bus order. */
  index: number;
  uuid: string;
  name: string;
  memoryTotal: number | null;
  memoryUsed: number | null;
  /** Percent. */
  utilization: number | null;
  /** Degrees Celsius. */
  temperature: number | null;
  /** Watts. */
  power: number | null;
};

/** `none`: no driver here. `unknown`: there is one, and it is sick; what was known before still holds. */
export type GpuReading =
  { kind: 'gpus'; gpus: readonly Gpu[] } | { kind: 'none' } | { kind: 'unknown'; reason: string };
