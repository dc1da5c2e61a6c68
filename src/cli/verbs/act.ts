import { actOnRuns, type ActOptions, runActs } from '../act-on-runs.js';

/** `memrl-tui kill|resume|retry|hold|release|pause|continue QUERY`. */
export function act(verb: keyof typeof runActs, words: readonly string[], options: ActOptions): Promise<number> {
  return actOnRuns(runActs[verb], words, options);
}
