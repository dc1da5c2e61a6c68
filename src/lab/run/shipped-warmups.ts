/**
 * The warm-ups that come with the program: models of shape `tiny` that answer with a valid number, or with valid bits,
 * all equally likely. They are the output of `memrl warmup` with its defaults, without the optimizer
 * (`scripts/warmups.js`).
 */
import { fileURLToPath } from 'node:url';

/** Names that memory-rl gives the warm-ups, by environment. */
export const warmupNames = { single_step: 'SINGLE_STEP', multi_step: 'MULTI_STEP' } as const;
export type WarmupName = (typeof warmupNames)[keyof typeof warmupNames];

/**
 * The models and environments that the shipped warm-ups fit: the shape of the model, the sizes N, and the format of
 * answers.
 */
export const shippedFor = { model: 'tiny', sizes: [16, 64, 256, 1024, 4096], format: 'decimal' } as const;

export function isWarmupName(path: string | null): path is WarmupName {
  return path !== null && Object.values<string>(warmupNames).includes(path);
}

/** The directory of a shipped warm-up. The files lie beside this one, and beside the bundle that contains this one. */
export function shippedWarmup(name: WarmupName): string {
  return fileURLToPath(new URL(`./warmups/${name}`, import.meta.url));
}
