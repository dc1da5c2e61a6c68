import type { Parameters } from '../../base/scalar.js';
import { type CelValue, identifierOf, toCel } from '../expand/expression/cel-environment.js';
import { compileExpression, type Expression, ExpressionError, TooLarge } from '../expand/expression/expression.js';
import type { StopRule } from '../planned-run.js';

/**
 * Returns a function that takes the metric rows of one run, oldest first, and returns whether its stop rule is met: true from the
 * row on at which `when` has held `for` times in a row.
 *
 * All numbers are doubles. Metrics hide parameters of the same name. A row without the metrics that the rule needs (a training row
 * between two evaluations) is ignored.
 *
 * @throws {ExpressionError} When the rule is not an expression, or, at a row, when it takes too much memory.
 */
export function compileStopRule(
  rule: StopRule,
  parameters: Parameters,
): (row: Readonly<Record<string, number>>) => boolean {
  const expression = compileExpression(rule.when);
  const wanted = new Set(expression.names);
  const constants: Record<string, CelValue> = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (wanted.has(identifierOf(name))) constants[identifierOf(name)] = toCel(value, true);
  }
  const identifiers = new Map<string, string>();
  let held = 0;
  return (row) => {
    if (held >= rule.for) return true;
    const variables = { ...constants };
    for (const key in row) {
      let identifier = identifiers.get(key);
      if (identifier === undefined) identifiers.set(key, (identifier = identifierOf(key)));
      if (wanted.has(identifier)) variables[identifier] = row[key]!;
    }
    const verdict = evaluateRule(expression, variables);
    if (verdict !== null) held = verdict ? held + 1 : 0;
    return held >= rule.for;
  };
}

/** Whether the expression holds; null: a metric is missing. */
function evaluateRule(expression: Expression, variables: Readonly<Record<string, CelValue>>): boolean | null {
  try {
    return expression.evaluate(variables) === true;
  } catch (error) {
    if (!(error instanceof ExpressionError) || error instanceof TooLarge) throw error;
    return error.missing === null ? false : null;
  }
}
