import { scrollTo } from '../scroll.js';
import { branchRow, listHeading, runRow, shortKey } from './list-row.js';
import { listColumns } from './list-columns.js';
import { fitLine, type Line, onGround, span } from './span.js';
import { type WindowModel } from './window-model.js';

/** The tree of groups and runs: a heading and `height - 1` rows, of which only those on the screen are computed. */
export function listPane(model: WindowModel, width: number, height: number): Line[] {
  const heading = shortKey(model.metric ?? '');
  return [fitLine(listHeading(listColumns(width, heading), heading), width), ...listRows(model, width, height - 1)];
}

/** The rows alone, for a small screen. */
export function listRows(model: WindowModel, width: number, height: number): Line[] {
  const { rows, index, ui } = model;
  if (rows.length === 0) return emptyList(model, width, height);
  const columns = listColumns(width, shortKey(model.metric ?? ''));
  const top = scrollTo(index, ui.top, height, rows.length);
  return rows.slice(top, top + height).map((node, offset) => {
    const line =
      node.kind === 'run'
        ? runRow(node, columns, model.metric, model.now)
        : branchRow(node, columns, model.isFolded(node), node.kind === 'group' ? jumpNumber(model, node.key) : null);
    return top + offset === index ? onGround(line, 'selected') : line;
  });
}

/** The digit that jumps to a group; null from the eleventh on. */
function jumpNumber({ groups }: WindowModel, key: string): number | null {
  const position = groups.slice(0, 10).findIndex((group) => group.key === key);
  return position < 0 ? null : (position + 1) % 10;
}

function emptyList({ ui, tally }: WindowModel, width: number, height: number): Line[] {
  const why =
    tally.total > 0
      ? [`No run matches ${ui.filter}`, 'Esc shows all runs again.']
      : ['There are no runs yet.', 'They appear here as soon as they are submitted.'];
  return why.slice(0, height).map((text) => fitLine([span(`  ${text}`, 'dim')], width));
}
