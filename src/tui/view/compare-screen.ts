import { assertNever } from '../../base/assert-never.js';
import { cleanText } from '../../text/display-text.js';
import type { CompareScreen } from '../ui-state.js';
import { columnsTable, summaryWords } from './compare-columns.js';
import { leastChart, overlaySection } from './compare-overlay.js';
import { columnCount, rowsTable } from './compare-rows.js';
import { type Comparison, isInRows } from './comparison.js';
import { heatmapGrid } from './heatmap-grid.js';
import { heatmapSize } from './heatmap-section.js';
import { sectionRule } from './section.js';
import { blank, fitLine, type Line, span } from './span.js';
import type { WindowModel } from './window-model.js';

type Room = { readonly width: number; readonly height: number };

/** The marked runs or groups beside each other. At most `height` lines of `width` columns. */
export function compareScreen(model: WindowModel, width: number, height: number): Line[] {
  const { comparison, ui } = model;
  if (ui.screen.kind !== 'compare' || comparison === undefined || comparison === null) return [];
  const [first] = comparison.subjects;
  const lines =
    first === undefined
      ? [[span(' None of these runs exists any more; Esc goes back.', 'dim')]]
      : [
          sectionRule(`compare · ${ui.compare.view}`, headingWords(comparison), width),
          ...bodyOf(model, comparison, ui.screen, { width, height: height - 1 }),
        ];
  return lines.slice(0, height).map((line) => fitLine(line, width));
}

function bodyOf({ ui }: WindowModel, comparison: Comparison, screen: CompareScreen, { width, height }: Room): Line[] {
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

/** What the table leaves free shows the curves it speaks of, if they would be large enough. */
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

/** What the values are, and of how many runs. */
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

/** How far the screen can be scrolled: lines or rows, columns, and how many of the lines are seen at once. */
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
