import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { columnWords } from './columns-handler.js';
import type { GroupChoice } from '../model/group-choices.js';
import { groupingWords, isSameLevel, levelWords } from '../state/grouping.js';
import { type ColumnId, columnKey, initialColumns } from '../state/list-column-id.js';
import type { ListDialog } from '../state/list-dialog.js';
import { isSameLook, lookOf } from '../state/list-look.js';
import type { SavedView } from '../state/preferences-port.js';
import { scrollTo } from '../widgets/scroll.js';
import { viewsOf } from './views-handler.js';
import { lineWithCursor } from '../widgets/line-with-cursor.js';
import type { Box } from './box.js';
import { isInitialSort, sortWords } from '../state/sort.js';
import { fit, fitRight, type Line, onBackground, span } from '../widgets/span.js';
import type { WindowModel } from '../model/window-model.js';

/** Rows a dialog has at most, so that the list it is about stays in sight. */
const mostRows = 20;
const nameWidths = { least: 16, most: 40 };

/** One of the dialogs about the look of the list. `rows`: lines there is room for. */
export function listDialogBox(model: WindowModel, dialog: ListDialog, rows: number): Box {
  const lines = linesOf(model, dialog).map((line, index) =>
    index === dialog.index ? onBackground(line, 'selected') : line,
  );
  const prompt = dialog.kind === 'views' && dialog.name !== null ? [namePrompt(dialog.name)] : [];
  const room = Math.max(1, Math.min(rows, mostRows) - prompt.length);
  const top = scrollTo(dialog.index, Math.max(0, dialog.index - (room >> 1)), room, lines.length);
  const below = Math.max(0, lines.length - top - room);
  return { title: titles[dialog.kind], lines: [...lines.slice(top, top + room), ...prompt], below };
}

const titles: Record<ListDialog['kind'], string> = { grouping: 'group by', columns: 'columns', views: 'views' };

function linesOf(model: WindowModel, dialog: ListDialog): Line[] {
  if (dialog.kind === 'grouping') return groupingLines(model);
  return dialog.kind === 'columns' ? columnLines(model, dialog.order) : viewLines(model);
}

/** What there is to group by, the level it is on now, and how many groups it gives. */
function groupingLines({ groupChoices, ui }: WindowModel): Line[] {
  const choices = groupChoices();
  const width = widthFor(choices.map(({ by }) => levelWords(by)));
  return choices.map((choice) => groupingLine(choice, ui.grouping, width));
}

function groupingLine({ by, groups }: GroupChoice, grouping: WindowModel['ui']['grouping'], width: number): Line {
  const level = isSameLevel(by, grouping[0]) ? '1' : isSameLevel(by, grouping[1]) ? '2' : ' ';
  return [
    span(` ${level} `, 'accent'),
    span(fit(cleanText(levelWords(by)), width), level === ' ' ? 'plain' : 'strong'),
    span(fitRight(`${groups} ${groups === 1 ? 'group' : 'groups'} `, 13), 'dim'),
  ];
}

/** Every column there can be, with a sign before those that are shown and what kind of thing it is behind it. */
function columnLines({ ui, metric }: WindowModel, order: readonly ColumnId[]): Line[] {
  const shown = new Set<ColumnId>(ui.columns ?? initialColumns);
  const width = widthFor(order.map((column) => columnWords(column, metric)));
  return order.map((column): Line => {
    const isShown = shown.has(column);
    const arrow = ui.sort.by !== column ? '' : ui.sort.isReversed ? '↑' : '↓';
    return [
      span(isShown ? ' ✓ ' : '   ', 'good'),
      span(fit(cleanText(columnWords(column, metric)), width), isShown ? 'strong' : 'plain'),
      span(fit(` ${arrow}`, 3), 'accent'),
      span(fit(columnKey(column)?.kind ?? '', 10), 'dim'),
    ];
  });
}

/** The saved views with what makes them, the one that is shown now with a sign. */
function viewLines({ ui }: WindowModel): Line[] {
  const views = viewsOf(ui);
  const width = widthFor(views.map(({ name }) => name));
  const words = views.map(viewWords);
  const rest = Math.max(...words.map(textWidth));
  return views.map((view, index): Line => {
    const isShown = isSameLook(view, lookOf(ui));
    return [
      span(isShown ? ' ✓ ' : '   ', 'good'),
      span(fit(cleanText(view.name), width), isShown ? 'strong' : 'plain'),
      span(`  ${fit(words[index]!, rest)} `, 'dim'),
    ];
  });
}

function viewWords({ filter, grouping, sort, metric, columns }: SavedView): string {
  const parts = [
    `by ${groupingWords(grouping)}`,
    filter === '' ? null : `filter ${filter}`,
    isInitialSort(sort) ? null : sortWords(sort, metric),
    metric,
    columns === null ? null : `${columns.length} columns`,
  ];
  return cleanText(parts.filter((part) => part !== null).join(' · '));
}

function namePrompt(name: NonNullable<Extract<ListDialog, { kind: 'views' }>['name']>): Line {
  return [span(' save as ', 'title'), ...lineWithCursor(name, nameWidths.most)];
}

function widthFor(names: readonly string[]): number {
  return Math.min(nameWidths.most, Math.max(nameWidths.least, ...names.map(textWidth)));
}
