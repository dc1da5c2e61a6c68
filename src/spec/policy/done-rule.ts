import type { Parameters } from '../../base/scalar.js';
import { identifierOf, toCel } from '../expand/expression/cel-environment.js';
import { compileExpression, type Expression, ExpressionError, rowLimits } from '../expand/expression/expression.js';
import type { CelValue } from '../expand/expression/function-bounds.js';
import type { DoneRule, PlannedRun } from '../planned-run.js';

/** A rule that looks at a file. `where` absent: that it is there is enough. */
type FileRule = Exclude<DoneRule, { exit: 0 }>;

type Row = Readonly<Record<string, unknown>>;

/** Ten thousand runs share a handful of rules. */
const compiled = new Map<string, Expression | null>();

/**
 * Whether a row of the rule's file says that the run is done. `where` sees the row's fields and, where the row has no
 * such field, the run's parameters: `name == "final" && batch >= n_batches`. A row that lacks a field does not count.
 */
export function holdsForRow(rule: FileRule, rows: readonly Row[], parameters: Parameters): boolean {
  return rows.some(rowTest(rule, parameters));
}

/** The same for one row after the other; undefined for a rule that looks at no file. */
export function doneTest({ done, parameters }: Pick<PlannedRun, 'done' | 'parameters'>) {
  return 'exit' in done ? undefined : rowTest(done, parameters);
}

function rowTest(rule: FileRule, parameters: Parameters): (row: Row) => boolean {
  // What was found is a file, or a line that matches.
  if (!('file' in rule) || rule.where === undefined) return () => true;
  const expression = expressionOf(rule.where);
  if (expression === null) return () => false;
  const outer = variablesOf(parameters, expression);
  return (row) => holds(expression, { ...outer, ...variablesOf(row, expression) });
}

/** null: it is none. A file that says so is refused; but the plan may come from an older version of this program. */
function expressionOf(where: string): Expression | null {
  const known = compiled.get(where);
  if (known !== undefined) return known;
  const expression = compiledOrNull(where);
  compiled.set(where, expression);
  return expression;
}

function compiledOrNull(where: string): Expression | null {
  try {
    return compileExpression(where, rowLimits);
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}

function holds(expression: Expression, variables: Record<string, CelValue>): boolean {
  try {
    return expression.evaluate(variables) === true;
  } catch (error) {
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
