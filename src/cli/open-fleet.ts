import { existsSync } from 'node:fs';
import { didYouMean } from '../base/nearest.js';
import { UserError } from '../base/user-error.js';
import { ensureSupervisor } from '../client/ensure-supervisor.js';
import type { Fleet } from '../client/fleet.js';
import { runsDirectory, type CommonOptions } from './options.js';
import { supervisorPrograms } from './supervisor-programs.js';

/**
 * Does something with all that is known of a runs directory, and lets go of it. A supervisor that is not up is started,
 * which takes up the runs that live; it leaves again by itself when nothing is left to do.
 *
 * @throws {UserError} When there is no such directory: nothing was ever launched there.
 */
export async function withFleet<Result>(
  options: CommonOptions,
  use: (fleet: Fleet) => Promise<Result>,
): Promise<Result> {
  const directory = runsDirectory(options.runs);
  if (!existsSync(directory)) {
    throw new UserError(
      `There is no runs directory ${directory}.`,
      'Go to where you launched the sweep, or name its folder with --runs.',
    );
  }
  const fleet = await ensureSupervisor(directory, supervisorPrograms());
  try {
    await fleet.ready();
    return await use(fleet);
  } finally {
    fleet.close();
  }
}

/** Resolves when the metrics of ended runs are known, or the fleet was closed before. */
export async function recalled(fleet: Fleet): Promise<void> {
  await fleet.until(({ status }) => status.recalled);
}

/**
 * The names of sweeps to tell about: the one that was asked for, or all.
 *
 * @throws {UserError} When it is not known, with the nearest that is.
 */
export function knownSweeps(fleet: Fleet, asked: string | undefined): string[] {
  const known = [...fleet.sweeps.keys()];
  if (known.length === 0 && fleet.status.problem !== null) {
    throw new UserError(
      `No sweep is known here: ${fleet.status.problem}.`,
      'Launch each sweep again, or name another folder of runs with --runs.',
    );
  }
  if (asked !== undefined && !fleet.sweeps.has(asked)) {
    const problem = known.length === 0 ? `No sweep was launched here, so there is no` : 'There is no sweep';
    throw new UserError(
      `${problem} \`${asked}\`.`,
      `${known.length === 0 ? '' : `${didYouMean(asked, known)} `}Another folder of runs is named with --runs.`,
    );
  }
  if (known.length === 0) {
    throw new UserError('No sweep was launched here.', 'Launch one: `memrl-tui sweeps/quick.yaml`.');
  }
  return asked === undefined ? known : [asked];
}
