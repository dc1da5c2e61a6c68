/** Widths of the list's columns; 0 for one there is no room for. Between two columns lies one space. */
export type ListColumns = {
  /** All together with the spaces between them. */
  readonly total: number;
  readonly name: number;
  readonly bar: number;
  readonly percent: number;
  readonly left: number;
  readonly spark: number;
  readonly metric: number;
  readonly slot: number;
  readonly time: number;
};

const leastName = 18;
/** In the order in which they are worth their room. */
const wanted: readonly (readonly [Exclude<keyof ListColumns, 'total'>, number])[] = [
  ['percent', 4],
  ['bar', 8],
  ['time', 6],
  ['left', 6],
  ['spark', 8],
  ['slot', 5],
];

/** What fits into `width` columns. The name gets most of what is over, then bar and sparkline. `metric`: its heading. */
export function listColumns(width: number, metric: string): ListColumns {
  const metricWidth = Math.min(14, Math.max(8, metric.length));
  const columns = {
    total: width,
    name: 0,
    bar: 0,
    percent: 0,
    left: 0,
    spark: 0,
    metric: metricWidth,
    slot: 0,
    time: 0,
  };
  let room = width - leastName - metricWidth - 1;
  for (const [column, size] of wanted) {
    if (room < size + 1) break;
    columns[column] = size;
    room -= size + 1;
  }
  columns.name = leastName + Math.min(room, 14);
  const over = room - (columns.name - leastName);
  if (columns.spark === 0) return { ...columns, name: columns.name + over };
  const toSpark = Math.min(16, over >> 1);
  const toBar = Math.min(16, over - toSpark);
  return {
    ...columns,
    name: columns.name + over - toSpark - toBar,
    bar: columns.bar + toBar,
    spark: columns.spark + toSpark,
  };
}

/** Columns between the name and the metric: what a reason may fill. */
export function middleWidth({ bar, percent, left, spark }: ListColumns): number {
  return [bar, percent, left, spark].filter((size) => size > 0).reduce((sum, size) => sum + size + 1, -1);
}
