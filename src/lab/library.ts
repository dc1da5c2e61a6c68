/** `memrl-tui/lab`: a model to train in scripts, the built-in objectives, and the types of user-written modules. */
import type { Policy, PolicyOptions } from './own-modules.js';

export * from './own-modules.js';

/**
 * Opens a model to train in a script; a saved one without the state of its optimizer.
 *
 * @throws an error with its fix when there is no such model.
 */
export async function openPolicy(options: PolicyOptions = {}): Promise<Policy> {
  // Modules that need only an objective do not load the engine.
  const policy = await import('./policy.js');
  return policy.openPolicy(options);
}
