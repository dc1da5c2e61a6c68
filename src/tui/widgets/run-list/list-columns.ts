import { type ColumnId, columnKey, curveValueOf, initialColumns, valueWords } from '../../state/list-choice.js';
import type { ColumnWidths } from '../../state/preferences-port.js';
import { shortKey } from '../line-parts.js';
import { fit } from '../../surface/span.js';
import { textWidth } from '../../../text/display-width.js';
import type { VaryingParameters } from '../../model/varying-parameters.js';

/** One column with its width. There is one space between two columns. */
export type ListColumn = {
  readonly id: ColumnId;
  readonly heading: string;
  readonly width: number;
  readonly isRight: boolean;
};

/** Layout of the list. The column left of the name is for marks. */
export type ListLayout = {
  /** Width of all columns together, including the spaces between them. */
  readonly total: number;
  readonly name: number;
  /** Columns that fit, from left to right. */
  readonly columns: readonly ListColumn[];
  /** Whether a column had to be left out. */
  readonly isCramped: boolean;
};

/** Inputs of the layout. `longest`: columns of the longest name that should be readable. */
type ListWishes = {
  readonly columns: readonly ColumnId[] | null;
  readonly metric: string | null;
  /** The objective of `best`; absent or null: there is none, or not a single one. */
  readonly objective?: string | null;
  readonly longest: number;
  /** Whether headings of curve values leave out the metric. */
  readonly hasShortHeadings?: boolean;
  /** Whether showing that name completely has priority over columns, up to half of the width. */
  readonly isFullName?: boolean;
  /** Widths that the user has chosen, by column. */
  readonly widths?: ColumnWidths;
  readonly varyingParameters: () => VaryingParameters;
};

/** Least width of a column that the user narrows. */
const narrowest = 4;

/** The column whose left edge is at a column of the screen; null: none. */
export function edgeAt({ name, columns }: ListLayout, at: number): ColumnId | null {
  let edge = gutter + name;
  for (const { id, width } of columns) {
    if (at === edge) return id;
    edge += width + 1;
  }
  return null;
}

/**
 * The widths of all shown columns after one was made wider, or narrower by a negative number. The names get what it gives up, and
 * give what it takes, down to their least width.
 */
export function widened({ name, columns }: ListLayout, id: ColumnId, by: number): ColumnWidths {
  const most = Math.max(0, name - nameWidths.least);
  const widths = columns.map((each) => {
    const width = each.id === id ? Math.max(narrowest, each.width + Math.min(by, most)) : each.width;
    return [each.id, width] as const;
  });
  return Object.fromEntries(widths);
}

/** Width of the list from which it has room for more than the default columns, and the room of one more. */
const roomy = { from: 76, each: 12 };

/** The default columns, and as many other metrics that the sweep shows as there is room for. */
export function wideColumns(width: number, metric: string | null, show: readonly string[]): readonly ColumnId[] {
  const room = Math.max(0, Math.floor((width - roomy.from) / roomy.each));
  const others = show.filter((key) => key !== metric).slice(0, room);
  return [...initialColumns, ...others.map((key): ColumnId => `metric ${key}`)];
}

/** Columns of the mark. */
export const gutter = 1;
/** Columns of the percentage beside the bar. */
export const percentWidth = 4;

const nameWidths = { least: 18, most: 24, good: 32 };
const barWidths = { least: 8, most: 24 };
const sparkWidths = { least: 8, most: 24 };
/** The common columns by priority; columns added by the user come before them. */
const worth: readonly ColumnId[] = ['progress', 'time', 'left', 'trend', 'slot'];

/**
 * The columns that fit in `width`. Remaining room goes mostly to the name, then to bar and sparkline. If not everything fits,
 * headings of curve values leave out the metric, which the footer names.
 */
export function listLayout(width: number, wishes: ListWishes): ListLayout {
  const whole = layoutOf(width, wishes);
  const isLong = whole.isCramped && wishes.columns?.some((id) => curveValueOf(id) !== null) === true;
  return isLong ? layoutOf(width, { ...wishes, hasShortHeadings: true }) : whole;
}

function layoutOf(width: number, wishes: ListWishes): ListLayout {
  const wanted = wishes.columns ?? initialColumns;
  const most = wishes.isFullName === true ? Math.max(nameWidths.most, width >> 1) : nameWidths.most;
  const least = Math.min(most, Math.max(nameWidths.least, wishes.longest)) - gutter;
  const sizes = new Map<ColumnId, number>();
  let room = width - gutter - least;
  for (const [id, size] of wantedSizes(wanted, wishes)) {
    if (room < size + (sizes.has(id) ? 0 : 1)) break;
    room -= size + (sizes.has(id) ? 0 : 1);
    sizes.set(id, (sizes.get(id) ?? 0) + size);
  }
  const toName = Math.min(room, Math.max(0, Math.max(nameWidths.good, wishes.longest) - gutter - least));
  const { bar, spark } = shareOut(sizes, room - toName);
  const extra: Partial<Record<ColumnId, number>> = { progress: bar, trend: spark };
  const columns = wanted.flatMap((id): ListColumn[] => {
    const size = sizes.get(id);
    if (size === undefined) return [];
    return [{ id, ...headingOf(id, wishes), width: wishes.widths?.[id] ?? size + (extra[id] ?? 0) }];
  });
  const used = columns.reduce((sum, column) => sum + column.width + 1, 0);
  return { total: width, name: width - gutter - used, columns, isCramped: columns.length < wanted.length };
}

/** Columns by priority. The bar comes after its percentage, because that column can do without it. */
function wantedSizes(wanted: readonly ColumnId[], wishes: ListWishes): [ColumnId, number][] {
  const added = wanted.filter((id) => !worth.includes(id));
  const metricFirst = [...added.filter((id) => id === 'metric'), ...added.filter((id) => id !== 'metric')];
  const rest = worth.filter((id) => wanted.includes(id));
  return [...metricFirst, ...rest].flatMap((id): [ColumnId, number][] =>
    id === 'progress' && wishes.widths?.[id] === undefined
      ? [
          [id, percentWidth],
          [id, barWidths.least + 1],
        ]
      : [[id, wishes.widths?.[id] ?? leastWidth(id, wishes)]],
  );
}

/** Divides remaining room equally between trend and bar, as far as they exist and can use it. */
function shareOut(sizes: ReadonlyMap<ColumnId, number>, over: number): { bar: number; spark: number } {
  const hasBar = (sizes.get('progress') ?? 0) > percentWidth;
  const most = { bar: hasBar ? barWidths.most - barWidths.least : 0, spark: 0 };
  if (sizes.has('trend')) most.spark = sparkWidths.most - sparkWidths.least;
  const spark = Math.min(most.spark, most.bar > 0 ? over >> 1 : over);
  return { bar: Math.min(most.bar, over - spark), spark };
}

/** Width for a parameter with one value in all runs. */
const sameWidth = 6;
const numberWidths = { least: 8, most: 14 };
const commonWidths: Partial<Record<ColumnId, number>> = {
  time: 6,
  left: 6,
  trend: sparkWidths.least,
  slot: 5,
  attempt: 3,
  exit: 8,
  priority: 4,
  cpu: 5,
  memory: 6,
  'gpu memory': 7,
  tags: 12,
  note: 20,
};

function leastWidth(id: ColumnId, wishes: ListWishes): number {
  const common = commonWidths[id];
  if (common !== undefined) return common;
  const heading = textWidth(headingOf(id, wishes).heading);
  // Leaves room for the arrow of the order, because the end of the heading says what it is.
  if (id === 'best' || curveValueOf(id) !== null) return Math.max(numberWidths.least, heading + 1);
  const key = columnKey(id);
  const widest =
    key?.kind === 'parameter' ? (wishes.varyingParameters().get(key.key)?.width ?? sameWidth) : numberWidths.least;
  return Math.min(numberWidths.most, Math.max(heading, widest));
}

type Heading = Pick<ListColumn, 'heading' | 'isRight'>;

/** `val_loss best`: a long name is cut rather than the words after it. */
function valueHeading(metric: string | null, words: string): string {
  if (metric === null) return words;
  const key = shortKey(metric);
  return `${textWidth(key) <= longestKey ? key : fit(key, longestKey)} ${words}`;
}

const longestKey = 10;

const commonHeadings: Partial<Record<ColumnId, Heading>> = {
  progress: { heading: 'progress', isRight: false },
  left: { heading: 'left', isRight: true },
  trend: { heading: 'trend', isRight: false },
  slot: { heading: 'slot', isRight: false },
  time: { heading: 'time', isRight: true },
  attempt: { heading: 'try', isRight: true },
  exit: { heading: 'exit', isRight: false },
  priority: { heading: 'prio', isRight: true },
  cpu: { heading: 'cpu', isRight: true },
  memory: { heading: 'memory', isRight: true },
  'gpu memory': { heading: 'gpu mem', isRight: true },
  tags: { heading: 'tags', isRight: false },
  note: { heading: 'note', isRight: false },
};

function headingOf(id: ColumnId, wishes: ListWishes): Heading {
  if (id === 'best') return { heading: valueHeading(wishes.objective ?? null, 'best'), isRight: true };
  const curve = curveValueOf(id);
  if (curve !== null)
    return {
      heading: valueHeading(wishes.hasShortHeadings === true ? null : wishes.metric, valueWords(curve.value)),
      isRight: true,
    };
  return commonHeadings[id] ?? keyHeading(id, wishes);
}

function keyHeading(id: ColumnId, { metric, varyingParameters }: ListWishes): Heading {
  const key = columnKey(id);
  if (key?.kind === 'parameter')
    return { heading: key.key, isRight: varyingParameters().get(key.key)?.isNumeric ?? false };
  return { heading: shortKey(key?.key ?? metric ?? ''), isRight: true };
}
