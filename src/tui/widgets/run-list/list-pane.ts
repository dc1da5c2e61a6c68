import { STAR } from '../../../base/annotation.js';
import { Memo, Memoized } from '../../../base/memo.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { fitDistinct } from '../../../text/distinct-names.js';
import { countText } from '../../../text/numbers.js';
import { scrollTo } from '../../model/selection.js';
import { runLook, runReason, stateLook, waitsForInput } from '../../model/state-look.js';
import type { Tally } from '../../model/tally.js';
import { type BranchQuestion, branchValue } from '../../model/tree/branch-value.js';
import { type Branch, markState, type RunNode, type TreeNode } from '../../model/tree/branch.js';
import type { WindowModel } from '../../model/window-model.js';
import { type ColumnId, columnKey, isFlat, isInitialSort, type Sort, type SortBy } from '../../state/list-choice.js';
import type { RunId, RunSummary } from '../../state/port.js';
import {
  ends,
  fit,
  fitLine,
  fitRight,
  type Line,
  lineWidth,
  onBackground,
  span,
  type Tone,
} from '../../surface/span.js';
import { countsLine, progressBar, shortKey } from '../line-parts.js';
import { besideValue, branchCell, type CellContext, percentOf, runCell } from './list-cells.js';
import { failureHeading, type FailureLayout, failureLayout, failureRow } from './failure-row.js';
import {
  edgeAt,
  gutter,
  type ListColumn,
  type ListLayout,
  listLayout,
  percentWidth,
  wideColumns,
} from './list-columns.js';

/** Number of rows measured for the longest name. Fixed, since the layout must not change during scrolling. */
const measured = 200;

/** The tree of groups and runs: a heading and `height - 1` rows, of which only the visible ones are computed. */
export function listPane(model: WindowModel, width: number, height: number): Line[] {
  return [fitLine(headingOf(model, width, height - 1), width), ...listRows(model, width, height - 1)];
}

/** `height`: of the rows below the heading. */
function headingOf(model: WindowModel, width: number, height: number): Line {
  const { rows, index, ui } = model;
  if (ui.grouping[0].kind === 'error') return failureHeading(failuresLaidOut(model, width));
  const position = rows.length > height ? { at: index + 1, of: rows.length } : null;
  return listHeading(layoutFor(model, width), ui.sort, position);
}

/** The order chosen by a click on the heading; null: none. `column`: of the list, from 0. */
export function sortOfHeading(model: WindowModel, width: number, column: number): SortBy | null {
  const layout = shownLayout(model, width);
  return layout === null ? null : sortAt(layout, column);
}

/** The column whose left edge is at a column of the screen, and the layout; null: no edge is there, or the list shows failures. */
export function pressedEdge(
  model: WindowModel,
  width: number,
  column: number,
): { readonly layout: ListLayout; readonly id: ColumnId } | null {
  const layout = shownLayout(model, width);
  const id = layout === null ? null : edgeAt(layout, column);
  return layout === null || id === null ? null : { layout, id };
}

/** The layout of the list; null: it shows failures, which have columns of their own. */
export function shownLayout(model: ListOf, width: number): ListLayout | null {
  return model.ui.grouping[0].kind === 'error' ? null : layoutFor(model, width);
}

/** The rows without heading, for a small screen. */
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

/** One row as wide as the layout, cached until something it shows changes. Nodes are never modified. */
function rowOf(node: TreeNode, model: WindowModel, layout: ListLayout): Line {
  let last = drawn.get(node);
  if (last === undefined) drawn.set(node, (last = new Memoized<Line>()));
  const { marks } = model.ui;
  const colour = model.colours.get(node.key) ?? null;
  if (node.kind === 'run') {
    const edge = { isMarked: marks.has(node.run.id), colour };
    const { now, metric } = model;
    return last.value([layout, now, metric, edge.isMarked, colour], () =>
      fitLine(runRow(node, edge, layout, { now, metric }), layout.total),
    );
  }
  const isFolded = model.isFolded(node);
  const digit = node.kind === 'group' ? jumpNumber(model, node.key) : null;
  const place = { isFolded, digit, marks, colour };
  if (node.kind === 'waiting')
    return last.value([layout, isFolded, marks], () => fitLine(waitingRow(node, place), layout.total));
  const { now, metric, x } = model;
  if (!node.isFailure) {
    const answers = model.answers();
    return last.value([layout, isFolded, digit, marks, colour, metric, x, answers], () =>
      fitLine(branchRow(node, layout, place, { metric, x, answers }), layout.total),
    );
  }
  const found = model.causeOf(node);
  const { kind, cause } = failuresLaidOut(model, layout.total);
  return last.value([layout, isFolded, digit, marks, colour, now, found, kind, cause], () =>
    failureRow(node, branchSign(node, place), found, { kind, cause, now }),
  );
}

/** The layout of failures, the same for all rows of a frame. */
function failuresLaidOut(model: WindowModel, width: number): FailureLayout {
  return failureLayouts.value(model, String(width), () => failureLayout(model, width));
}

const failureLayouts = new Memo<WindowModel, FailureLayout>(1);

const drawn = new WeakMap<TreeNode, Memoized<Line>>();

type ListOf = Pick<WindowModel, 'rows' | 'ui' | 'metric' | 'show' | 'objective' | 'varyingParameters'>;

/** Returns the same object while nothing in it has changed. */
function layoutFor({ rows, ui, metric, show, objective, varyingParameters }: ListOf, width: number): ListLayout {
  const longest = rows.slice(0, measured).reduce((most, node) => Math.max(most, nameWidth(node)), 0);
  const columns = ui.columns ?? wideColumns(width, metric, show);
  const { columns: widths } = ui.panes;
  const isFullName = isFlat(ui.grouping);
  return layouts.value(
    varyingParameters,
    JSON.stringify([width, longest, metric, objective, columns, isFullName, widths]),
    () => listLayout(width, { columns, metric, objective, longest, isFullName, widths, varyingParameters }),
  );
}

const layouts = new Memo<WindowModel['varyingParameters'], ListLayout>(4);

/** Columns of mark, indentation, symbol and name. A group's name can be longer, because it can use the room of its bar. */
function nameWidth(node: TreeNode): number {
  return node.kind === 'run' ? gutter + 2 * node.depth + 2 + textWidth(node.label) : 0;
}

/** The digit that jumps to a group; null from the eleventh on. */
function jumpNumber({ groups }: WindowModel, key: string): number | null {
  const position = groups.slice(0, 10).findIndex((group) => group.key === key);
  return position < 0 ? null : (position + 1) % 10;
}

function emptyList({ ui, tally, status }: WindowModel, width: number, height: number): Line[] {
  const why =
    ui.grouping[0].kind === 'error' && ui.beforeFailures !== null
      ? noFailures(status)
      : tally.total > 0
        ? [`No run matches ${ui.filter}`, 'Esc shows all runs again.']
        : ['There are no runs yet.', 'They appear here as soon as they are submitted.'];
  return why.slice(0, height).map((text) => fitLine([span(`  ${text}`, 'dim')], width));
}

/** Why the list of failures is empty; it fills by itself while more is read. */
function noFailures({ unread = 0, isSearching = false }: WindowModel['status']): string[] {
  if (unread === 0 && !isSearching)
    return ['No run has failed, and nothing is wrong with any.', 'Esc shows all runs again.'];
  const what =
    unread === 0
      ? 'runs are still being looked for'
      : `${countText(unread)} of the runs ${unread === 1 ? 'is' : 'are'} not read yet`;
  return [`No failure so far, but ${what}.`, 'This list fills as problems are found.'];
}

/** Display state of a group. `digit`: the key that jumps to it, or null. */
type BranchPlace = {
  readonly isFolded: boolean;
  readonly digit: number | null;
  readonly marks: ReadonlySet<RunId>;
  /** Colour of its curves; null: none are drawn. */
  readonly colour: Tone | null;
};

/** What the values of a group depend on, whatever the column. */
type Asked = Omit<BranchQuestion, 'column'>;

/** A group or subgroup with totals of its runs. */
function branchRow(branch: Branch, layout: ListLayout, place: BranchPlace, asked: Asked): Line {
  const [mark, ...sign] = branchSign(branch, place);
  const name = (room: number): Line => [...sign, ...branchName(branch, room - lineWidth(sign))];
  const { columns } = layout;
  const head = columns.slice(0, headLength(columns));
  const rest = columns.slice(head.length);
  return [mark!, ...headOf(branch.tally, name, layout.name, head), ...tail(branch, rest, asked)];
}

/** The label, shortened to `room` columns if necessary, and the title, which may be longer. */
function branchName({ kind, label, among, title }: Branch, room: number): Line {
  const tone = kind === 'group' ? 'title' : 'strong';
  const columns = Math.min(room, textWidth(label));
  return [span(fitDistinct(label, columns, among), tone), span(title === null ? '' : `  ${title}`, 'dim')];
}

/** Runs that wait for the same thing: their number and the reason, across all columns. */
function waitingRow(branch: Branch, place: BranchPlace): Line {
  const { glyph, tone } = stateLook[branch.runs[0]!.state];
  return [...branchSign(branch, place), span(`${glyph} ${branch.label}`, tone)];
}

/** The mark, the fold symbol and the digit. */
function branchSign(branch: Branch, { isFolded, digit, marks, colour }: BranchPlace): Line {
  return [
    edgeSign(markState(branch, marks), colour),
    span(`${'  '.repeat(branch.depth)}${isFolded ? '▸' : '▾'} `, 'dim'),
    span(digit === null ? '' : `${digit} `, 'faint'),
  ];
}

/** Number of columns after the name that a group uses for its name, progress and counts. */
function headLength(columns: readonly ListColumn[]): number {
  const end = columns.findIndex(({ id }) => id !== 'progress' && id !== 'left');
  return end < 0 ? columns.length : end;
}

/**
 * Name, progress and counts. The bar is aligned with those of other rows if the name leaves it room; a longer title replaces the
 * bar.
 */
function headOf(tally: Tally, name: FittingName, nameWidth: number, columns: readonly ListColumn[]): Line {
  const middle = columns.reduce((sum, { width }) => sum + width + 1, 0);
  const counts = countsLine(tally);
  const bar = columns[0]?.id === 'progress' ? columns[0].width - percentWidth - 1 : 0;
  const percent = percentOf(tally.progress).padStart(percentWidth);
  const whole = name(Infinity);
  if (lineWidth(whole) > nameWidth || bar <= 0) return longNamed(name, percent, counts, nameWidth + middle);
  const room = middle - bar - 2;
  const words = [span(`${percent} `, 'dim'), ...counts];
  const shown = lineWidth(words) <= room ? words : counts;
  if (lineWidth(shown) > room) return longNamed(name, percent, counts, nameWidth + middle);
  return [
    ...fitLine(whole, nameWidth),
    span(' '),
    ...progressBar(tally.progress, bar, 'accent'),
    span(' '),
    ...fitLine(shown, room),
  ];
}

/** The counts at the right end, preceded by the percentage if the name leaves room. */
function longNamed(name: FittingName, percent: string, counts: Line, width: number): Line {
  const numbers = [span(`  ${percent.trim()} `, 'dim'), ...counts];
  const fits = lineWidth(name(Infinity)) + lineWidth(numbers) <= width;
  const right = fits ? numbers : [span(' '), ...counts];
  return ends(name(width - lineWidth(right)), right, width);
}

/** Draws the name of a group in the given number of columns. */
type FittingName = (room: number) => Line;

/** The other columns. What belongs to a value, its deviation or its setting, uses the empty columns after it. */
function tail(branch: Branch, columns: readonly ListColumn[], asked: Asked): Line {
  const values = columns.map(({ id }) => branchValue(branch, { ...asked, column: id }));
  const cells = columns.map((column, at) => branchCell(branch, column, values[at]));
  const parts: Line[] = [];
  for (let at = 0, end = 0; at < columns.length; at = end) {
    end = at + 1;
    const value = values[at];
    if (value !== undefined) while (end < columns.length && cells[end] === null) end++;
    const width = widthOf(columns, { from: at + 1, to: end }) + 1;
    const beside = value === undefined ? [] : besideValue(value, width - 1);
    // One end of a range would be taken for a value.
    const isWhole = value?.kind !== 'range' || value.low >= value.high || lineWidth(beside) > 0;
    parts.push(cell(isWhole ? cells[at]! : null, columns[at]!), fitLine(withSpace(beside), width));
  }
  return parts.flat();
}

/** Adds a space before the line within one span, because in ASCII `±` takes two columns. */
function withSpace([first, ...others]: Line): Line {
  return first === undefined ? [] : [{ ...first, text: ` ${first.text}` }, ...others];
}

/** Minimum columns for a reason. */
const leastReason = 12;

/** Words across several columns, from column `from` to before `to`. */
type Words = { readonly text: string; readonly tone: Tone; readonly from: number; readonly to: number };

/** Inputs of the left edge of a run's row. */
type RunEdge = { readonly isMarked: boolean; readonly colour: Tone | null };

/** One run: mark, symbol, name and columns, or the reason for its state across empty columns. */
export function runRow(node: RunNode, { isMarked, colour }: RunEdge, layout: ListLayout, at: CellContext): Line {
  const { run } = node;
  const { columns } = layout;
  const cells = columns.map((column) => runCell(run, column, at));
  const words = wordsOver(run, cells, layout, at.now);
  const parts = columns.flatMap((column, index): Line => {
    if (words === null || index < words.from || index >= words.to) return cell(cells[index]!, column);
    if (index > words.from) return [];
    return [gap, span(fit(words.text, widthOf(columns, words)), words.tone)];
  });
  return [edgeSign(isMarked ? 'all' : 'none', colour), ...nameOf(node, layout.name), ...parts];
}

/**
 * The left edge: a mark, otherwise a dot in the colour of the run's curve if one is drawn. Has its own column, so nothing moves.
 */
function edgeSign(state: 'all' | 'some' | 'none', colour: Tone | null): Line[number] {
  if (state === 'none') return colour === null ? span(' ') : span('•', colour);
  return span(state === 'all' ? '◆' : '◇', colour ?? 'accent');
}

/** A cell preceded by a space. */
function cell(content: Line | null, { width }: ListColumn): Line {
  return content === null ? [span(' '.repeat(width + 1))] : [gap, ...content];
}

const gap = span(' ');

function nameOf(node: RunNode, width: number): Line {
  const { run, label, among, depth } = node;
  const look = runLook(run);
  const indent = '  '.repeat(depth);
  const star = run.annotation?.starred === true ? [span(` ${STAR}`, 'warn')] : [];
  const room = width - indent.length - 2 - lineWidth(star);
  // The star follows the name directly.
  const name = span(` ${fitDistinct(label, room, among).trimEnd()}`);
  return fitLine([span(indent), span(look.glyph, look.tone), name, ...star], width);
}

/** Why a run is not simply running, shown across its progress and empty columns. */
function wordsOver(run: RunSummary, cells: readonly (Line | null)[], layout: ListLayout, now: number): Words | null {
  const { columns } = layout;
  const reason = runReason(run, now);
  if (reason === null) return run.state === 'done' ? doneWords(run, columns) : null;
  if (run.state === 'paused') return pausedWords(reason, cells, columns);
  // Progress and curve say more than the rest of the reason, which is in the heading of the details.
  if (run.state === 'running' && run.warning === null && !waitsForInput(run)) return null;
  const stretch = longest(columns, (index) => isSoft(columns[index]!) || cells[index] === null);
  if (widthOf(columns, stretch) >= leastReason) return { ...reason, ...stretch };
  // If there is little room, a reason has priority; columns that the user added have priority otherwise.
  return layout.isCramped ? { ...reason, from: 0, to: columns.length } : null;
}

/** The progress of a paused run stays visible, with the words beside the bar. */
function pausedWords(
  reason: { readonly text: string; readonly tone: Tone },
  cells: readonly (Line | null)[],
  columns: readonly ListColumn[],
): Words | null {
  const stretch = longest(columns, (index) => columns[index]!.id !== 'progress' && cells[index] === null);
  return widthOf(columns, stretch) >= 'paused'.length ? { ...reason, ...stretch } : null;
}

/** Replaces the full bar of a done run by its ending if that fits. */
function doneWords({ reason }: RunSummary, columns: readonly ListColumn[]): Words | null {
  const from = columns.findIndex(({ id }) => id === 'progress');
  if (from < 0) return null;
  const to = columns[from + 1]?.id === 'left' ? from + 2 : from + 1;
  const whole = reason === null ? 'done' : `done · ${cleanText(reason)}`;
  const fits = textWidth(whole) <= widthOf(columns, { from, to });
  return { text: fits ? whole : 'done', tone: 'dim', from, to };
}

/** Columns that a reason may cover although a failed run has values in them. */
function isSoft({ id }: ListColumn): boolean {
  return id === 'progress' || id === 'left' || id === 'trend';
}

type Stretch = { readonly from: number; readonly to: number };

/** The widest range of adjacent free columns. */
function longest(columns: readonly ListColumn[], isFree: (index: number) => boolean): Stretch {
  let best: Stretch = { from: 0, to: 0 };
  for (let from = 0; from < columns.length; from++) {
    let to = from;
    while (to < columns.length && isFree(to)) to++;
    if (widthOf(columns, { from, to }) > widthOf(columns, best)) best = { from, to };
    from = Math.max(from, to);
  }
  return best;
}

function widthOf(columns: readonly ListColumn[], { from, to }: Stretch): number {
  return columns.slice(from, to).reduce((sum, { width }) => sum + width + 1, -1);
}

/** Position of the selection among the rows, counted from 1. */
type ListPosition = { readonly at: number; readonly of: number };

/**
 * The headings of the columns; the one that runs are sorted by is highlighted and has an arrow. An order without a column here is
 * named beside the names. `position`: null if all rows are visible.
 */
export function listHeading({ name, columns }: ListLayout, sort: Sort, position: ListPosition | null): Line {
  const arrow = sort.isReversed ? '↑' : '↓';
  const isElsewhere = columns.some(({ id }) => id === sort.by);
  const order = isElsewhere || isInitialSort(sort) ? null : sort.by === 'name' ? ` ${arrow}` : beside(sort.by, arrow);
  const words = span(`   run${order ?? ''}`, order === null ? 'faint' : 'accent');
  const place = position === null ? [] : [span(` ${countText(position.at)}/${countText(position.of)}`, 'dim')];
  return [
    ...ends([words], place, gutter + name),
    ...columns.flatMap((column) => [span(' '), word(column, sort, arrow)]),
  ];
}

function beside(by: SortBy, arrow: string): string {
  return ` · ${shortKey(columnKey(by as ColumnId)?.key ?? by)} ${arrow}`;
}

/** A heading, cut if there is no room left for the arrow. */
function word({ id, heading, width, isRight }: ListColumn, sort: Sort, arrow: string): Line[number] {
  const isOrdered = id === sort.by;
  const cut = textWidth(heading) < width ? heading : fit(heading, width - 1);
  const text = isOrdered ? `${cut}${arrow}` : heading;
  return span(isRight ? fitRight(text, width) : fit(text, width), isOrdered ? 'accent' : 'faint');
}

/** The order chosen by a click on the heading at a column of the screen; null: none. */
export function sortAt({ name, columns }: ListLayout, at: number): SortBy | null {
  let end = gutter + name;
  if (at < end) return 'name';
  for (const { id, width } of columns) {
    // The space before a column is its left edge, which is dragged.
    if (at === end) return null;
    end += width + 1;
    if (at < end) return id === 'trend' ? null : id;
  }
  return null;
}
