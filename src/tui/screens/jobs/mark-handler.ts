import type { RunId } from '../../state/port.js';
import { type Handler, refuse } from '../../keys/key-context.js';

/** Marks the selected run or all runs of the selected group; unmarks them if all are marked. */
export const mark: Handler = (ui, at) => {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is no run to mark.');
  const ids = node.kind === 'run' ? [node.run.id] : node.runs.map(({ id }) => id);
  const marks = new Set(ui.marks);
  const areAll = ids.every((id) => marks.has(id));
  for (const id of ids) {
    if (areAll) marks.delete(id);
    else marks.add(id);
  }
  return { ui: { ...ui, marks } };
};

/** Marks every run that the filter shows; removes all marks if all of them are marked. */
export const markAll: Handler = (ui, at) => {
  const ids = at.groups.flatMap(({ runs }) => runs.map(({ id }) => id));
  if (ids.length === 0) return refuse(ui, 'There is no run to mark.');
  const marks = ids.every((id) => ui.marks.has(id)) ? new Set<RunId>() : new Set([...ui.marks, ...ids]);
  const text = marks.size === 0 ? 'No run is marked.' : `${marks.size} ${marks.size === 1 ? 'run' : 'runs'} marked.`;
  return { ui: { ...ui, marks, note: { text, tone: 'dim' } } };
};

/** The marks without those of runs that no longer exist; the same set if none are removed. */
export function livingMarks(marks: ReadonlySet<RunId>, runs: ReadonlyMap<RunId, unknown>): ReadonlySet<RunId> {
  for (const id of marks) if (!runs.has(id)) return new Set([...marks].filter((other) => runs.has(other)));
  return marks;
}
