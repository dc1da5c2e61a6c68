import type { Parameters } from '../../base/scalar.js';
import { type CelValue, identifierOf, toCel } from '../expand/expression/cel-environment.js';
import { UserError } from '../../base/user-error.js';
import { withinTime } from '../expand/expression/time-limit.js';
import { compileExpression, type Expression, ExpressionError, TooLarge } from '../expand/expression/expression.js';
import type { DoneRule, PlannedRun } from '../planned-run.js';
import { patternFault } from '../../text/pattern.js';

/** A rule about a file. `where` absent: the file only has to exist. */
type FileRule = Exclude<DoneRule, { exit: 0 }>;

type Row = Readonly<Record<string, unknown>>;

/** Time limit for one row, ms. */
const ROW_MS = 250;
/** How often a row is begun, at most, where the machine is so busy that the limit passes without half of it being computed. */
const MOST_ATTEMPTS = 20;

/** Compiled `where` expressions; a text says why one is invalid. Ten thousand runs share a handful of rules. */
const compiled = new Map<string, Expression | string>();

/**
 * Whether some row of the rule's file shows that the run is done. `where` sees the row's fields and, for other names, the run's
 * parameters: `name == "final" && batch >= n_batches`. A row that lacks a needed field does not count.
 */
export function holdsForRow(rule: FileRule, rows: readonly Row[], parameters: Parameters): boolean {
  return rows.some(rowTest(rule, parameters));
}

/** Tests rows one by one; undefined for a rule without a file. */
export function doneTest({ done, parameters }: Pick<PlannedRun, 'done' | 'parameters'>) {
  return 'exit' in done ? undefined : rowTest(done, parameters);
}

function rowTest(rule: FileRule, parameters: Parameters): (row: Row) => boolean {
  // A file exists, or a line matches: nothing else is tested.
  if (!('file' in rule) || rule.where === undefined) return () => true;
  const { where } = rule;
  const expression = expressionOf(where);
  if (typeof expression === 'string') return () => false;
  const outer = variablesOf(parameters, expression);
  const test = (row: Row) => holds(expression, { ...outer, ...variablesOf(row, expression) });
  if (expression.isShort) return test;
  return (row) => typeof expressionOf(where) !== 'string' && inTime(where, () => test(row)) === true;
}

/** Why the rule cannot be tested, in words; null: it can. A rule may come from an older version of this program. */
export function faultOf(rule: DoneRule): string | null {
  const { output, where } = rule as { output?: string; where?: string };
  const fault = where === undefined ? null : expressionOf(where);
  if (typeof fault === 'string') return `\`where\` of its done rule cannot be used: ${fault}`;
  const odd = output === undefined ? null : patternFault(output);
  return odd === null ? null : `the pattern ${output} of its done rule cannot be used: ${odd}`;
}

function expressionOf(where: string): Expression | string {
  const known = compiled.get(where);
  if (known !== undefined) return known;
  const expression = inTime(where, () => compiledOrFault(where));
  compiled.set(where, expression);
  return expression;
}

function compiledOrFault(where: string): Expression | string {
  try {
    return compileExpression(where);
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

/** Runs an expression within its limit. The supervisor may be the caller: a rule that takes too long is not used again. */
function inTime<Result>(where: string, work: () => Result, attempts = MOST_ATTEMPTS): Result | string {
  const before = process.cpuUsage();
  try {
    return withinTime('A row of the done rule', ROW_MS, work);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { user, system } = process.cpuUsage(before);
    // A busy machine gave most of the time to others, which is no fault of the rule; its work changes nothing, and is begun again.
    if (user + system < 500 * ROW_MS && attempts > 1) return inTime(where, work, attempts - 1);
    compiled.set(where, error.message);
    return error.message;
  }
}

function holds(expression: Expression, variables: Record<string, CelValue>): boolean {
  try {
    return expression.evaluate(variables) === true;
  } catch (error) {
    if (error instanceof TooLarge) compiled.set(expression.source, error.message);
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

function variablesOf(fields: Readonly<Record<string, unknown>>, { names }: Expression): Record<string, CelValue> {
  const variables: Record<string, CelValue> = {};
  for (const [key, value] of Object.entries(fields)) {
    const identifier = identifierOf(key);
    const simple = value === null || ['string', 'number', 'boolean'].includes(typeof value);
    if (simple && names.includes(identifier))
      variables[identifier] = toCel(value as string | number | boolean | null, false);
  }
  return variables;
}
