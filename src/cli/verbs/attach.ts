import { existsSync } from 'node:fs';
import { UserError } from '../../base/user-error.js';
import { ensureSupervisor } from '../../client/ensure-supervisor.js';
import { runsDirectory, type LaunchOptions } from '../options.js';
import { supervisorPrograms } from '../supervisor-programs.js';
import { watch } from '../watch.js';

/**
 * `memrl-tui attach [SWEEP]`: shows what was launched before. A supervisor that died is started again, which takes up
 * the runs that live.
 */
export async function attach(sweep: string | undefined, options: LaunchOptions): Promise<number> {
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
    if (sweep !== undefined && !fleet.sweeps.has(sweep)) throw unknownSweep(sweep, [...fleet.sweeps.keys()]);
    if (fleet.sweeps.size === 0) {
      throw new UserError(`No sweep was launched in ${directory}.`, 'Launch one: `memrl-tui sweeps/quick.yaml`.');
    }
    const only = sweep ?? (fleet.sweeps.size === 1 ? [...fleet.sweeps.keys()][0]! : null);
    return await watch(fleet, only, options);
  } finally {
    fleet.close();
  }
}

function unknownSweep(sweep: string, known: readonly string[]): UserError {
  const list = known.length === 0 ? 'none was launched' : `known are ${known.join(', ')}`;
  return new UserError(
    `There is no sweep \`${sweep}\` here: ${list}.`,
    'Name one of them, or give its folder with --runs.',
  );
}
