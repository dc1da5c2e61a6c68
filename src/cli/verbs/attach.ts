import type { Fleet } from '../../client/fleet.js';
import { knownSweeps, lookingAtFleet, withFleet } from '../open-fleet.js';
import type { LaunchOptions } from '../options.js';
import { passingLine } from '../terminal.js';
import { watch } from '../watch.js';

/** `memrl-tui attach [SWEEP]`: shows an earlier launch. A supervisor that died is started again and adopts live runs. */
export async function attach([sweep]: readonly string[], options: LaunchOptions): Promise<number> {
  const show = (fleet: Fleet) => {
    const sweeps = knownSweeps(fleet, sweep);
    return watch(fleet, sweeps.length === 1 ? sweeps[0]! : null, options);
  };
  passingLine('connecting to the supervisor …');
  return options.readOnly === true ? lookingAtFleet(options, show) : withFleet(options, show, { takesOver: true });
}
