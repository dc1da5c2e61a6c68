import * as Plot from '@observablehq/plot';
import type { Importance } from '../../analysis/parameters/parameter-importance.js';
import { parameterOf, type ParameterValue } from '../../base/scalar.js';
import { naturalOrder } from '../../text/natural-order.js';
import { shortNumber } from '../../text/numbers.js';
import type { Figure } from './curve-figures.js';
import { figureSvg, palette, runTitle, tickText } from './figure.js';
import type { PageData, PageRun, Ranking } from './page-data.js';
import { asInfinite, ticksOf, valueAxis, type ValueAxis } from './value-axis.js';

/** Limits on the parameters with a figure each, and on the axes of the parallel coordinates besides the value. */
const MOST_SCATTERS = 4;
const MOST_AXES = 6;
/** Ratio of the largest value to the smallest from which on positive values have a logarithmic axis. */
const LOG_RATIO = 50;

/** `value`: may be infinite, as `asInfinite`. */
type Measured = PageRun & { readonly index: number; readonly value: number };

/** Figures of the parameters' effects on the results of the ranked group. Empty if too little is known. */
export function parameterFigures({ runs, ranking, rankedGroup, importance }: PageData): Figure[] {
  if (ranking === null || importance?.kind !== 'measured') return [];
  const measured = runs.flatMap((run, index): Measured[] => {
    const { value } = run;
    if (run.group !== rankedGroup || value === null || Number.isNaN(value)) return [];
    return [{ ...run, index, value: Math.min(asInfinite, Math.max(-asInfinite, value)) }];
  });
  const names = importance.parameters.map(({ name }) => name);
  const axes = names.filter((name) => isAxis(name, measured)).slice(0, MOST_AXES);
  const value = valueAxis(
    measured.map((run) => [run.value]),
    'run',
  );
  return [
    importanceFigure(importance, ranking),
    ...names.slice(0, MOST_SCATTERS).map((name) => scatterFigure(name, measured, ranking, value)),
    ...(axes.length > 1 ? [parallelFigure(axes, measured, ranking, value)] : []),
  ];
}

/** Whether a parameter varies, and at least half of the runs pass it: otherwise nearly all lines would cross in one place. */
function isAxis(name: string, runs: readonly Measured[]): boolean {
  const passed = runs.map(({ parameters }) => parameterOf(parameters, name)).filter((value) => value !== undefined);
  return 2 * passed.length >= runs.length && new Set(passed.map((value) => JSON.stringify(value))).size > 1;
}

function importanceFigure(
  { parameters, explained, isNoise }: Extract<Importance, { kind: 'measured' }>,
  { metric }: Ranking,
): Figure {
  const svg = figureSvg(`share of the variance of ${metric} that each parameter makes up`, {
    height: 60 + 26 * parameters.length,
    marginLeft: 170,
    x: { label: 'share of the variance', percent: true, grid: true, domain: [0, 100] },
    y: { label: null, domain: parameters.map(({ name }) => name) },
    marks: [
      Plot.barX(parameters, { x: 'share', y: 'name', fill: palette[0]! }),
      Plot.ruleY(parameters, {
        y: 'name',
        x1: ({ share, spread }: Share) => Math.max(0, share - spread),
        x2: ({ share, spread }: Share) => Math.min(1, share + spread),
      }),
      Plot.ruleX([0]),
    ],
  });
  const words = isNoise
    ? 'A random forest foretells unseen runs no better than chance does: these shares mean nothing.'
    : `A random forest explains ${Math.round(explained * 100)} % of the variance of runs it has not seen; the rest is seeds, chance, or too fine for so few runs. Bars: main effects (functional analysis of variance); lines: one standard deviation from tree to tree.`;
  return { title: `Which parameters matter for ${metric}`, svg, legend: [], note: words };
}

type Share = { share: number; spread: number };

function scatterFigure(name: string, runs: readonly Measured[], { metric }: Ranking, value: ValueAxis): Figure {
  const points = runs.map((run) => ({ ...run, at: parameterOf(run.parameters, name) }));
  const axis = axisOf(points.map(({ at }) => at));
  const { side, domain } = value;
  const x = ({ at }: { at: ParameterValue | undefined }) => (axis.isNumber ? at : textOf(at));
  const outside = ([1, -1] as const).map((way) =>
    Plot.text(
      points.filter((point) => side(point.value) === way),
      {
        ...{ x, y: () => domain[way > 0 ? 1 : 0], dy: 6 * way, fill: palette[0]! },
        text: () => (way > 0 ? '▲' : '▼'),
      },
    ),
  );
  const svg = figureSvg(`${metric} against ${name}`, {
    ...{ width: 420, height: 280 },
    x: axis.isNumber
      ? { type: axis.isLog ? 'log' : 'linear', label: name, nice: true, tickFormat: ticksOf(axis.numbers, axis.isLog) }
      : { type: 'point', label: name, domain: axis.texts, padding: 0.5 },
    y: { label: metric, ...value.scale },
    marks: [
      Plot.dot(
        points.filter((point) => side(point.value) === 0),
        {
          ...{ x, y: 'value', r: 3.5, fill: palette[0]!, fillOpacity: 0.6 },
          title: ({ index }: Measured) => runTitle(index),
        },
      ),
      ...outside,
    ],
  });
  return { title: name, svg, legend: [], note: value.note, isSmall: true };
}

/** A line for each run through its values of all parameters and its result; better runs have stronger lines. */
function parallelFigure(
  names: readonly string[],
  runs: readonly Measured[],
  ranking: Ranking,
  value: ValueAxis,
): Figure {
  const { metric, goal } = ranking;
  const axes = [...names, metric];
  const results = resultPlaces(runs, value);
  const columns = [...names.map((name) => placesOf(runs.map((run) => parameterOf(run.parameters, name)))), results];
  const goodness = (run: number) => (goal === 'minimize' ? 1 - results.places[run]! : results.places[run]!);
  const points = runs.flatMap(({ index }, run) =>
    axes.map((name, axis) => ({ index, name, place: columns[axis]!.places[run]!, good: goodness(run) })),
  );
  const ticks = columns.flatMap(({ labels }, axis) => labels.map((label) => ({ name: axes[axis]!, ...label })));
  const svg = figureSvg(`parameters and ${metric} of ${runs.length} runs as parallel coordinates`, {
    ...{ height: 360, marginLeft: 40, marginRight: 90, marginTop: 30, marginBottom: 16 },
    x: { type: 'point', domain: axes, label: null, axis: 'top' },
    y: { axis: null, domain: [0, 1] },
    marks: [
      Plot.ruleX(axes, { strokeOpacity: 0.4 }),
      Plot.line(points, {
        ...{ x: 'name', y: 'place', z: 'index', stroke: palette[0]! },
        ...{ strokeWidth: 1.2, strokeOpacity: ({ good }: { good: number }) => 0.1 + 0.8 * good ** 2 },
        title: ({ index }: { index: number }) => runTitle(index),
      }),
      Plot.text(ticks, { x: 'name', y: 'place', text: 'text', dx: 6, textAnchor: 'start', fontSize: 11 }),
    ],
  });
  const note = [goal === null ? BY_SIZE : BY_WORTH, value.note].filter((text) => text !== '').join(' ');
  return { title: 'Parameters and results together', svg, legend: [], note };
}

const BY_SIZE = 'The higher the result, the stronger the line.';
const BY_WORTH = 'The better the result, the stronger the line.';

/** The results on an axis from 0 to 1; those outside it are at its ends. */
function resultPlaces(runs: readonly Measured[], { scale, domain, side }: ValueAxis): Labelled {
  const scaled = (value: number) => (scale.type === 'log' ? Math.log(value) : value);
  const inside = runs.map(({ value }) => value).filter((value) => side(value) === 0);
  const [low, high] = inside.length === 0 ? domain : [Math.min(...inside), Math.max(...inside)];
  const placeOf = (value: number) => {
    if (side(value) !== 0) return side(value) > 0 ? 1 : 0;
    return low === high ? 0.5 : (scaled(value) - scaled(low)) / (scaled(high) - scaled(low));
  };
  const labels = [...new Set([low, high])].map((value) => ({ place: placeOf(value), text: shortNumber(value) }));
  return { places: runs.map(({ value }) => placeOf(value)), labels };
}

type Labelled = { readonly places: readonly number[]; readonly labels: readonly { place: number; text: string }[] };

/** The places of values on an axis from 0 to 1, and the labels beside it. */
function placesOf(values: readonly (ParameterValue | undefined)[]): Labelled {
  const { isNumber, isLog, texts } = axisOf(values);
  if (!isNumber) {
    const placeOf = (text: string) => (texts.length === 1 ? 0.5 : texts.indexOf(text) / (texts.length - 1));
    return {
      places: values.map((value) => placeOf(textOf(value))),
      labels: texts.map((text) => ({ place: placeOf(text), text })),
    };
  }
  const scale = (value: number) => (isLog ? Math.log(value) : value);
  const scaled = (values as readonly number[]).map(scale);
  const [low, high] = [Math.min(...scaled), Math.max(...scaled)];
  const placeOf = (value: number) => (low === high ? 0.5 : (scale(value) - low) / (high - low));
  const distinct = [...new Set(values as readonly number[])].sort((a, b) => a - b);
  const shown = distinct.length <= 6 ? distinct : [distinct[0]!, distinct.at(-1)!];
  return {
    places: (values as readonly number[]).map(placeOf),
    labels: shown.map((value) => ({ place: placeOf(value), text: tickText(value) })),
  };
}

function axisOf(values: readonly (ParameterValue | undefined)[]): {
  isNumber: boolean;
  isLog: boolean;
  numbers: readonly number[];
  texts: string[];
} {
  const isNumber = values.every((value) => typeof value === 'number');
  const numbers = isNumber ? values : [];
  const isLog =
    numbers.length > 0 && Math.min(...numbers) > 0 && Math.max(...numbers) / Math.min(...numbers) >= LOG_RATIO;
  return { isNumber, isLog, numbers, texts: [...new Set(values.map(textOf))].sort(naturalOrder) };
}

function textOf(value: ParameterValue | undefined): string {
  return value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
}
