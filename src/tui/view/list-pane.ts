import { Memo } from '../memo.js';
import { Memoized } from '../memoize.js';
import { scrollTo } from '../scroll.js';
import type { TreeNode } from './branch-index.js';
import { branchRow } from './list-branch-row.js';
import { gutter, type ListLayout, listLayout } from './list-columns.js';
import { listHeading } from './list-heading.js';
import { runRow } from './list-row.js';
import { fitLine, type Line, onBackground, span } from './span.js';
import type { WindowModel } from './window-model.js';

/** Rows that are looked at for the longest name: the layout must not change while one scrolls. */
const measured = 200;

/** The tree of groups and runs: a heading and `height - 1` rows, of which only those on the screen are computed. */
export function listPane(model: WindowModel, width: number, height: number): Line[] {
  const heading = listHeading(layoutFor(model, width), model.ui.sort);
  return [fitLine(heading, width), ...listRows(model, width, height - 1)];
}

/** The rows alone, for a small screen. */
export function listRows(model: WindowModel, width: number, height: number): Line[] {
  const { rows, index, ui } = model;
  if (rows.length === 0) return emptyList(model, width, height);
  const layout = layoutFor(model, width);
  const top = scrollTo(index, ui.top, height, rows.length);
  return rows.slice(top, top + height).map((node, offset) => {
    const line = rowOf(node, model, layout);
    return top + offset === index ? onBackground(line, 'selected') : line;
  });
}

/** As wide as the layout; drawn again only when something has changed that it shows. A node is never changed itself. */
function rowOf(node: TreeNode, model: WindowModel, layout: ListLayout): Line {
  let last = drawn.get(node);
  if (last === undefined) drawn.set(node, (last = new Memoized<Line>()));
  const { marks } = model.ui;
  if (node.kind === 'run') {
    const isMarked = marks.has(node.run.id);
    const { now, metric } = model;
    return last.value([layout, now, metric, isMarked], () =>
      fitLine(runRow(node, isMarked, layout, { now, metric }), layout.total),
    );
  }
  const isFolded = model.isFolded(node);
  const digit = node.kind === 'group' ? jumpNumber(model, node.key) : null;
  return last.value([layout, isFolded, digit, marks], () =>
    fitLine(branchRow(node, layout, { isFolded, digit, marks }), layout.total),
  );
}

const drawn = new WeakMap<TreeNode, Memoized<Line>>();

/** The same object for as long as nothing in it has changed. */
function layoutFor({ rows, ui, metric, variety }: WindowModel, width: number): ListLayout {
  const longest = rows.slice(0, measured).reduce((most, node) => Math.max(most, nameWidth(node)), 0);
  const { columns } = ui;
  return layouts.value(variety, JSON.stringify([width, longest, metric, columns]), () =>
    listLayout(width, { columns, metric, longest, variety }),
  );
}

const layouts = new Memo<WindowModel['variety'], ListLayout>(4);

/** Columns of mark, indentation, sign and name; a group's name may be longer, for it can take the room of its bar. */
function nameWidth(node: TreeNode): number {
  return node.kind === 'run' ? gutter + 2 * node.depth + 2 + node.label.length : 0;
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
