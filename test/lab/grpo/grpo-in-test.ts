import { readArguments } from '../../../src/lab/config/arguments.js';
import { grpo } from '../../../src/lab/grpo/grpo.js';
import { grpoKeys } from '../../../src/lab/grpo/keys.js';
import { settle, type Settings } from '../../../src/lab/grpo/settings.js';
import { openRunDirectory } from '../../../src/lab/run/run-directory.js';
import type { Ending } from '../../../src/lab/run/run-recipe.js';
import type { World } from '../../../src/lab/run/world.js';
import { testWorld } from '../recipes/run-in-test.js';

/** Short completions in small batches. */
const small = [
  ...['num_prompts=40', 'prompt_length=4', 'max_completion_length=10', 'batch_size=8', 'num_generations=4'],
  ...['max_steps=6', 'lr=0.01', 'logging_steps=2', 'save_steps=3', 'eval_routing_steps=3', 'eval_samples=3'],
];

/** `memrl grpo` in `path`. */
export function grpoIn(path: string, argv: readonly string[], world: World = testWorld()): Promise<Ending> {
  return grpo(settingsFor(argv), openRunDirectory(path), world);
}

/** What it is told then. */
export function settingsFor(argv: readonly string[]): Settings {
  return settle(readArguments(grpoKeys, [...small, ...argv]));
}
