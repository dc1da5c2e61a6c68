import { axes } from './axes.js';
import { columns } from './columns.js';
import { confirm } from './confirm.js';
import { chart } from './chart.js';
import type { DialogModule, DialogState } from './dialog-module.js';
import { draft } from './draft.js';
import { filter } from './filter.js';
import { grouping } from './grouping.js';
import { help } from './help.js';
import { metrics } from './metrics.js';
import { palette } from './palette/palette.js';
import { search } from './search.js';
import { sweeps } from './sweeps.js';
import { typeLine } from './type-line.js';
import { views } from './views.js';
import { wallFilter } from './wall-filter.js';
import { xAxis } from './x-axis.js';

/** All dialogs. A new one needs its file, its kind in `state/ui-state.ts`, and its line here. */
export const dialogs: { readonly [Kind in DialogState['kind']]: DialogModule<Kind> } = {
  help,
  metrics,
  'x-axis': xAxis,
  chart,
  axes,
  filter,
  search,
  type: typeLine,
  'wall-filter': wallFilter,
  palette,
  grouping,
  columns,
  sweeps,
  views,
  draft,
  confirm,
};
