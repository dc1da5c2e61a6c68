/** The recipes of tinker-cookbook, by their names there. */
import { rlBudget } from '../algorithms/rl-settings.js';
import type { Config, Key, Keys } from '../config/key.js';
import type { Ending, Run } from '../run/runner.js';
import { arithmetic, arithmeticKeys } from './arithmetic.js';
import { rlBasic, rlBasicKeys } from './rl-basic.js';
import { rlLoop, rlLoopBudget, rlLoopKeys } from './rl-loop.js';
import { slLoop, slLoopBudget, slLoopKeys } from './sl-loop.js';

type RecipeKeys = Keys & { readonly log_path: Key<string | null> };

/** `budget`: keys that may differ between the attempts at a run. */
export type Recipe<K extends RecipeKeys = RecipeKeys> = {
  readonly keys: K;
  readonly budget: ReadonlySet<string>;
  readonly run: (config: Config<K>, run: Run) => Promise<Ending>;
};

export const recipes: Readonly<Record<string, Recipe>> = {
  rl_basic: recipe({ keys: rlBasicKeys, budget: rlBudget, run: rlBasic }),
  arithmetic: recipe({ keys: arithmeticKeys, budget: rlBudget, run: arithmetic }),
  rl_loop: recipe({ keys: rlLoopKeys, budget: rlLoopBudget, run: rlLoop }),
  sl_loop: recipe({ keys: slLoopKeys, budget: slLoopBudget, run: slLoop }),
};

/** Hides the type of a recipe's keys, which only the recipe itself needs. */
function recipe<K extends RecipeKeys>(known: Recipe<K>): Recipe {
  return known as unknown as Recipe;
}
