import type { RunId } from '../../base/ids.js';
import { type Discard, keptPaths, overlaps, setAside, setRunAside } from '../../files/disk/discard.js';
import { directoryObstacle } from '../../files/run-directory/own-directory.js';
import { obstacleOf } from '../../files/regular-file.js';
import type { Ack } from '../../protocol/message.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { counted } from '../../text/numbers.js';
import { isTurnOver, nextTurn } from '../../processes/turn.js';
import { doneFileOf } from '../publish/sweep-view.js';
import type { CommandHandler, RequestPorts } from './request.js';

type DiscardPorts = Pick<RequestPorts, 'loop' | 'plannedRuns' | 'executor' | 'discarded'>;

/**
 * Sets parts of an ended run's directory aside, which a client wants to delete. As the supervisor also starts runs, no run can
 * start meanwhile. The client then deletes them, which may take long.
 */
export const discard: CommandHandler<'discard', DiscardPorts> = async ({ id, mark, what }, ports) => {
  const run = ports.plannedRuns.of(id);
  if (run === null) return refusal(`${id} is not known here`);
  const obstacle = directoryObstacle(run.directory);
  if (obstacle !== null) return refusal(`${id}: ${obstacle}`);
  const orphan = await ports.executor.orphanedAttemptOf(run.directory, ports.loop.state.runs.get(id)!.attempt + 1);
  if (orphan !== null) return refusal(`${id}: attempt ${orphan} may still be running`);
  try {
    if (Array.isArray(what)) return await discardParts(run, mark, what, ports);
    return discardRun(run, { mark, isDone: what === 'done' }, ports);
  } catch (error) {
    const found = obstacleOf(error);
    return refusal(`${id}: ${found.kind === 'unreadable' ? found.reason : 'it is gone already'}`);
  }
};

type Whole = { readonly mark: string; readonly isDone: boolean };

/**
 * Sets the whole directory of a run aside. A done run is only accepted if the command means done runs, as others may need it and
 * its results would be lost: it may have ended since the user looked.
 */
function discardRun({ id, directory }: PlannedRun, { mark, isDone }: Whole, { loop, discarded }: DiscardPorts): Ack {
  const run = loop.state.runs.get(id);
  if (run?.state.phase !== 'ended') return refusal(notEnded(id));
  if ((run.state.outcome.kind === 'done') !== isDone) return refusal(`${id} is ${isDone ? 'not ' : ''}done`);
  discarded(id);
  return setRunAside(directory, mark) ? { ok: true, message: `${id} set aside` } : refusal(`${id} has no directory`);
}

async function discardParts(
  run: PlannedRun,
  mark: string,
  items: readonly Discard[],
  { loop: { state } }: DiscardPorts,
): Promise<Ack> {
  const kept = keptPaths(run.directory, doneFileOf(run));
  let count = 0;
  for (const [place, item] of items.entries()) {
    if (isTurnOver()) await nextTurn();
    // The run may have been started meanwhile.
    if (state.runs.get(run.id)?.state.phase !== 'ended') return count === 0 ? refusal(notEnded(run.id)) : told(count);
    if (kept.some((path) => overlaps(path, item.path))) continue;
    if (setAside(run.directory, item, mark, place)) count += 1;
  }
  return told(count);
}

function told(count: number): Ack {
  return { ok: true, message: `${counted(count, 'item')} set aside` };
}

function notEnded(id: RunId): string {
  return `${id} has not ended`;
}

function refusal(message: string): Ack {
  return { ok: false, message, fix: null };
}
