import type { RunFacts } from '../../base/outcome.js';
import type { Parameters } from '../../base/scalar.js';
import { UserError } from '../../base/user-error.js';
import { patternFault } from '../../text/pattern.js';
import { type CelValue, identifierOf, toCel } from '../expand/expression/cel-environment.js';
import { compileExpression, type Expression, ExpressionError, TooLarge } from '../expand/expression/expression.js';
import { withinComputingTime } from '../expand/expression/time-limit.js';
import { canonicalText, identityOf } from '../expand/identity.js';
import { valueText } from '../expand/value-text.js';
import type { Completion, DoneRule, PlannedRun } from '../planned-run.js';
import { isEarlyStop } from './early-stop/verdict.js';

/**
 * Whether a run has to be started, and why, by the contents of its directory.
 *
 * @throws {UserError} When the directory belongs to another run: the same name, but other parameters.
 */
export function completionOf(run: PlannedRun, facts: RunFacts): Completion {
  refuseForeign(run, facts);
  if (facts.attempts === 0) return withoutAttempts(run, facts);
  if (facts.stoppedBy !== null && stillStands(run, facts.stoppedBy)) {
    const rule = isEarlyStop(facts.stoppedBy) ? 'early_terminate' : facts.stoppedBy;
    return { state: 'done', reason: `stopped by rule ${rule}, which still applies` };
  }
  return afterAttempts(run, facts);
}

/** Completion of a run without attempts. Another program may have created what the rule looks for, in the run's directory. */
function withoutAttempts(run: PlannedRun, facts: RunFacts): Completion {
  const evidence = doneEvidence(run, facts);
  if (evidence === null) return { state: 'new', reason: 'not started yet' };
  return { state: 'done', reason: `${evidence}, though it was not started here` };
}

/**
 * Whether the rule that ended a run still applies. Early stopping is not judged again: it holds while the file has
 * `early_terminate`.
 */
function stillStands({ stopWhen, earlyTerminate }: PlannedRun, rule: string): boolean {
  return isEarlyStop(rule) ? earlyTerminate !== null : rule === stopWhen?.when;
}

function afterAttempts(run: PlannedRun, facts: RunFacts): Completion {
  const grown = growth(facts.parameters ?? {}, run.parameters);
  const evidence = doneEvidence(run, facts);
  // A done rule that refers to the budget may not hold for the larger one.
  const wasDone = evidence !== null || facts.exitCode === 0;
  if (grown !== null) return { state: 'resume', reason: grown, grown: { wasDone } };
  if (evidence !== null && !stoppedWithoutRows(run.done, facts)) return { state: 'done', reason: evidence };
  return { state: 'resume', reason: unfinished(run, facts) };
}

function refuseForeign(run: PlannedRun, facts: RunFacts): void {
  if (facts.identity === null || isSame(run, facts)) return;
  const changes = facts.parameters ? changesBetween(facts.parameters, run.parameters) : [];
  const what = changes.length > 0 ? `its ${changes.join(', ')}` : 'it belongs to another group';
  throw new UserError(
    `${run.directory} holds another run called \`${run.name}\`: ${what}.`,
    'Give the new run another `name`, move that directory away, or list a parameter that is only budget in `extends`: then the existing run continues.',
  );
}

/** Whether a directory belongs to a run; also where `extends` was changed after the run started, as the present budget decides. */
function isSame({ identity, group, parameters, budget = [] }: PlannedRun, facts: RunFacts): boolean {
  if (facts.identity === identity) return true;
  if (facts.group !== group || facts.parameters === null) return false;
  return identityOf(group, facts.parameters, budget) === identityOf(group, parameters, budget);
}

/** Whether a run was stopped by a rule and has exit code 0, which is then no evidence that it is complete. */
function stoppedWithoutRows(done: DoneRule, { stoppedBy }: RunFacts): boolean {
  return stoppedBy !== null && 'exit' in done;
}

/**
 * How a budget grew, in words; null: it did not. The identities are equal, so only budget differs; a smaller one is no reason to
 * run again.
 */
export function growth(before: Parameters, now: Parameters): string | null {
  for (const [name, value] of Object.entries(now)) {
    const old = ownValue(before, name);
    if (old === undefined || canonicalText(old) === canonicalText(value)) continue;
    if (typeof old !== 'number' || typeof value !== 'number')
      return `${name} changed from ${valueText(old)} to ${valueText(value)}`;
    if (value > old) return `${name} grew from ${valueText(old)} to ${valueText(value)}`;
  }
  return null;
}

/** The value of a parameter, which may be called `constructor`. */
function ownValue(parameters: Parameters, name: string): Parameters[string] | undefined {
  return Object.hasOwn(parameters, name) ? parameters[name] : undefined;
}

/** The first parameters that differ, in words, as `lr was 0.1 and would be 0.2`. */
export function changesBetween(before: Parameters, now: Parameters): string[] {
  const text = (value: Parameters[string] | undefined) => (value === undefined ? 'unset' : valueText(value));
  return differingParameters(before, now)
    .slice(0, 4)
    .map((name) => `${name} was ${text(ownValue(before, name))} and would be ${text(ownValue(now, name))}`);
}

/** Names of the parameters that only one of them has, or that differ. */
export function differingParameters(before: Parameters, now: Parameters): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names.filter((name) => canonicalText(ownValue(before, name)) !== canonicalText(ownValue(now, name)));
}

function doneEvidence({ done, parameters }: PlannedRun, facts: RunFacts): string | null {
  if ('exit' in done) return facts.exitCode === 0 ? 'exit code 0' : null;
  if (facts.malformed !== undefined || !holdsForRow(done, facts.doneRows, parameters)) return null;
  if ('output' in done) return `its output has a line with ${done.output}`;
  if ('command' in done) return 'its done command says so';
  if (done.where === undefined) return `${done.file} is there`;
  return isFinal(done) ? 'final checkpoint found' : `${done.file} has a row where ${done.where}`;
}

function isFinal(done: DoneRule): boolean {
  return 'file' in done && done.file === 'checkpoints.jsonl' && /name == "final"/.test(done.where ?? '');
}

function unfinished({ done, stopWhen }: PlannedRun, facts: RunFacts): string {
  if (facts.stoppedBy !== null) {
    const now =
      stopWhen === null || isEarlyStop(facts.stoppedBy)
        ? 'which is no longer in the file'
        : `which is now ${stopWhen.when}`;
    return `stopped by rule ${facts.stoppedBy}, ${now}`;
  }
  const fault = faultWords(done, facts);
  if (fault !== null) return fault;
  const attempt = `attempt ${facts.attempts}`;
  if (facts.exitCode !== null && facts.exitCode !== 0) return `${attempt} ended with exit code ${facts.exitCode}`;
  const missing = missingWords(done, facts);
  if (missing === null) return `${attempt} did not finish`;
  if ('command' in done) return missing;
  return facts.exitCode === 0 ? `${attempt} ended with exit code 0, but there is ${missing}` : missing;
}

/** Why it cannot be known whether the run is done, in words; null: it can. */
function faultWords(done: DoneRule, { malformed }: RunFacts): string | null {
  return malformed === undefined ? faultOf(done) : `${malformed} is not a row of JSON: correct or remove it`;
}

/** What is missing for the run to be done, in words; null: its exit code decides. */
function missingWords(done: DoneRule, { doneWords }: RunFacts): string | null {
  if ('exit' in done) return null;
  if ('command' in done) return doneWords ?? 'its done command is asked at the launch';
  if ('output' in done) return `no line with ${done.output} in its output`;
  if (done.where === undefined) return `no ${done.file}`;
  return isFinal(done) ? 'no final checkpoint' : `no row in ${done.file} where ${done.where}`;
}

/** A rule about a file. `where` absent: the file only has to exist. */
type FileRule = Exclude<DoneRule, { exit: 0 }>;

type Row = Readonly<Record<string, unknown>>;

/** Time limit for one row, ms. */
const ROW_MS = 250;

/** Compiled `where` expressions; a text says why one is invalid. Ten thousand runs share a handful of rules. */
const compiled = new Map<string, Expression | string>();

/**
 * Whether some row of the rule's file shows that the run is done. `where` sees the row's fields and, for other names, the run's
 * parameters: `name == "final" && batch >= n_batches`. A row that lacks a needed field does not count.
 */
function holdsForRow(rule: FileRule, rows: readonly Row[], parameters: Parameters): boolean {
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
function faultOf(rule: DoneRule): string | null {
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
function inTime<Result>(where: string, work: () => Result): Result | string {
  try {
    return withinComputingTime('A row of the done rule', ROW_MS, work);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
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
