import type { WindowModel } from '../model/window-model.js';
import { jobsLayout } from '../screens/jobs/layout.js';
import type { Size } from '../surface/surface.js';
import { listPane, listRows } from '../widgets/run-list/list-pane.js';
import { type Line, span } from '../surface/span.js';
import { bodyOf, isSmall, isTooSmall } from './layout.js';

/** The list where the screen will have it, shown before the components are loaded. */
export function firstPicture(model: WindowModel, size: Size): readonly Line[] {
  if (isTooSmall(size)) return [];
  const small = isSmall(size);
  const { list } = jobsLayout(bodyOf(size), {
    ...{ isSmall: small, rows: model.rows.length, wanted: model.ui.panes.list },
  });
  if (small) return [[span(model.title, 'title')], ...listRows(model, list.width, list.height)];
  return [[span(` ${model.title}`, 'title')], [], [], ...listPane(model, list.width, list.height)];
}
