import { bestOnes } from '../../../analysis/best-first.js';
import { assertNever } from '../../../base/assert-never.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { narrowNumber } from '../../../text/numbers.js';
import type { CompareScreen, UiState } from '../../state/ui-state.js';
import { chartSection, sharedLegend } from '../../widgets/chart/chart-section.js';
import { bestCell, deltaCell, fitLineRight, sampleCell } from './compare-cells.js';
import { columnsTable, metricName, summaryWords } from './compare-columns.js';
import { valuesText, withoutCommon } from './compare-parameters.js';
import { deltaOf, rankedSamples } from './compare-value.js';
import { type Comparison, isInRows } from './comparison.js';
import { heatmapNeeds, heatmapSection, heatmapSize } from './heatmap-section.js';
import type { Heatmap } from './heatmap.js';
import { sectionRule } from '../../widgets/section.js';
import { shortKey } from '../../widgets/short-key.js';
import { blank, fit, fitLine, type Line, lineWidth, onBackground, span } from '../../surface/span.js';
import type { WindowModel } from '../../model/window-model.js';

type Room = { readonly width: number; readonly height: number };

/** The marked runs or groups beside each other. At most `height` lines of `width` columns. */
export function compareScreen(comparison: Comparison, { ui }: WindowModel, width: number, height: number): Line[] {
  if (ui.screen.kind !== 'compare') return [];
  const [first] = comparison.subjects;
  const lines =
    first === undefined
      ? [[span(' None of these runs exists any more; Esc goes back.', 'dim')]]
      : [
          sectionRule(`compare · ${ui.compare.view}`, headingWords(comparison), width),
          ...bodyOf(ui, comparison, ui.screen, { width, height: height - 1 }),
        ];
  return lines.slice(0, height).map((line) => fitLine(line, width));
}

function bodyOf(ui: UiState, comparison: Comparison, screen: CompareScreen, { width, height }: Room): Line[] {
  switch (ui.compare.view) {
    case 'table':
      if (isInRows(screen.subjects))
        return withCurves(rowsTable(comparison, screen, { width, height }), comparison, { width, height });
      return withCurves(scrolled(columnsTable(comparison, screen, width), screen.top, { width, height }), comparison, {
        width,
        height,
      });
    case 'overlay':
      return overlaySection(comparison, screen.top, width, height);
    case 'heatmap':
      return heatmapBody(comparison, screen, { width, height });
    default:
      return assertNever(ui.compare.view);
  }
}

/** Adds curves of the table's metrics below it if they would be large enough. */
function withCurves(table: Line[], comparison: Comparison, { width, height }: Room): Line[] {
  const free = height - table.length - 1;
  if (free < leastChart.height || comparison.charts.length === 0) return table;
  const few = { ...comparison, charts: comparison.charts.slice(0, Math.max(1, Math.floor(width / leastChart.width))) };
  return [...table, blank(width), ...overlaySection(few, 0, width, free)];
}

function scrolled({ head, body }: { head: Line[]; body: Line[] }, top: number, { height }: Room): Line[] {
  const room = Math.max(1, height - head.length - 1);
  const from = Math.max(0, Math.min(top, body.length - room));
  const below = body.length - from - room;
  const foot = below > 0 ? [[span(` ${below} more lines ↓`, 'accent')]] : from > 0 ? [[span(' the end', 'faint')]] : [];
  return [...head, ...body.slice(from, from + room), ...foot];
}

function heatmapBody({ heatmaps, metrics }: Comparison, screen: CompareScreen, { width, height }: Room): Line[] {
  if (heatmaps.length > 0) return heatmapGrid(heatmaps, screen, { width, height });
  const why =
    metrics.length === 0
      ? 'No run has written a metric yet.'
      : 'These runs differ in their seeds alone: there is no axis for a heatmap.';
  return [blank(width), [span(`  ${why} Tab shows the table.`, 'dim')]];
}

/** What the values are, and the number of runs. */
function headingWords(comparison: Comparison): Line {
  const { subjects, curves, baseline } = comparison;
  const reading = curves.read < curves.wanted ? `reading ${curves.read} of ${curves.wanted} · ` : '';
  const part =
    curves.wanted > 0 && curves.wanted < curves.of ? `curves of ${curves.wanted} of ${curves.of} runs · ` : '';
  const pinned = baseline === null ? 'b pins a baseline' : `baseline ${cleanText(subjects[baseline]!.label)}`;
  return [
    span(`${reading}${part}`, 'warn'),
    span(`${subjects.length} compared · ${curves.of} runs · `, 'faint'),
    span(summaryWords(comparison), 'accent'),
    span(` · ${pinned}`, 'faint'),
  ];
}

/** Scroll extent: number of lines or rows, number of columns, and number of visible lines. */
export function compareExtent(
  { subjects, ...comparison }: Comparison,
  view: WindowModel['ui']['compare']['view'],
  { width, height }: Room,
): { length: number; columns: number; page: number } {
  const whole = { subjects, ...comparison };
  if (view === 'overlay') return { length: comparison.charts.length, columns: 1, page: 1 };
  if (view === 'heatmap') {
    const [map] = comparison.heatmaps;
    const size = map === undefined ? { rows: 0, columns: 1 } : heatmapSize(map);
    return { length: size.rows, columns: size.columns, page: 1 };
  }
  if (isInRows(subjects))
    return { length: subjects.length, columns: columnCount(whole), page: Math.max(1, height - 3) };
  const { head, body } = columnsTable(whole, { at: 0 }, width);
  return { length: body.length, columns: 1, page: Math.max(1, height - head.length - 2) };
}

/** Minimum size of a useful chart. */
const leastChart = { width: 48, height: 10 };
const gap = 2;

/** Curves of all subjects, one chart per metric. `top`: first visible chart. */
function overlaySection(comparison: Comparison, top: number, width: number, height: number): Line[] {
  const { setting } = comparison;
  const charts = comparison.charts.slice(Math.min(top, Math.max(0, comparison.charts.length - 1)));
  const columns = Math.max(1, Math.min(charts.length, Math.floor((width + gap) / (leastChart.width + gap)), 3));
  const rows = Math.max(1, Math.min(Math.ceil(charts.length / columns), Math.floor(height / leastChart.height)));
  const each = Math.floor((width - gap * (columns - 1)) / columns);
  return Array.from({ length: rows }, (_, row) => row).flatMap((row): Line[] => {
    const shown = charts.slice(row * columns, (row + 1) * columns);
    const tall = Math.floor((height * (row + 1)) / rows) - Math.floor((height * row) / rows);
    const legend = sharedLegend(shown, setting, each, tall);
    const drawn = shown.map((data) => chartSection(data, setting, { width: each, height: tall, legend }));
    return Array.from({ length: tall }, (_, line): Line =>
      drawn.flatMap((lines, column) => [
        ...(column > 0 ? [span(' '.repeat(gap))] : []),
        ...fitLine(lines[line] ?? [], each),
      ]),
    );
  });
}

const gridGap = 3;

/** As many heatmaps beside and below each other as are readable; always at least one. At most `height` lines. */
export function heatmapGrid(
  maps: readonly Heatmap[],
  place: { readonly top: number; readonly left: number },
  { width, height }: { readonly width: number; readonly height: number },
): Line[] {
  const [first] = maps;
  if (first === undefined) return [];
  const needs = heatmapNeeds(first);
  const columns = Math.max(1, Math.min(maps.length, Math.floor((width + gridGap) / (needs.width + gridGap))));
  const rows = Math.max(1, Math.min(Math.ceil(maps.length / columns), Math.floor(height / needs.height)));
  const each = { width: Math.floor((width - gridGap * (columns - 1)) / columns), height: Math.floor(height / rows) };
  return Array.from({ length: rows }, (_, row) => row).flatMap((row): Line[] => {
    const drawn = maps.slice(row * columns, (row + 1) * columns).map((map) => heatmapSection(map, place, each));
    const tall = Math.max(...drawn.map(({ length }) => length));
    const band = Array.from({ length: tall }, (__, line): Line =>
      drawn.flatMap((lines, column) => [
        ...(column > 0 ? [span(' '.repeat(gridGap))] : []),
        ...fitLine(lines[line] ?? [], each.width),
      ]),
    );
    return tall < each.height && row + 1 < rows ? [...band, blank(width)] : band;
  });
}

const longestName = 36;

/** `cell`: the cell of the subject at a position. */
type Column = { readonly title: string; readonly cell: (index: number) => Line };

/** One row per subject; only the visible ones are drawn. `height`: heading and rows together. */
function rowsTable(
  comparison: Comparison,
  { at, left }: Pick<CompareScreen, 'at' | 'left'>,
  { width, height }: { width: number; height: number },
): Line[] {
  const { subjects, baseline } = comparison;
  const room = Math.max(1, height - 1);
  const top = Math.max(0, Math.min(at - (room >> 1), subjects.length - room));
  const indexes = subjects.slice(top, top + room).map((_, index) => top + index);
  const name = nameWidth(comparison, indexes, width);
  const { columns, widths } = fitting(columnsOf(comparison).slice(left), indexes, width - name);
  const after = columnCount(comparison) - left - columns.length;
  const more = [left > 0 ? `← ${left}` : '', after > 0 ? `${after} →` : ''].filter((part) => part !== '').join('  ');
  const head = columns.flatMap(({ title }, index) => spaced([span(title, 'faint')], widths[index]!));
  const rows = indexes.map((index): Line => {
    const mark = index === baseline ? span('▸ ', 'accent') : span('  ');
    const label = [span(' '), mark, span(cleanText(subjects[index]!.label), index === baseline ? 'strong' : 'plain')];
    const cells = columns.flatMap(({ cell }, place) => spaced(cell(index), widths[place]!));
    const line = fitLine([...fitLine(label, name), ...cells], width);
    return index === at ? onBackground(line, 'selected') : line;
  });
  return [fitLine([...fitLine([span(more === '' ? '' : `   ${more} more`, 'accent')], name), ...head], width), ...rows];
}

/** Number of columns to scroll through. */
function columnCount(comparison: Comparison): number {
  return columnsOf(comparison).length;
}

function nameWidth({ subjects }: Comparison, indexes: readonly number[], width: number): number {
  const widest = Math.max(0, ...indexes.map((index) => textWidth(cleanText(subjects[index]!.label))));
  return Math.min(widest, longestName, Math.floor(width * 0.4)) + 3;
}

function columnsOf({ subjects, parameters, metrics, baseline }: Comparison): Column[] {
  const runs: Column = { title: 'runs', cell: (index) => [span(String(subjects[index]!.runs.length), 'dim')] };
  const settings = parameters.map(({ key, cells }): Column => {
    const texts = withoutCommon(
      cells.map((values) => valuesText(values, 14)),
      widestCell,
    );
    return { title: cleanText(key), cell: (index) => [span(texts[index]!)] };
  });
  const values = metrics.flatMap(({ key, cells, direction }): Column[] => {
    const title = metricName({ key: shortKey(key), direction }, widestCell);
    const best = bestOnes(rankedSamples(cells), direction, narrowNumber);
    const cellOf = (index: number): Line => sampleCell(cells[index]!, subjects[index]!.runs.length);
    const value: Column = { title, cell: (index) => (best.has(index) ? bestCell(cellOf(index)) : cellOf(index)) };
    if (baseline === null) return [value];
    const base = cells[baseline] ?? null;
    const delta = (index: number): Line =>
      index === baseline ? [] : deltaCell(deltaOf(cells[index]!, base, direction));
    return [value, { title: 'to baseline', cell: delta }];
  });
  return [...(subjects.some((subject) => subject.runs.length > 1) ? [runs] : []), ...settings, ...values];
}

const widestCell = 24;

/** As many columns as fit, each as wide as its visible cells; always at least one. */
function fitting(
  columns: readonly Column[],
  indexes: readonly number[],
  room: number,
): { columns: Column[]; widths: number[] } {
  const fitted: Column[] = [];
  const widths: number[] = [];
  let used = 0;
  for (const column of columns) {
    const most = Math.max(6, textWidth(column.title), ...indexes.map((index) => lineWidth(column.cell(index))));
    const width = Math.min(most, widestCell);
    if (fitted.length > 0 && used + gap + width > room) break;
    used += gap + width;
    fitted.push(column);
    widths.push(width);
  }
  return { columns: fitted, widths };
}

function spaced(cell: Line, width: number): Line {
  const [only] = cell;
  const cut =
    cell.length === 1 && only !== undefined
      ? [{ ...only, text: fit(only.text, Math.min(textWidth(only.text), width)) }]
      : cell;
  return [span(' '.repeat(gap)), ...fitLineRight(cut, width)];
}
