import { anyParameterOf } from '../base/scalar.js';
import type { QueriedRun } from './words.js';

/** Names of the parameters, planned and declared, then of the metrics, of all runs. */
export function keysOf(runs: readonly QueriedRun[]): string[] {
  const keys = new Set<string>();
  for (const { parameters } of runs) for (const key in parameters) keys.add(key);
  for (const { declared } of runs) for (const key in declared) keys.add(key);
  for (const { metrics } of runs) for (const key in metrics) keys.add(key);
  return [...keys];
}

/**
 * The parameters and metrics that a key may mean: itself, where a run has it; else those that end with it behind a slash or a point
 * (`eval/val_loss` of `val_loss`).
 */
export function meantKeys(key: string, runs: readonly QueriedRun[]): string[] {
  const isOf = (run: QueriedRun) => anyParameterOf(run, key) !== undefined || Object.hasOwn(run.metrics, key);
  if (runs.some(isOf)) return [key];
  return keysOf(runs).filter((name) => name.endsWith(`/${key}`) || name.endsWith(`.${key}`));
}

/** What a key means, where that is clear; else it stays what it is. */
export function meantKey(key: string, runs: readonly QueriedRun[]): string {
  const [only, ...others] = meantKeys(key, runs);
  return only === undefined || others.length > 0 ? key : only;
}
