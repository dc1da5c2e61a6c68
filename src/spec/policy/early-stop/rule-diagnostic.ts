import type { EarlyTerminate } from '../../planned-run.js';
import { hyperbandBands } from './hyperband.js';

/** What keeps a rule from ever judging a run, and what to do; null: nothing. */
export function earlyTerminateProblem(rule: EarlyTerminate): { problem: string; fix: string } | null {
  if (rule.type === 'median') return null;
  if (rule.type === 'asha') {
    if (rule.max_iter === undefined || rule.max_iter >= rule.min_iter) return null;
    const problem = `asha has no rung: \`max_iter\` (${rule.max_iter}) is below \`min_iter\` (${rule.min_iter}).`;
    return { problem, fix: 'Raise `max_iter`, or leave it out.' };
  }
  const { min_iter, max_iter, s } = rule;
  if (max_iter === undefined && min_iter === undefined) {
    return { problem: 'hyperband needs `min_iter`, or `max_iter` and `s`.', fix: 'Add for example `min_iter: 3`.' };
  }
  if (max_iter !== undefined && s === undefined) {
    return { problem: 'hyperband with `max_iter` needs `s`, the number of its bands.', fix: 'Add for example `s: 2`.' };
  }
  if (hyperbandBands(rule).length > 0) return null;
  const problem = `hyperband has no band: \`max_iter\` (${max_iter}) is below \`eta\` (${rule.eta}).`;
  return { problem, fix: 'Raise `max_iter`, or lower `eta`.' };
}
