import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Ack, Fleet } from '../../client/fleet.js';
import { pathAside, replacementName, runAside } from '../../files/disk/discard.js';
import { obstacleOf } from '../../files/regular-file.js';
import type { PlannedItem, RunPlan } from './clean-plan.js';
import { copyFrom } from './log-cut.js';

/** Number of items in one request, as a line of the protocol has a size limit. */
const MOST = 200;

/**
 * Deletes the planned parts of one run: the supervisor sets them aside, unless it refuses, and then they are deleted here.
 *
 * @returns What went wrong, in words; null: nothing.
 */
export async function carryOut(plan: RunPlan, fleet: Fleet): Promise<string | null> {
  try {
    // Nothing is changed before the supervisor has confirmed that the directory is the run's own.
    const problem = plan.all ? await deleteRun(plan, fleet) : await deleteItems(plan, [], fleet);
    if (problem !== null) return problem;
    for (const path of plan.left) await rm(path, { recursive: true, force: true });
    for (let from = 0; from < plan.items.length; from += MOST) {
      const refused = await deleteItems(plan, plan.items.slice(from, from + MOST), fleet);
      if (refused !== null) return refused;
    }
    return null;
  } catch (error) {
    const obstacle = obstacleOf(error);
    return `${plan.run.id}: ${obstacle.kind === 'unreadable' ? obstacle.reason : 'it is gone already'}`;
  }
}

async function deleteRun({ run }: RunPlan, fleet: Fleet): Promise<string | null> {
  const mark = newMark();
  const what = run.state === 'done' ? 'done' : 'all';
  const ack = await fleet.request({ verb: 'discard', id: run.id, mark, what });
  if (!ack.ok) return refusalWords(ack);
  await rm(runAside(run.directory, mark), { recursive: true, force: true });
  return null;
}

async function deleteItems({ run }: RunPlan, items: readonly PlannedItem[], fleet: Fleet): Promise<string | null> {
  const { id, directory } = run;
  const mark = newMark();
  const replacement = join(directory, replacementName(mark));
  try {
    const what = items.map((item) => discardFor(directory, item, mark));
    const ack = await fleet.request({ verb: 'discard', id, mark, what });
    // Includes items that were set aside before a refusal.
    for (const [place, { discard }] of items.entries()) {
      await rm(join(directory, pathAside(discard.path, mark, place)), { recursive: true, force: true });
    }
    return ack.ok ? null : refusalWords(ack);
  } finally {
    rmSync(replacement, { force: true });
  }
}

/** For a file that is cut, the remaining part is written first. */
function discardFor(directory: string, { discard, cutAt }: PlannedItem, mark: string): PlannedItem['discard'] {
  if (cutAt === undefined) return discard;
  const name = replacementName(mark);
  copyFrom(join(directory, discard.path), cutAt, join(directory, dirname(discard.path), name));
  return { ...discard, replacement: name };
}

/** The message of a refusal and its fix. */
export function refusalWords({ message, fix }: Extract<Ack, { ok: false }>): string {
  return fix === null ? message : `${message} → ${fix}`;
}

/** A random mark of sixteen hexadecimal digits. */
export function newMark(): string {
  return randomBytes(8).toString('hex');
}
