import { type Check, type Checked, type Finding, type Place, warn } from './check.js';
import { durability, place, socketFolder, space, stateFolder, supervisor } from './runs-directory.js';
import { memory, openFiles, processes, watches } from './limits.js';
import { clock, git, gpus, mps, node, python } from './machine.js';
import { cgroups, hostConfig, logout, secrets } from './survival.js';
import { slurmChecks } from './slurm.js';
import { characters, multiplexer, preferences, terminal } from './terminal.js';

/** All checks of `doctor`, in the order of the output. */
export const checks: readonly Check[] = [
  ...[node, python, git, gpus, mps, clock],
  ...[terminal, characters, multiplexer, preferences],
  ...[place, space, durability, socketFolder, supervisor, stateFolder],
  ...[openFiles, processes, watches, memory],
  ...[cgroups, logout, hostConfig, secrets],
  ...slurmChecks,
];

/** `gaveUp`: a check did not return, and may keep the program from ending. */
type Examination = { checks: Checked[]; gaveUp: boolean };

const PATIENCE_MS = 2000;

/** Runs all checks at once, each within its time limit. Results are in the order of the list. Never rejects. */
export async function examine(checks: readonly Check[], place: Place): Promise<Examination> {
  let gaveUp = false;
  const checked = await Promise.all(
    checks.map(async (check): Promise<Checked> => {
      const finding = await within(check.patienceMs ?? PATIENCE_MS, look(check, place));
      if (finding === null) gaveUp = true;
      return { topic: check.topic, name: check.name, ...(finding ?? noAnswer(check)) };
    }),
  );
  return { checks: checked, gaveUp };
}

async function look(check: Check, place: Place): Promise<Finding> {
  try {
    return await check.look(place);
  } catch (error) {
    const reason = (error as Error).message.split('\n', 1)[0]!;
    return warn(`could not be checked: ${reason}`, 'Fix this unless it is intended.');
  }
}

function noAnswer({ name, patienceMs = PATIENCE_MS }: Check): Finding {
  return warn(
    `no answer within ${patienceMs / 1000} s`,
    `Find out what hangs: an unreachable file system, or a broken driver (${name}).`,
  );
}

function within(ms: number, work: Promise<Finding>): Promise<Finding | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    void work.then((finding) => {
      clearTimeout(timer);
      resolve(finding);
    });
  });
}
