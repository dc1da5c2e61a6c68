import type { ListCommand } from '../../state/command.js';
import { menuAt } from '../../state/menu-state.js';
import { openColumns } from '../../dialogs/columns.js';
import { openFilter } from '../../dialogs/filter.js';
import { openGrouping } from '../../dialogs/grouping.js';
import { toggleFailures } from './failures-handler.js';
import { mark, markAll } from './mark-handler.js';
import { nextSort, reverseSort } from './sort-handler.js';
import { openViews } from '../../dialogs/views.js';
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

function chooseMetric(ui: UiState, at: KeyContext): Pressed {
  if (at.metrics.length === 0) return refuse(ui, 'No run has written a metric yet.');
  const index = at.metrics.indexOf(at.metric ?? '');
  return { ui: { ...ui, dialog: { kind: 'metrics', ...menuAt(index) } } };
}
