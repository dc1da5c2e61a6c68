import { availableParallelism } from 'node:os';
import { readGpus } from '../gpu/read-gpus.js';
import { requestedSlots, type LaunchOptions } from './options.js';

/** Where runs would go on this machine: `gpu 0` … and `cpu 0` …, as the supervisor would grant them with nothing else running. */
export async function machineSlots(options: LaunchOptions): Promise<string[]> {
  const wish = requestedSlots(options);
  const gpus = wish.gpus === undefined ? await presentGpus() : wish.gpus === 'none' ? [] : wish.gpus;
  const cpus = Array.from({ length: wish.slots ?? availableParallelism() }, (_, index) => `cpu ${index}`);
  return [...gpus.map((index) => `gpu ${index}`), ...cpus];
}

async function presentGpus(): Promise<number[]> {
  const reading = await readGpus(process.env);
  return reading.kind === 'gpus' ? reading.gpus.map(({ index }) => index) : [];
}
