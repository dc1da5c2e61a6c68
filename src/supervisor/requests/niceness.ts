import { getPriority } from 'node:os';
import { UserError } from '../../base/user-error.js';
import { askProgram } from '../../processes/short-call.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { Environment } from '../runs/submission-store.js';

/** For an answer that takes a millisecond, ms. */
const PATIENCE_MS = 2000;

/**
 * Rejects with a UserError where runs are to go before others, and this user may not have that: such runs would go on without a
 * word, as if nothing had been said. Anybody may be nicer.
 *
 * @param environment Whose PATH has `nice`. @param reached The niceness that a process gets for whom `nice` takes so much away; null: nobody can say.
 */
export async function refuseNiceness(
  runs: readonly PlannedRun[],
  environment: Environment,
  reached = nicenessOf,
): Promise<void> {
  const run = runs.reduce<PlannedRun | null>((least, each) => (niceOf(each) < niceOf(least) ? each : least), null);
  const wanted = niceOf(run);
  if (run === null || wanted >= 0) return;
  const found = await reached(wanted, environment);
  if (found === null || found <= Math.max(-20, getPriority() + wanted)) return;
  throw new UserError(
    `The runs of group ${run.group} have \`nice: ${wanted}\`, and this user may not raise the priority of a process.`,
    'Write a `nice` of 0 or more, or launch as a user who may (`ulimit -e` says how far).',
  );
}

function niceOf(run: PlannedRun | null): number {
  return run?.resources.nice ?? 0;
}

async function nicenessOf(nice: number, environment: Environment): Promise<number | null> {
  const call = {
    program: 'nice',
    args: ['-n', String(nice), 'nice'],
    environment,
    patienceMs: PATIENCE_MS,
  };
  const answer = await askProgram(call);
  const said = answer.kind === 'answered' ? answer.stdout.trim() : '';
  return /^-?\d+$/.test(said) ? Number(said) : null;
}
