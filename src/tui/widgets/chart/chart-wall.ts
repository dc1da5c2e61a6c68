import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { counted } from '../../../text/numbers.js';
import { labelLines, wholeReading } from './chart-legend.js';
import { chartNotes, type ChartSetting, emptyReport, lookOf, ownNotes } from './chart-section.js';
import type { ChartData } from '../../model/chart-data.js';
import { chart, type ChartLook } from './chart.js';
import { inFocus, sectionRule } from '../line-parts.js';
import { fit, type Line, lineWidth, sideBySide, span, tileGap, tileWidth } from '../../surface/span.js';
import type { WallTile } from '../../state/run-choice.js';

/** Many charts in one pane. `chartOf` is called only for charts that are drawn, because it is expensive. */
export type Wall = {
  /** Charts that match the filter. */
  readonly tiles: readonly WallTile[];
  readonly chartOf: (metric: string) => ChartData;
  readonly setting: ChartSetting;
  /** Position of the marked chart, which is on the visible page. */
  readonly at: number;
  readonly isZoomed: boolean;
  readonly filter: string;
  /** Number of all metrics before filtering. */
  readonly of: number;
};

type Room = { readonly width: number; readonly height: number };

/** Rows of the pane besides charts: its heading, and the legend below the charts. */
const frame = 2;

/** Number of visible charts. */
export function wallPage({ tiles, isZoomed }: Pick<Wall, 'tiles' | 'isZoomed'>, { width, height }: Room): number {
  if (isZoomed) return 1;
  const { columns, rows } = wallGrid(tiles.length, width, height - frame);
  return columns * rows;
}

/** A heading, a page of charts, and a common legend. Exactly `height` lines. */
export function chartWall(wall: Wall, room: Room): Line[] {
  const page = wallPage(wall, room);
  const first = Math.floor(wall.at / page) * page;
  const shown = wall.tiles.slice(first, first + page);
  const charts = shown.map((tile) => wall.chartOf(tile.metric));
  const [marked] = charts;
  if (marked === undefined) return emptyWall(wall, room);
  const look = lookOf(marked, wall.setting);
  const legend = labelLines(marked.curves, look, room.width);
  const common = lookOf(marked, withoutOwnAxes(wall.setting));
  const heading = sectionRule(
    'charts',
    wallWords(wall, marked, common, { page, first, width: room.width }),
    room.width,
  );
  const rest = { width: room.width, height: room.height - 1 - legend.length };
  const { columns, rows } = wall.isZoomed
    ? { columns: 1, rows: 1 }
    : wallGrid(wall.tiles.length, room.width, room.height - frame);
  const lines = Array.from({ length: rows }, (_, row): Line[] => {
    const from = Math.floor((row * rest.height) / rows);
    const to = Math.floor(((row + 1) * rest.height) / rows);
    const size = { width: tileWidth(room.width, columns), height: to - from };
    const inRow = shown.slice(row * columns, (row + 1) * columns);
    return sideBySide(
      inRow.map((one, column) => tile(wall, one, size, first + row * columns + column === wall.at)),
      size,
    );
  });
  return [heading, ...lines.flat(), ...legend];
}

/** The setting of all charts, for what is said of them together. */
function withoutOwnAxes({ choice, ...setting }: ChartSetting): ChartSetting {
  return choice === undefined ? setting : { ...setting, choice: { ...choice, ownLogY: {} } };
}

/** Columns of the rule around the words of a heading. The next constant is the minimum for a name. */
const ruleAround = 7;
const leastName = 8;

/** One metric: its curves below its name and its last value or that at the cursor. */
function tile(wall: Wall, one: WallTile, { width, height }: Room, isMarked: boolean): Line[] {
  const data = wall.chartOf(one.metric);
  const look = lookOf(data, wall.setting);
  const rule = tileRule(one, { data, look, mark: isMarked ? '▸ ' : '', isAlone: wall.isZoomed }, width);
  return [isMarked ? inFocus(rule) : rule, ...chart(data.curves, width, height - 1, look)];
}

type TileLook = {
  readonly data: ChartData;
  readonly look: ChartLook;
  readonly mark: string;
  readonly isAlone: boolean;
};

/**
 * The heading of a chart, as far as there is room: the name, the metrics it represents, notes on its values, and the last value.
 */
function tileRule(one: WallTile, { data, look, mark, isAlone }: TileLook, width: number): Line {
  const whole = wholeReading(data.curves, look, width);
  const notes = ownNotes(data.curves, look, width);
  const noted = (value: Line): Line => (notes.length === 0 ? value : [...notes, span(' · ', 'faint'), ...value]);
  // The spread of seeds is dropped first, then notes on the values, to leave room for the name.
  const short = whole.filter(({ text }) => !/^ [±[]/.test(text));
  const metric = cleanText(one.metric);
  const roomBeside = (value: Line): number => width - lineWidth(value) - mark.length - ruleAround;
  const rights = [noted(whole), noted(short), short];
  const value = rights.find((words) => textWidth(metric) <= roomBeside(words)) ?? short;
  const room = roomBeside(value);
  if (room < leastName) return sectionRule(mark + nameIn(metric, roomBeside([])), [], width);
  const name = namesOf(one, metric, isAlone).find((text) => textWidth(text) <= room) ?? cutName(one, metric, room);
  return sectionRule(mark + name, value, width);
}

/** The name with the metrics it represents, from longest to shortest. */
function namesOf({ alike }: WallTile, metric: string, isAlone: boolean): string[] {
  if (alike.length === 0) return [metric];
  const short = `${metric} +${alike.length}`;
  return [...(isAlone ? [`${short} alike: ${alike.map(cleanText).join(', ')}`] : []), `${short} alike`, short];
}

/** A cut name still shows that other metrics share the chart. */
function cutName({ alike }: WallTile, metric: string, room: number): string {
  const others = alike.length === 0 ? '' : ` +${alike.length}`;
  return nameIn(metric, room - others.length) + others;
}

/** Cuts a long name in its middle: its last part says most, and its beginning to what it belongs. */
function nameIn(name: string, width: number): string {
  if (textWidth(name) <= width) return name;
  if (width < 2) return fit(name, Math.max(1, width));
  const last = name.length - Math.max(0, name.lastIndexOf('/'));
  const head = last + 2 <= width ? width - 1 - last : width < 12 ? 0 : Math.floor((width - 1) / 3);
  return `${name.slice(0, head)}…${name.slice(name.length - (width - 1 - head))}`;
}

type Place = { readonly page: number; readonly first: number; readonly width: number };

/** How the charts are drawn, which metrics are shown, and the page. */
function wallWords(wall: Wall, marked: ChartData, look: ChartLook, { page, first, width }: Place): Line {
  const { tiles, filter, of, setting, isZoomed, at } = wall;
  const pages = Math.ceil(tiles.length / page);
  const left = tiles.reduce((sum, { alike }) => sum + 1 + alike.length, 0);
  const charts = left > tiles.length ? `${counted(tiles.length, 'chart')} of ${left} metrics` : `${left} metrics`;
  const where = isZoomed
    ? `${at + 1} of ${tiles.length}`
    : [
        ...(pages > 1 ? [`page ${first / page + 1} of ${pages}`] : []),
        ...(pages > 1 || left > tiles.length ? [charts] : []),
      ].join(' · ');
  const said = filter === '' ? '' : `/${cleanText(filter)} ${left} of ${of}`;
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

/** Minimum size of a chart that says more than its numbers. */
const least = { width: 28, height: 7 };
/** Preferred ratio of columns to rows of a chart; characters are twice as high as wide. */
const pleasant = 4;

/** Arrangement of charts in columns and rows. */
type WallGrid = { readonly columns: number; readonly rows: number };

/** The grid that has room for all charts with a ratio closest to the preferred one; if not all fit, as many as are readable. */
export function wallGrid(count: number, width: number, height: number): WallGrid {
  const mostColumns = Math.max(1, Math.floor((width + tileGap) / (least.width + tileGap)));
  const mostRows = Math.max(1, Math.floor(height / least.height));
  if (count >= mostColumns * mostRows) return { columns: mostColumns, rows: mostRows };
  const grids = Array.from({ length: mostColumns }, (_, index) => ({
    columns: index + 1,
    rows: Math.max(1, Math.ceil(count / (index + 1))),
  })).filter(({ rows }) => rows <= mostRows);
  const shapeOf = ({ columns, rows }: WallGrid): number =>
    Math.abs(Math.log(width / columns / (height / rows) / pleasant));
  return grids.reduce((best, grid) => (shapeOf(grid) < shapeOf(best) ? grid : best));
}
