import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { inMetricOrder } from '../../analysis/metric-order.js';
import { everyPoint } from '../../metrics/curve.js';
import { downsample, extremes, type Line } from '../../metrics/downsample.js';
import { openMetrics, type RunMetrics } from '../../metrics/run-metrics.js';
import { countingIn } from '../../runs/counting-metrics.js';
import { metricsToShow, readOutline } from '../../runs/sweep-outline.js';
import { jsonAnswer, Refused } from './answer.js';
import { rounded, type RunRow, runsChosen } from './run-rows.js';
import { MOST_BYTES } from './fitted.js';
import { inputOf, type Tool } from './verb-tool.js';

/** Runs whose files are read for one answer, at most. */
const MOST_RUNS = 24;
/** Metrics of each run if none is named. */
const USUAL_METRICS = 2;
const USUAL_POINTS = 40;
/** Size of a point, and of a curve without its points, in bytes. */
const POINT_BYTES = 20;
const CURVE_BYTES = 250;

/** Curves of metrics, as a chart of few columns draws them: of each column the lowest and the highest point. */
export const curvesTool: Tool = {
  name: 'curves',
  about: `Metrics of runs over their steps, as few points: of each stretch the lowest and the highest value, so that no spike is lost. Up to ${MOST_RUNS} runs.`,
  input: inputOf({ name: 'curves', takes: '<query...>', options: [] }, []).extend({
    metrics: z.array(z.string()).optional().describe('names of metrics (default: the first ones of each run)'),
    points: z.int().min(2).max(1000).optional().describe(`points of a curve, at most (default: ${USUAL_POINTS})`),
  }),
  acts: null,
  call: async (given, run) => {
    const { rows, notes } = await runsChosen(given, run);
    const { metrics, points = USUAL_POINTS } = given as { metrics?: string[]; points?: number };
    const read: Curve[] = [];
    for (const row of rows.slice(0, MOST_RUNS)) read.push(...(await curvesOf(row, metrics)));
    if (read.length === 0) throw noCurves(rows, metrics);
    const columns = Math.max(3, Math.floor(Math.min(points, pointsIn(read.length)) / 2));
    const unread = rows.length - MOST_RUNS;
    return jsonAnswer(
      {
        matched: rows.length,
        ...(unread > 0 ? { unread: `${unread} further runs were not read: narrow the query.` } : {}),
        curves: read.map((curve) => curveJson(curve, columns)),
      },
      notes,
      () => 'Narrow the query, or name fewer `metrics`.',
    );
  },
};

type Curve = { readonly run: string; readonly metric: string; readonly line: Line };

async function curvesOf(row: RunRow, asked: readonly string[] | undefined): Promise<Curve[]> {
  const read = await openMetrics(row.directory, { keep: everyPoint }).readToEnd(() => setImmediate());
  return (asked ?? firstMetrics(row, read))
    .map((metric) => ({ run: `${row.sweep}/${row.name}`, metric, line: read.series(metric) }))
    .filter(({ line }) => line.y.length > 0);
}

/** The metrics that the window shows first. */
function firstMetrics({ directory, group }: RunRow, read: RunMetrics): string[] {
  const choice = metricsToShow(readOutline(dirname(directory)), String(group));
  return inMetricOrder(read.keys(), choice, new Set(countingIn(read, choice))).slice(0, USUAL_METRICS);
}

/** Points for which there is room in each of so many curves. */
function pointsIn(curves: number): number {
  return ((MOST_BYTES * 0.9) / curves - CURVE_BYTES) / POINT_BYTES;
}

function curveJson({ run, metric, line }: Curve, columns: number): object {
  const { x, y } = line;
  const [low, high] = extremes(y, 0, y.length);
  const short = downsample(line, columns);
  const point = (index: number) => [value(x[index]!), value(y[index]!)];
  return {
    ...{ run, metric, values: y.length, lowest: point(low), highest: point(high) },
    points: Array.from(short.x, (step, index) => [value(step), value(short.y[index]!)]),
  };
}

/** JSON has no NaN, and no infinities. */
function value(number: number): number | string {
  return Number.isFinite(number) ? rounded(number) : String(number);
}

function noCurves(rows: readonly RunRow[], asked: readonly string[] | undefined): Refused {
  const known = [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)))].slice(0, 30);
  const what = asked === undefined ? 'any metric' : asked.map((name) => `\`${name}\``).join(', ');
  return new Refused({
    code: 'refused',
    message: `None of these runs has written ${what} (yet).`,
    fix:
      known.length === 0
        ? '`logs` shows what the runs print.'
        : `Known: ${known.map((name) => `\`${name}\``).join(', ')}.`,
  });
}
