import type { RunFacts } from '../../base/outcome.js';
import type { Parameters } from '../../base/scalar.js';
import { UserError } from '../../base/user-error.js';
import { canonicalText, identityOf } from '../expand/identity.js';
import { valueText } from '../expand/value-text.js';
import type { Completion, DoneRule, PlannedRun } from '../planned-run.js';
import { faultOf, holdsForRow } from './done-rule.js';
import { isEarlyStop } from './early-stop/verdict.js';

/**
 * Whether a run has to be started, and why, judged by what its directory says.
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

/** Another program may have made what the rule asks for, in the directory that the run would have. */
function withoutAttempts(run: PlannedRun, facts: RunFacts): Completion {
  const evidence = doneEvidence(run, facts);
  if (evidence === null) return { state: 'new', reason: 'not started yet' };
  return { state: 'done', reason: `${evidence}, though it was not started here` };
}

/** What one's siblings did is not judged again: a run that was ended early stays so while the file says anything of it. */
function stillStands({ stopWhen, earlyTerminate }: PlannedRun, rule: string): boolean {
  return isEarlyStop(rule) ? earlyTerminate !== null : rule === stopWhen?.when;
}

function afterAttempts(run: PlannedRun, facts: RunFacts): Completion {
  const grown = growth(facts.parameters ?? {}, run.parameters);
  const evidence = doneEvidence(run, facts);
  // A rule that holds the budget against what was written does not hold for the larger one.
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

/** Also where `extends` was given, or taken away, after the run was started: what is budget today decides. */
function isSame({ identity, group, parameters, budget = [] }: PlannedRun, facts: RunFacts): boolean {
  if (facts.identity === identity) return true;
  if (facts.group !== group || facts.parameters === null) return false;
  return identityOf(group, facts.parameters, budget) === identityOf(group, parameters, budget);
}

/** A polite stop can end in exit code 0, which is then no evidence that the run is complete. */
function stoppedWithoutRows(done: DoneRule, { stoppedBy }: RunFacts): boolean {
  return stoppedBy !== null && 'exit' in done;
}

/** How a budget grew, in words; null: it did not. Same identity, so what differs is budget; less of it is no reason to run again. */
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

/** A parameter may be called `constructor`. */
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

/** Names of the parameters that one of them has alone, or with another value. */
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

/** Why nobody can say whether the run is done, in words; null: that can be said. */
function faultWords(done: DoneRule, { malformed }: RunFacts): string | null {
  return malformed === undefined ? faultOf(done) : `${malformed} is not a row of JSON: correct or remove it`;
}

/** What would say that the run is done, and is not there; null: its exit code says it. */
function missingWords(done: DoneRule, { doneWords }: RunFacts): string | null {
  if ('exit' in done) return null;
  if ('command' in done) return doneWords ?? 'its done command is asked at the launch';
  if ('output' in done) return `no line with ${done.output} in its output`;
  if (done.where === undefined) return `no ${done.file}`;
  return isFinal(done) ? 'no final checkpoint' : `no row in ${done.file} where ${done.where}`;
}
