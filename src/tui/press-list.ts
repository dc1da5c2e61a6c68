import { type ListCommand } from './command.js';
import { openFilter } from './press-filter.js';
import { type Obey, type Pressed, refuse, type Situation } from './situation.js';
import { type UiState } from './ui-state.js';
import { initialColumns } from './list-column-id.js';
import { type Sort, sortsFor, sortWords } from './view/sort.js';

export const obeyList: Record<ListCommand, Obey> = {
  mark,
  'mark-all': markAll,
  filter: openFilter,
  group: (ui) => refuse(ui, 'The runs cannot be grouped otherwise.'),
  sort: nextSort,
  columns: (ui) => refuse(ui, 'There are no other columns.'),
  views: (ui) => refuse(ui, 'There are no saved views.'),
  metric: chooseMetric,
};

/** Marks the selected run, or all runs of the selected group; unmarks them when all of them are marked. */
function mark(ui: UiState, at: Situation): Pressed {
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
}

/** Marks every run that is shown; unmarks all when any is marked. */
function markAll(ui: UiState, at: Situation): Pressed {
  if (ui.marks.size > 0) return { ui: { ...ui, marks: new Set() } };
  return { ui: { ...ui, marks: new Set(at.groups.flatMap(({ runs }) => runs.map(({ id }) => id))) } };
}

function nextSort(ui: UiState, at: Situation): Pressed {
  const sorts = sortsFor(ui.columns ?? initialColumns);
  const by = sorts[(sorts.indexOf(ui.sort.by) + 1) % sorts.length]!;
  return ordered(ui, { by, isReversed: false }, at);
}

function ordered(ui: UiState, sort: Sort, { metric }: Situation): Pressed {
  return { ui: { ...ui, sort, note: { text: `Order: ${sortWords(sort, metric)}.`, tone: 'dim' } } };
}

function chooseMetric(ui: UiState, at: Situation): Pressed {
  if (at.metrics.length === 0) return refuse(ui, 'No run has written a metric yet.');
  const index = Math.max(0, at.metrics.indexOf(at.metric ?? ''));
  return { ui: { ...ui, dialog: { kind: 'metrics', index } } };
}
