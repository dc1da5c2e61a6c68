import { actOnRuns, type ActOptions } from '../act-on-runs.js';
import { runActs } from '../run-acts.js';

/** `memrl-tui kill|resume|retry|hold|release|pause|continue QUERY`. */
export function act(verb: keyof typeof runActs, words: readonly string[], options: ActOptions): Promise<number> {
  return actOnRuns(runActs[verb], words, options);
}
