import { UserError } from '../../base/user-error.js';
import { lockOf } from '../../client/ensure-supervisor.js';
import type { SupervisorLock } from '../../contract/supervisor-lock.js';
import { checkRunsDirectory } from '../../files/private-folder.js';
import { isAlive, placeIn, relationTo } from '../../processes/process-identity.js';
import { isLivingSupervisor } from '../../processes/process-table.js';
import { PROGRAM_VERSION } from '../../protocol/message.js';
import { counted } from '../../text/numbers.js';
import { withFleet } from '../open-fleet.js';
import { existingRunsDirectory } from '../show/runs-here.js';
import type { CommonOptions } from '../options.js';
import { print, printAnswer, remark } from '../terminal.js';

/** Time limit for a supervisor to exit, ms; one that takes longer is stuck, or suspended. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 20;
const goingOn: ReadonlySet<string> = new Set(['starting', 'running', 'paused', 'stopping']);

/** `memrl-tui restart`: replaces the supervisor by one of this version. Runs are not affected. */
export async function restart(options: CommonOptions & { end?: boolean }): Promise<number> {
  const directory = existingRunsDirectory(options);
  checkRunsDirectory(directory);
  const lock = lockOf(directory);
  const before = lock !== null && isHere(lock) ? lock : null;
  if (before !== null) await ended(before, directory);
  if (options.end === true) return told(before, { directory, json: options.json === true });
  return withFleet(options, (fleet) => {
    const now = lockOf(directory)?.pid ?? 0;
    if (fleet.program !== PROGRAM_VERSION) throw startedAgain(now);
    const runs = [...fleet.runs.values()].filter(({ state }) => goingOn.has(state)).length;
    const place = before === null ? 'there was none' : `in place of process ${before.pid}`;
    const message = `process ${now} supervises ${directory}, ${place}; ${counted(runs, 'run')} ${runs === 1 ? 'continues' : 'continue'}`;
    if (options.json === true)
      printAnswer('restart', { verb: 'restart', pid: now, replaced: before?.pid ?? null, runs, message });
    else print([message]);
    return Promise.resolve(0);
  });
}

/** Says that the supervisor has ended. */
function told(before: SupervisorLock | null, { directory, json }: { directory: string; json: boolean }): number {
  const message =
    before === null
      ? `no supervisor of ${directory} is up here`
      : `process ${before.pid}, which supervised ${directory}, has ended; its runs continue, and the next command that needs a supervisor starts one`;
  if (json) printAnswer('restart', { verb: 'restart', pid: null, replaced: before?.pid ?? null, message });
  else print([message]);
  return 0;
}

/** Whether the supervisor can be signalled from here, not being on another host or in another container. */
function isHere(lock: SupervisorLock): boolean {
  return relationTo(placeIn(lock)) === 'same' && isLivingSupervisor(lock);
}

/** Ends the supervisor. Its promises are on the disk, so it may be killed at any moment. */
async function ended(lock: SupervisorLock, directory: string): Promise<void> {
  signal(lock, 'SIGTERM', directory);
  if (await isGone(lock)) return;
  remark(`Process ${lock.pid} does not leave by itself; it is killed. Its runs continue.`);
  signal(lock, 'SIGKILL', directory);
  if (await isGone(lock)) return;
  throw new UserError(
    `Process ${lock.pid}, which supervises ${directory}, cannot be ended: it waits for a disk or a driver.`,
    'Wait until the disk answers again, and repeat it.',
  );
}

function signal({ pid }: SupervisorLock, name: 'SIGTERM' | 'SIGKILL', directory: string): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
    throw new UserError(
      `Process ${pid}, which supervises ${directory}, may not be ended: it is another user's.`,
      'Ask that user for it, or choose another runs directory with --runs.',
      { cause: error },
    );
  }
}

async function isGone(lock: SupervisorLock): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS;
  while (isAlive(lock)) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return true;
}

/** The error if a connected client has started a supervisor again. */
function startedAgain(pid: number): UserError {
  return new UserError(
    `A window or command of another version was faster: process ${pid}, which it has started, is of that version.`,
    'Leave the open windows of that version (`q`), and repeat it.',
  );
}
