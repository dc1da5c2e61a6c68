import { type Handler, type Pressed, refuse, type KeyContext } from '../../keys/key-context.js';
import { troubleOf } from '../../../analysis/failures/failure-kinds.js';
import { lookOf, withLook } from '../../state/list-look.js';
import type { UiState } from '../../state/ui-state.js';
import { counted } from '../../../text/numbers.js';
import type { FleetStatus, RunId, RunSummary } from '../../state/port.js';
import { initialColumns, type Sort, sortsFor, sortWords } from '../../state/list-choice.js';

/** Matches all runs with a problem. */
const wrong = 'status:failed,lost or not health:ok';

/**
 * Shows only runs with a problem, by kind, most frequent first; the second time restores the list. While runs are unread the list may
 * be empty, and fills as problems are found.
 */
export const toggleFailures: Handler = (ui, at) => {
  const left = leaveFailures(ui);
  if (left !== null) return left;
  if (isAllRead(at.status) && !at.runs.some((run) => troubleOf(run) !== null))
    return refuse(ui, 'No run has failed, and nothing is wrong with any.');
  return {
    ui: {
      ...ui,
      screen: { kind: 'jobs' },
      filter: ui.filter === '' ? wrong : `(${ui.filter}) (${wrong})`,
      grouping: [{ kind: 'error' }],
      ...{ selected: null, index: 0, top: 0 },
      beforeFailures: lookOf(ui),
    },
  };
};

function isAllRead({ unread = 0, isSearching = false }: FleetStatus): boolean {
  return unread === 0 && !isSearching;
}

/** Restores the list from before the failures; null: they are not shown. */
export function leaveFailures(ui: UiState): Pressed | null {
  const { beforeFailures, grouping } = ui;
  if (beforeFailures === null || grouping[0].kind !== 'error') return null;
  const note = { text: 'Showing the list as it was.', tone: 'dim' } as const;
  return { ui: { ...withLook(ui, beforeFailures), beforeFailures: null, note } };
}

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

/** Stars the marked runs, or otherwise the selected run or group; removes the stars if all of them have one. */
export const star: Handler = (ui, at) => {
  const runs = ui.marks.size > 0 ? at.runs.filter(({ id }) => ui.marks.has(id)) : selected(at);
  if (runs.length === 0) return refuse(ui, 'There is no run to star.');
  const starred = !runs.every(({ annotation }) => annotation?.starred === true);
  const what = runs.length === 1 ? runs[0]!.name : counted(runs.length, 'run');
  const ids = runs.map(({ id }) => id);
  return {
    ui,
    order: { type: 'annotate', ids, change: { starred }, doing: `${starred ? 'Starring' : 'Unstarring'} ${what}` },
  };
};

function selected({ rows, index }: Parameters<Handler>[1]): readonly RunSummary[] {
  const node = rows[index];
  if (node === undefined) return [];
  return node.kind === 'run' ? [node.run] : node.runs;
}

/** Sorts by the next order: the usual ones, then added columns. */
export const nextSort: Handler = (ui, at) => {
  const sorts = sortsFor(ui.columns ?? initialColumns);
  const by = sorts[(sorts.indexOf(ui.sort.by) + 1) % sorts.length]!;
  return orderedBy(ui, { by, isReversed: false }, at);
};

/** Reverses the present order. */
export const reverseSort: Handler = (ui, at) => orderedBy(ui, { ...ui.sort, isReversed: !ui.sort.isReversed }, at);

export function orderedBy(ui: UiState, sort: Sort, { metric }: KeyContext): Pressed {
  return { ui: { ...ui, sort, note: { text: `Sorted by ${sortWords(sort, metric)}.`, tone: 'dim' } } };
}
