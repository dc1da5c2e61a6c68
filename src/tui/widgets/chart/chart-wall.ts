import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { chartNotes } from './chart-heading.js';
import { labelLines, wholeReading } from './chart-legend.js';
import type { ChartLook } from './chart-look.js';
import { type ChartData, type ChartSetting, emptyReport, lookOf } from './chart-section.js';
import { chart } from './chart.js';
import { inFocus, sectionRule } from '../section.js';
import { fit, fitLine, type Line, lineWidth, span } from '../../surface/span.js';
import { wallGap, wallGrid } from './wall-grid.js';

/** Many charts in one pane. `chartOf` is asked for those that are drawn alone: what it costs is theirs. */
export type Wall = {
  /** The metrics, in their order; those that the filter leaves. */
  readonly metrics: readonly string[];
  readonly chartOf: (metric: string) => ChartData;
  readonly setting: ChartSetting;
  /** Position of the marked metric, that is on the page shown. */
  readonly at: number;
  readonly isZoomed: boolean;
  readonly filter: string;
  /** Of how many metrics the filter leaves those. */
  readonly of: number;
};

type Room = { readonly width: number; readonly height: number };

/** Rows of the pane that are no charts: its heading, and below the charts what their colours mean. */
const frame = 2;

/** Charts that are seen at once. */
export function wallPage({ metrics, isZoomed }: Pick<Wall, 'metrics' | 'isZoomed'>, { width, height }: Room): number {
  if (isZoomed) return 1;
  const { columns, rows } = wallGrid(metrics.length, width, height - frame);
  return columns * rows;
}

/** A heading, a page of charts, and a legend for all of them. Exactly `height` lines. */
export function chartWall(wall: Wall, room: Room): Line[] {
  const page = wallPage(wall, room);
  const first = Math.floor(wall.at / page) * page;
  const shown = wall.metrics.slice(first, first + page);
  const charts = shown.map(wall.chartOf);
  const [marked] = charts;
  if (marked === undefined) return emptyWall(wall, room);
  const look = lookOf(marked, wall.setting);
  const legend = labelLines(marked.curves, look, room.width);
  const heading = sectionRule('charts', wallWords(wall, marked, look, { page, first, width: room.width }), room.width);
  const rest = { width: room.width, height: room.height - 1 - legend.length };
  const { columns, rows } = wall.isZoomed
    ? { columns: 1, rows: 1 }
    : wallGrid(wall.metrics.length, room.width, room.height - frame);
  const lines = Array.from({ length: rows }, (_, row): Line[] => {
    const from = Math.floor((row * rest.height) / rows);
    const to = Math.floor(((row + 1) * rest.height) / rows);
    const size = { width: Math.floor((room.width - wallGap * (columns - 1)) / columns), height: to - from };
    const inRow = charts.slice(row * columns, (row + 1) * columns);
    return beside(
      inRow.map((data, column) => tile(data, wall.setting, size, first + row * columns + column === wall.at)),
      size,
    );
  });
  return [heading, ...lines.flat(), ...legend];
}

function beside(tiles: readonly (readonly Line[])[], { width, height }: Room): Line[] {
  return Array.from({ length: height }, (_, row): Line =>
    tiles.flatMap((lines, column) => [
      ...(column > 0 ? [span(' '.repeat(wallGap))] : []),
      ...fitLine(lines[row] ?? [], width),
    ]),
  );
}

/** What the rule of a heading takes beside its words, and the room that a name keeps. */
const ruleAround = 7;
const leastName = 8;

/** One metric: its name and its last value, or that at the cursor, over its curves. */
function tile(data: ChartData, setting: ChartSetting, { width, height }: Room, isMarked: boolean): Line[] {
  const look = lookOf(data, setting);
  const whole = wholeReading(data.curves, look, width);
  const mark = isMarked ? '▸ ' : '';
  const metric = cleanText(data.metric);
  const roomBeside = (value: Line): number => width - lineWidth(value) - mark.length - ruleAround;
  // How far the seeds lie apart gives way to the name.
  const value = textWidth(metric) <= roomBeside(whole) ? whole : whole.filter(({ text }) => !/^ [±[]/.test(text));
  const room = roomBeside(value);
  const name = room < leastName ? nameIn(metric, roomBeside([])) : nameIn(metric, room);
  const rule = sectionRule(mark + name, room < leastName ? [] : value, width);
  return [isMarked ? inFocus(rule) : rule, ...chart(data.curves, width, height - 1, look)];
}

/** The end of a long name tells more than its beginning. */
function nameIn(name: string, width: number): string {
  if (textWidth(name) <= width) return name;
  return width < 2 ? fit(name, Math.max(1, width)) : `…${name.slice(name.length - width + 1)}`;
}

type Place = { readonly page: number; readonly first: number; readonly width: number };

/** How the charts are drawn, which metrics are shown, and which page of them. */
function wallWords(wall: Wall, marked: ChartData, look: ChartLook, { page, first, width }: Place): Line {
  const { metrics, filter, of, setting, isZoomed, at } = wall;
  const pages = Math.ceil(metrics.length / page);
  const where = isZoomed
    ? `${at + 1} of ${metrics.length}`
    : pages > 1
      ? `page ${first / page + 1} of ${pages} · ${metrics.length} metrics`
      : '';
  const said = filter === '' ? '' : `/${cleanText(filter)} ${metrics.length} of ${of}`;
  const found = [said, where].filter((part) => part !== '');
  const notes = chartNotes({ xKey: setting.xKey, note: setting.note ?? null }, marked.curves, look, width);
  const words = found.flatMap((part) => [span(part, 'accent'), span(' · ', 'faint')]);
  const all = [...words, ...notes];
  return lineWidth(all) + 14 <= width ? all : words.slice(0, -1);
}

function emptyWall({ filter, of, setting }: Wall, { width, height }: Room): Line[] {
  const report = of > 0 ? null : emptyReport(setting, [], { width: width - 1, height: height - 1 });
  if (report !== null) return [sectionRule('charts', [], width), ...report.map((line) => [span(' '), ...line])];
  const why = !setting.isLoaded
    ? 'reading…'
    : filter === '' || of === 0
      ? 'No metrics have been written yet.'
      : `None of the ${of} metrics has ${cleanText(filter)} in its name; Esc shows all.`;
  return [sectionRule('charts', [], width), [span(` ${why}`, 'dim')]];
}
