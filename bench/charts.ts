import { initialChartChoice } from '../src/tui/state/chart-choice.js';
import type { Series } from '../src/tui/state/port.js';
import type { Curve } from '../src/tui/model/chart-data.js';
import { chartSection } from '../src/tui/widgets/chart/chart-section.js';
import type { ChartData } from '../src/tui/model/chart-data.js';
import { busyLines } from './support/busy.js';
import { median } from './support/quantile.js';

const CHARTS = 9;
const RUNS = 10;
const POINTS = 100_000;
const ROUNDS = 15;
/** Nine charts on a screen of 200 × 60. */
const room = { width: 66, height: 18 };
/** A frame while nothing was read must leave a key its 16 ms. */
const budgetMs = 16;

/**
 * Nine charts of ten runs of 100,000 points each, as the open screen draws them: the first time, again without a
 * change, and after every series has grown. Beside it the plainest way: each point to its dot, nothing remembered.
 */
export async function benchCharts(): Promise<string[]> {
  const values = Array.from({ length: RUNS * CHARTS }, (_, seed) => wave(seed));
  const setting = { xKey: 'step', isLoaded: true, choice: initialChartChoice };
  const banded = { ...setting, choice: { ...initialChartChoice, spread: 'std' as const, smoothing: 0.9 } };
  const rows = [
    figures('each run by itself', values, setting),
    figures('smoothed, mean and band of the runs', values, banded),
  ];
  const naive = median(Array.from({ length: ROUNDS }, () => cpuOf(() => values.forEach((y) => everyPoint(y)))));
  const warm = Math.max(...rows.map((row) => row.warm));
  return [
    `${CHARTS} charts × ${RUNS} runs × ${POINTS.toLocaleString('en')} points, ms of CPU a frame, median of ${ROUNDS}`,
    '                                            first   unchanged   all grown',
    ...rows.map(
      ({ name, cold, warm: again, grown }) =>
        `  ${name.padEnd(38)} ${[cold, again, grown].map((ms) => ms.toFixed(2).padStart(9)).join('  ')}`,
    ),
    `  every point to its dot, nothing kept   ${naive.toFixed(2).padStart(9)}`,
    `unchanged frame: ${(naive / warm).toFixed(0)}× as fast as that; budget ${budgetMs} ms: ${warm <= budgetMs ? 'held' : 'MISSED'}`,
    ...busyLines(),
  ];
}

type Setting = Parameters<typeof chartSection>[1];
type Figures = { name: string; cold: number; warm: number; grown: number };

function figures(name: string, values: readonly Float64Array[], setting: Setting): Figures {
  const draw = (charts: readonly ChartData[]): number =>
    cpuOf(() => charts.forEach((data) => chartSection(data, setting, room)));
  const rounds = Array.from({ length: ROUNDS }, (_, round) => {
    const before = chartsOf(values, POINTS - ROUNDS + round - 1);
    const after = chartsOf(values, POINTS - ROUNDS + round);
    return { cold: draw(before), warm: draw(before), grown: draw(after) };
  });
  const middle = (key: 'cold' | 'warm' | 'grown'): number => median(rounds.map((round) => round[key]));
  return { name, cold: middle('cold'), warm: middle('warm'), grown: middle('grown') };
}

/** User and system time, ms: what other programs do meanwhile does not count. */
function cpuOf(task: () => void): number {
  const before = process.cpuUsage();
  task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The charts when the runs had written so many points. */
function chartsOf(values: readonly Float64Array[], points: number): ChartData[] {
  const x = steps.subarray(0, points);
  return Array.from({ length: CHARTS }, (_, chart) => ({
    metric: `metric ${chart}`,
    curves: Array.from({ length: RUNS }, (_run, run): Curve => {
      const series: Series = { x, y: values[chart * RUNS + run]!.subarray(0, points) };
      return { label: `run ${run}`, tone: 'curve0', series, setting: 'all' };
    }),
  }));
}

const steps = Float64Array.from({ length: POINTS }, (_, step) => step);

function wave(seed: number): Float64Array {
  return steps.map((step) => Math.exp(-step / (20_000 + 1000 * seed)) + 0.1 * Math.sin(step * 12.9898 + seed));
}

/** One curve into a canvas of dots, two columns and four rows a character. */
function everyPoint(y: Float64Array): Uint8Array {
  const [columns, rows] = [room.width * 2, room.height * 4];
  const dots = new Uint8Array(columns * rows);
  let [low, high] = [Infinity, -Infinity];
  for (const value of y) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  for (let index = 0; index < y.length; index++) {
    const column = Math.floor((index / y.length) * columns);
    const row = Math.floor(((y[index]! - low) / (high - low)) * (rows - 1));
    dots[row * columns + column] = 1;
  }
  return dots;
}
