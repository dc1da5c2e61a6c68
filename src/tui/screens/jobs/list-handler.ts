import { assertNever } from '../../../base/assert-never.js';
import type { ListCommand } from '../../state/command.js';
import type { ListDialog } from '../../state/list-dialog.js';
import { openColumns, pressInColumns } from '../../dialogs/columns-handler.js';
import { openFilter } from '../../dialogs/filter-handler.js';
import { openGrouping, pressInGrouping } from '../../dialogs/grouping-handler.js';
import { toggleFailures } from './failures-handler.js';
import { mark, markAll } from './mark-handler.js';
import { nextSort, reverseSort } from './sort-handler.js';
import { openViews, pressInViews } from '../../dialogs/views-handler.js';
import { type Handler, type Pressed, refuse, type KeyContext } from '../../app/key-context.js';
import type { UiState } from '../../state/ui-state.js';

export const handleList: Record<ListCommand, Handler> = {
  mark,
  'mark-all': markAll,
  filter: openFilter,
  failures: toggleFailures,
  group: openGrouping,
  sort: nextSort,
  'reverse-sort': reverseSort,
  columns: openColumns,
  views: openViews,
  metric: chooseMetric,
};

/** One key in a dialog about the look of the list. */
export function pressInListDialog(ui: UiState, dialog: ListDialog, key: string, at: KeyContext): Pressed {
  switch (dialog.kind) {
    case 'grouping':
      return pressInGrouping(ui, dialog, key, at);
    case 'columns':
      return pressInColumns(ui, dialog, key, at);
    case 'views':
      return pressInViews(ui, dialog, key, at);
    default:
      return assertNever(dialog);
  }
}

function chooseMetric(ui: UiState, at: KeyContext): Pressed {
  if (at.metrics.length === 0) return refuse(ui, 'No run has written a metric yet.');
  const index = Math.max(0, at.metrics.indexOf(at.metric ?? ''));
  return { ui: { ...ui, dialog: { kind: 'metrics', index } } };
}
