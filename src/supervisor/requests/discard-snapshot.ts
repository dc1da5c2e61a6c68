import { dirname, join } from 'node:path';
import { sweepFiles } from '../../contract/files.js';
import { setRunAside } from '../../files/disk/discard.js';
import { isLink } from '../../files/run-directory/own-directory.js';
import { obstacleOf } from '../../files/regular-file.js';
import type { Ack } from '../../protocol/message.js';
import { isOpen } from '../../scheduler/queue/groups.js';
import type { Group, Run } from '../../scheduler/state.js';
import type { CommandHandler, RequestPorts } from './request.js';

type SnapshotPorts = Pick<RequestPorts, 'loop' | 'plannedRuns'>;

/** Sets a code snapshot aside from which no run can be started any more; the client deletes it. */
export const discardSnapshot: CommandHandler<'discard-snapshot', SnapshotPorts> = ({ sweep, name, mark }, ports) =>
  Promise.resolve(discarded(sweep, name, mark, ports));

function discarded(sweep: string, name: string, mark: string, ports: SnapshotPorts): Ack {
  const [first] = ports.loop.state.sweeps.get(sweep) ?? [];
  const directory = first === undefined ? undefined : ports.plannedRuns.of(first)?.directory;
  if (directory === undefined) return refusal(`there is no sweep ${sweep}`);
  const path = join(dirname(directory), sweepFiles.code, name);
  if (isLink(dirname(path))) return refusal(`${dirname(path)} is a symbolic link`);
  const user = userOf(sweep, path, ports);
  if (user !== null) return refusal(`${sweep}: ${name} is the code of ${user}`);
  try {
    return setRunAside(path, mark) ? { ok: true, message: `${name} set aside` } : refusal(`there is no ${name}`);
  } catch (error) {
    const obstacle = obstacleOf(error);
    return refusal(`${name}: ${obstacle.kind === 'unreadable' ? obstacle.reason : 'it is gone already'}`);
  }
}

/** A run that may still be started from it; null: none. An extended run starts from the code of its submission. */
function userOf(sweep: string, path: string, ports: SnapshotPorts): string | null {
  const { state } = ports.loop;
  for (const id of state.sweeps.get(sweep) ?? []) {
    if (!isDone(state.runs.get(id)!) && ports.plannedRuns.of(id)?.snapshot?.path === path) return id;
  }
  const groups = [...state.groups.values()].filter(({ id }) => id.startsWith(`${sweep}/`));
  const grower = groups.find((group) => isOpen(group) && growsFrom(group, path, ports));
  return grower === undefined ? null : `the further runs of ${grower.id}`;
}

function isDone({ state }: Run): boolean {
  return state.phase === 'ended' && state.outcome.kind === 'done';
}

function growsFrom({ open }: Group, path: string, { plannedRuns }: SnapshotPorts): boolean {
  const snapshots = open === null ? [] : plannedRuns.submission(open.plan).plan.source?.snapshots;
  return snapshots?.some((snapshot) => snapshot.path === path) ?? false;
}

function refusal(message: string): Ack {
  return { ok: false, message, fix: null };
}
