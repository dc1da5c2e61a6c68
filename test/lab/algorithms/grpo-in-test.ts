import { readArguments } from '../../../src/lab/config/arguments.js';
import { grpoKeys, grpoSettings, type Settings } from '../../../src/lab/algorithms/grpo-settings.js';
import { grpo } from '../../../src/lab/algorithms/grpo.js';
import { openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { openRun, type Ending } from '../../../src/lab/run/runner.js';
import type { ProcessContext } from '../../../src/lab/run/process-context.js';
import { testWorld } from './run-in-test.js';

/** Short completions in small batches. */
const small = [
  ...['num_prompts=40', 'prompt_length=4', 'max_completion_length=10', 'batch_size=8', 'num_generations=4'],
  ...['max_steps=6', 'lr=0.01', 'logging_steps=2', 'save_steps=3', 'eval_routing_steps=3', 'eval_samples=3'],
];

/** `memrl grpo` in `path`. */
export function grpoIn(path: string, argv: readonly string[], world: ProcessContext = testWorld()): Promise<Ending> {
  const settings = settingsFor(argv);
  return grpo(settings, openRun(openRunDirectory(path), world));
}

/** What it is told then. */
export function settingsFor(argv: readonly string[]): Settings {
  return grpoSettings(readArguments(grpoKeys, [...small, ...argv]));
}
