import type { RunId } from '../../base/ids.js';
import { obstacleOf } from '../../files/regular-file.js';
import { counted } from '../../text/numbers.js';
import { isTurnOver, nextTurn } from '../../processes/turn.js';
import type { CommandHandler, RequestPorts } from './request.js';

type AnnotatePorts = Pick<RequestPorts, 'plannedRuns' | 'annotations'> & {
  loop: Pick<RequestPorts['loop'], 'changed'>;
};

/** Stores a user's annotations of runs, a few at a time; the answer lists the failures. */
export const annotate: CommandHandler<'annotate', AnnotatePorts> = async (
  { ids, change },
  { plannedRuns, annotations, loop },
) => {
  const refused: { id: RunId; why: string }[] = [];
  const done: RunId[] = [];
  for (const id of new Set(ids)) {
    if (isTurnOver()) await nextTurn();
    const run = plannedRuns.of(id);
    try {
      if (run === null) refused.push({ id, why: 'is not known here' });
      else if (annotations.change(run, change)) done.push(id);
    } catch (error) {
      refused.push({ id, why: `cannot be written to: ${reasonOf(error)}` });
    }
  }
  loop.changed(done);
  return answer(done.length, new Set(ids).size - refused.length - done.length, refused);
};

function reasonOf(error: unknown): string {
  const obstacle = obstacleOf(error);
  return obstacle.kind === 'unreadable' ? obstacle.reason : 'its directory is gone';
}

function answer(done: number, same: number, refused: readonly { id: RunId; why: string }[]) {
  const [first] = refused;
  const why = first === undefined ? null : `${first.id} ${first.why}`;
  if (done + same === 0) return { ok: false as const, message: why ?? 'there are no such runs', fix: null };
  const parts = [
    done === 0 ? 'nothing to change' : `${counted(done, 'run')} changed`,
    ...(done > 0 && same > 0 ? [`${same} as before`] : []),
    ...(why === null ? [] : [`${refused.length} not: ${why}`]),
  ];
  return { ok: true as const, message: parts.join('; ') };
}
