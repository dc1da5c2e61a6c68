import { UserError } from '../../base/user-error.js';
import { actOnRuns, type ActOptions, priorityAct } from '../act-on-runs.js';

/** `memrl-tui priority N QUERY`: the higher starts first; those of a sweep file have 0 unless it says otherwise. */
export async function priority([text, ...words]: readonly string[], options: ActOptions): Promise<number> {
  if (!/^[+-]?\d{1,9}$/.test(text!)) {
    throw new UserError(
      `\`${text}\` is not a priority.`,
      'Write a whole number before the runs, for example `memrl-tui priority 10 group:A`.',
    );
  }
  return actOnRuns(priorityAct(Number(text)), words, options);
}
