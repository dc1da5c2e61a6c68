/** Parts of a run that may be a user's own: its reward, its objective and its probes, beside its environment. */
import { UserError } from '../../base/user-error.js';
import { key } from '../config/key.js';
import { hashOfModules, moduleName } from '../config/own-module.js';
import { orNone, text } from '../config/value-type.js';
import type { Environment } from '../environments/environment.js';
import { findReward } from '../rewards/registry.js';
import { combineRewards, rewardedBy } from '../rewards/scores.js';
import type { Tokenizer } from '../text/tokenizer.js';

export const probeKey = key(
  orNone(text),
  null,
  'path of a module that measures more at each evaluation: probe/<name>. None: nothing more',
);

export const rewardKey = key(
  orNone(text),
  null,
  'reward in the place of the environment’s: a name of the registry, or the path of a module',
);

/** The environment with this reward in the place of its own; unchanged without one. @throws UserError */
export async function withReward(
  environment: Environment,
  name: string | null,
  tokenizer: Tokenizer,
): Promise<Environment> {
  if (name === null) return environment;
  const reward = await findReward(name, {}, tokenizer);
  const component = { id: moduleName(name), role: 'retain', scale: 1, reward } as const;
  return rewardedBy(environment, combineRewards([component], { maxReward: null, normalize: false })).environment;
}

/** The settings that may name a user's modules. */
type ModuleNames = { readonly environment: string; readonly reward: string | null; readonly objective: string };

/** A hash of the user's modules that decide what is learnt; empty when there are none. */
export function modulesOf({ environment, reward, objective }: ModuleNames): string {
  return hashOfModules([environment, reward, objective]);
}

/** @throws UserError when a module has changed since the run began. */
export function requireSameModules(before: string, now: string): void {
  if (before === now) return;
  throw new UserError(
    'A module of this run (environment, reward or objective) has changed since it began.',
    'Put back the file, or begin again in another log_path.',
  );
}
