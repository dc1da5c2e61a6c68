import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Experiment } from '../rewards/experiment-fit.js';
import { isModulePath } from '../rewards/own-module.js';
import type { Prompt } from './rollouts.js';

/**
 * Says whether a run would go on with what it began with: a hash of the prompts and of a person's own modules, which other files
 * decide than the settings. What a module imports is not looked into.
 */
export function fingerprint(prompts: readonly Prompt[], experiment: Experiment): string {
  const { reward, detector, hackFrequencyDetector } = experiment;
  const named = [...reward.components, detector, hackFrequencyDetector].flatMap((each) => each?.name ?? []);
  const hash = createHash('sha256');
  for (const { text } of prompts) hash.update(`${text}\n`);
  for (const path of new Set(named.filter(isModulePath))) hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}
