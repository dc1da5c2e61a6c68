import { getPriority } from 'node:os';
import { UserError } from '../base/user-error.js';
import { askProgram } from '../processes/short-call.js';
import type { PlannedRun } from '../spec/planned-run.js';

type Environment = Readonly<Record<string, string>>;

/** Time limit of a call that takes a millisecond, ms. */
const PATIENCE_MS = 2000;

/**
 * Rejects with a UserError if runs are to have a higher priority than this user may set: such runs would silently get the usual
 * one. A lower priority is always allowed.
 *
 * @param environment An environment whose PATH has `nice`.
 * @param reached Returns the niceness of a process after `nice` has lowered it by that much; null: unknown.
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
