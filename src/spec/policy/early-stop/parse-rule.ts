import { UserError } from '../../../base/user-error.js';
import { didYouMean } from '../../../text/nearest.js';
import { EarlyTerminateText } from '../../file/policy-schema.js';
import { EarlyTerminate, type Objective } from '../../planned-run.js';
import { hyperbandBands } from './early-stopping.js';

const numbers: Readonly<Record<string, readonly string[]>> = {
  hyperband: ['min_iter', 'max_iter', 's', 'eta', 'strict'],
  asha: ['min_iter', 'max_iter', 'eta'],
  median: ['min_iter', 'min_runs'],
};
const example = "Write for example 'asha eta=3 min_iter=5', 'median min_iter=10' or 'hyperband min_iter=3'.";

/**
 * Parses a rule on a command line: its name, and its numbers as in a sweep file, such as `asha eta=3 min_iter=5`.
 *
 * @throws {UserError} When there is no such rule or number, or the rule could never end a run.
 */
export function parseRule(text: string): EarlyTerminate {
  const [type = '', ...words] = text.trim().split(/[\s,]+/);
  const known = Object.hasOwn(numbers, type) ? numbers[type] : undefined;
  if (known === undefined) {
    throw new UserError(
      `\`${type}\` is not an early-stopping rule. ${didYouMean(type, Object.keys(numbers))}`,
      example,
    );
  }
  const settings = words.filter((word) => word !== '').map((word) => setting(word, { type, known }));
  const rule = checked(text, { type, ...Object.fromEntries(settings) });
  const mistake = earlyTerminateProblem(rule);
  if (mistake !== null) throw new UserError(`'${text}': ${mistake.problem}`, mistake.fix);
  return rule;
}

function checked(text: string, said: object): EarlyTerminate {
  const read = EarlyTerminateText.safeParse(said);
  if (read.success) return EarlyTerminate.parse(read.data);
  const { path, message } = deepest(read.error.issues[0]!);
  throw new UserError(`\`${String(path.at(-1) ?? 'rule')}\` in '${text}': expected ${message}.`, example);
}

type Issue = { path: readonly PropertyKey[]; message: string; errors?: readonly (readonly Issue[])[] };

/** The innermost issue of the form that was meant, which is the first one here: a union's own message hides it. */
function deepest(issue: Issue): Issue {
  const inner = issue.errors?.[0]?.[0];
  return inner === undefined ? issue : deepest(inner);
}

function setting(
  word: string,
  { type, known }: { type: string; known: readonly string[] },
): [string, number | boolean] {
  const [, key = word, value = ''] = /^([^=]*)=(.*)$/.exec(word) ?? [];
  if (!known.includes(key)) throw new UserError(`${type} has no \`${key}\`. ${didYouMean(key, known)}`, example);
  if (value === 'true' || value === 'false') return [key, value === 'true'];
  const number = value === '' ? NaN : Number(value);
  if (Number.isFinite(number)) return [key, number];
  throw new UserError(`\`${word}\` does not say a number for \`${key}\`.`, example);
}

/**
 * Parses an objective on a command line: `minimize test/loss`, `maximize accuracy`; a name alone is minimized.
 *
 * @throws {UserError} When there is no name.
 */
export function parseObjective(text: string): Objective {
  const [, goal = 'minimize', name = ''] = /^(?:(minimize|maximize)(?:\s+|$))?(.*)$/.exec(text.trim()) ?? [];
  if (name !== '') return { name, goal: goal as Objective['goal'] };
  throw new UserError(`'${text}' names no metric.`, "Write for example 'minimize test/loss' or 'maximize accuracy'.");
}

/** Why a rule could never judge a run, and how to fix it; null: it can. */
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
