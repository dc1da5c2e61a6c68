import type { Fleet, RunSummary } from '../client/fleet.js';
import { promised } from './answer.js';
import { chooseRuns } from './choose-runs.js';
import { withFleet } from './open-fleet.js';
import type { CommonOptions } from './options.js';
import { compactNames } from './plan/compact-names.js';
import { hasEnded } from './plain/watched-run.js';
import { outputWidth, print, printJson } from './terminal.js';
import { isAgreed } from './confirm.js';
import type { RunAct } from './run-acts.js';

export type ActOptions = CommonOptions & { yes?: boolean; dryRun?: boolean; wait?: boolean };

/**
 * Does something to the runs that the words choose: says which, asks a person if there are several, and resolves once the
 * supervisor has promised it (`wait`: once the runs have ended). Exit code 2 when the person said no.
 *
 * @throws {UserError} When it makes sense for none of them, or disturbs several and nobody can be asked.
 */
export async function actOnRuns(act: RunAct, words: readonly string[], options: ActOptions): Promise<number> {
  return withFleet(options, async (fleet) => {
    const chosen = await chooseRuns(words, fleet);
    const fitting = chosen.filter(act.fits);
    const tell = (line: string) => (options.json === true ? undefined : print([line]));
    if (fitting.length > 0) tell(preview(act, fitting, chosen.length - fitting.length));
    if (options.dryRun === true) return dryRun(act, fitting, chosen, options);
    if (!(await isAgreed({ ...act, count: fitting.length }, options))) return 2;
    // When it fits none, the supervisor knows best why.
    const ids = (fitting.length > 0 ? fitting : chosen).map(({ id }) => id);
    const message = promised(await act.ask(fleet, ids));
    if (options.wait === true) await untilEnded(fleet, ids);
    tell(message);
    if (options.json === true) printJson({ ...told(act, fitting, chosen), done: true, message });
    return 0;
  });
}

function dryRun(
  act: RunAct,
  fitting: readonly RunSummary[],
  chosen: readonly RunSummary[],
  { json }: ActOptions,
): number {
  if (json === true) printJson({ ...told(act, fitting, chosen), done: false, message: null });
  else if (fitting.length === 0) print([`${act.verb}: nothing to do, ${unfitting(chosen)}`]);
  return 0;
}

function preview({ verb }: RunAct, fitting: readonly RunSummary[], others: number): string {
  const rest = others === 0 ? '' : ` (${others} left as they are)`;
  const head = `${verb} ${fitting.length} run${fitting.length === 1 ? '' : 's'}: `;
  const ofOneSweep = new Set(fitting.map(({ sweep }) => sweep)).size === 1;
  const names = fitting.map(({ id, name }) => (ofOneSweep ? name : id));
  return `${head}${compactNames(names, outputWidth() - head.length - rest.length)}${rest}`;
}

/** `A_s0 is done (and 2 more)`. */
function unfitting([first, ...others]: readonly RunSummary[]): string {
  return `${first!.name} is ${first!.state}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
}

function told({ verb }: RunAct, fitting: readonly RunSummary[], chosen: readonly RunSummary[]): object {
  const others = chosen.filter((run) => !fitting.includes(run));
  return {
    verb,
    runs: fitting.map(({ id }) => id),
    unfitting: others.map(({ id, state }) => ({ id, state })),
  };
}

async function untilEnded(fleet: Fleet, ids: readonly RunSummary['id'][]): Promise<void> {
  await fleet.until(() => {
    if (fleet.connection !== 'connected') return false;
    return ids.every((id) => {
      const run = fleet.runs.get(id);
      return run === undefined || hasEnded(run);
    });
  });
}
