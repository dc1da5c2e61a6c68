import { selectedNode, type WindowModel } from '../../model/window-model.js';
import { fitLine, type Line, span } from '../../surface/span.js';
import type { Size } from '../../surface/surface.js';
import { chartSection } from '../../widgets/chart/chart-section.js';
import { listPane, listRows } from '../../widgets/run-list/list-pane.js';
import { detailPane, headingOf, unstartedDetail } from './detail-pane.js';
import { jobsLayout } from './layout.js';

type DrawLines = (model: WindowModel, size: Size) => readonly Line[];

export const drawList: DrawLines = (model, { width, height }) => listPane(model, width, height);
export const drawRows: DrawLines = (model, { width, height }) => listRows(model, width, height);
export const drawDetail: DrawLines = (model, { width, height }) => detailPane(model, width, height);

/** The curve with its name, for small areas. */
export const drawStrip: DrawLines = (model, { width, height }) => {
  const node = selectedNode(model);
  const unstarted = node === undefined ? null : unstartedDetail(node, model, width, height);
  if (unstarted !== null) return unstarted.map((line) => fitLine(line, width));
  const first = model.detail.charts[0];
  const heading = node === undefined ? [] : headingOf(node, model, width);
  const rest = { width, height: height - heading.length };
  const curve = first === undefined ? [] : chartSection(first, model.detail, rest);
  return [...heading, ...curve].map((line) => fitLine(line, width));
};

/** The line between list and details. */
export const ruleLine: Line = [span(' │ ', 'faint')];

/** The whole screen, without components. */
export function jobsLines(model: WindowModel, size: Size, isSmall: boolean): readonly Line[] {
  const { list, strip, pane } = jobsLayout(size, { isSmall, rows: model.rows.length, wanted: model.ui.panes.list });
  const rows = (isSmall ? drawRows : drawList)(model, list);
  const right = pane === 0 ? [] : drawDetail(model, { width: pane, height: size.height });
  const upper = Array.from({ length: list.height }, (_, row) => {
    const line = fitLine(rows[row] ?? [], list.width);
    return pane === 0 ? line : [...line, ...ruleLine, ...(right[row] ?? [])];
  });
  return [...upper, ...(strip === 0 ? [] : drawStrip(model, { width: size.width, height: strip }))];
}
