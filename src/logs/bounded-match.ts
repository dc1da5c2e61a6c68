import { createContext, Script } from 'node:vm';

/** What came of matching within a time. */
export type Matched<Value> = { readonly kind: 'matched'; readonly value: Value } | { readonly kind: 'too long' };

/** Made when first needed: most programs never match what a person typed. */
let bounded: ((task: () => unknown, patienceMs: number) => unknown) | null = null;

/**
 * Matches texts with an expression of a person's. Some expressions take years for a line of forty characters (`(a+)+$`): only
 * a script with a time limit can be interrupted in the middle of one.
 *
 * @param match Is cut off without its `finally`, so it must do nothing but look at texts. Costs about 0.1 ms more than alone.
 * @param patienceMs More than any sensible expression takes for these texts, ms.
 */
export function matchWithin<Value>(match: () => Value, patienceMs: number): Matched<Value> {
  bounded ??= newBounded();
  try {
    return { kind: 'matched', value: bounded(match, patienceMs) as Value };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'too long' };
    throw error;
  }
}

function newBounded(): (task: () => unknown, patienceMs: number) => unknown {
  const context = createContext({ task: null as (() => unknown) | null });
  const script = new Script('task()');
  return (task, patienceMs) => {
    context['task'] = task;
    return script.runInContext(context, { timeout: patienceMs }) as unknown;
  };
}
