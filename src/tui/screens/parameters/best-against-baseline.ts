import { parameterOf, type Parameters } from '../../../base/scalar.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { counted, factorText } from '../../../text/numbers.js';
import { parameterText } from '../../model/parameter-text.js';
import { scalarText } from '../../widgets/parameters.js';
import { sectionRule } from '../../widgets/section.js';
import { shortKey } from '../../widgets/short-key.js';
import { fit, fitLine, type Line, lineWidth, span } from '../../surface/span.js';
import { deltaCell, fitLineRight, sampleCell } from '../compare/compare-cells.js';
import { deltaOf, type Direction, sampleOf } from '../compare/compare-value.js';

/** A run with its parameters and results. `word`: its role, such as `best` or `baseline`. */
export type Contestant = {
  readonly word: string;
  readonly name: string;
  readonly parameters: Parameters;
  readonly metrics: Readonly<Record<string, number | null>>;
  /** Values of the first metric in all runs that differ only in their seeds, including its own. */
  readonly overSeeds: readonly number[];
};

export type Contest = {
  readonly best: Contestant;
  readonly baseline: Contestant;
  /** Metrics to compare, the objective first, with their directions. */
  readonly metrics: readonly { readonly key: string; readonly direction: Direction }[];
};

type Room = { readonly width: number; readonly height: number };
type Row = { readonly name: string; readonly best: Line; readonly baseline: Line; readonly change: Line };

/**
 * Compares the best run with the baseline: metrics, then the parameters that differ, then the others. At most `height` lines of
 * `width` columns, starting at row `top`.
 */
export function bestAgainstBaseline(contest: Contest, top: number, { width, height }: Room): Line[] {
  const { differing, same } = parametersOf(contest);
  const words = `${counted(differing.length, 'parameter')} ${differing.length === 1 ? 'differs' : 'differ'}, ${same.length} the same`;
  const title = `${contest.best.word} against ${contest.baseline.word}`;
  const rows = contestRows(contest);
  const widths = widthsOf(rows, width);
  const head = [sectionRule(title, [span(words, 'faint')], width), headLine(contest, widths, width)];
  const table = rows.map((one) => tableLine(one, widths, width));
  const room = Math.max(0, height - head.length);
  const from = Math.max(0, Math.min(top, table.length - room));
  const hidden = table.length - from - room;
  if (hidden <= 0) return [...head, ...table.slice(from)].slice(0, height);
  const shown = table.slice(from, from + Math.max(0, room - 1));
  return [...head, ...shown, fitLine([span(` ${hidden + 1} more ↓`, 'faint')], width)].slice(0, height);
}

/** Number of rows to scroll through, and number of visible rows. */
export function contestExtent(contest: Contest, height: number): { readonly length: number; readonly page: number } {
  return { length: contestRows(contest).length, page: Math.max(1, height - 2) };
}

function contestRows(contest: Contest): Row[] {
  const { differing, same } = parametersOf(contest);
  const [first, ...rest] = contest.metrics.map((metric) => metricRow(contest, metric));
  return [
    ...(first === undefined ? [] : [first, ...seedRows(contest)]),
    ...rest,
    ...differing.map((key) => row(contest, key, true)),
    ...same.map((key) => row(contest, key, false)),
  ];
}

function parametersOf(contest: Contest): { readonly differing: string[]; readonly same: string[] } {
  const keys = [...new Set([...Object.keys(contest.best.parameters), ...Object.keys(contest.baseline.parameters)])];
  return {
    differing: keys.filter((key) => !isSame(contest, key)),
    same: keys.filter((key) => isSame(contest, key)),
  };
}

/** Mean over seeds, because the best of many runs was also lucky. */
function seedRows({ best, baseline, metrics: [metric] }: Contest): Row[] {
  if (metric === undefined || best.overSeeds.length + baseline.overSeeds.length <= 2) return [];
  const sample = ({ overSeeds }: Contestant) => sampleOf(overSeeds.map((value) => ({ low: value, high: value })));
  const cell = (contestant: Contestant): Line => [
    ...sampleCell(sample(contestant), contestant.overSeeds.length),
    ...(contestant.overSeeds.length > 1 ? [span(` n${contestant.overSeeds.length}`, 'faint')] : []),
  ];
  return [
    {
      name: 'mean of its seeds',
      best: cell(best),
      baseline: cell(baseline),
      change: deltaCell(deltaOf(sample(best), sample(baseline), metric.direction)),
    },
  ];
}

function isSame({ best, baseline }: Contest, key: string): boolean {
  const [a, b] = [parameterOf(best.parameters, key), parameterOf(baseline.parameters, key)];
  return typeof a === typeof b && parameterText(a) === parameterText(b);
}

function row({ best, baseline }: Contest, key: string, isDifferent: boolean): Row {
  const [a, b] = [parameterOf(best.parameters, key), parameterOf(baseline.parameters, key)];
  // If values look the same, text is quoted: `"true"` beside `true`.
  const looksSame = isDifferent && scalarText(a) === scalarText(b);
  const text = (value: typeof a) => (looksSame ? cleanText(JSON.stringify(value)) : scalarText(value));
  return {
    name: cleanText(key),
    best: [span(text(a), isDifferent ? 'strong' : 'faint')],
    baseline: [span(text(b), isDifferent ? 'plain' : 'faint')],
    change: isDifferent ? factorCell(a, b) : [],
  };
}

/** `×0.1` for two positive numbers, since parameters are usually compared by factors. */
function factorCell(best: unknown, baseline: unknown): Line {
  if (typeof best !== 'number' || typeof baseline !== 'number' || !(best > 0 && baseline > 0)) return [];
  const factor = best / baseline;
  return Number.isFinite(factor) ? [span(factorText(factor), 'dim')] : [];
}

function metricRow({ best, baseline }: Contest, { key, direction }: Contest['metrics'][number]): Row {
  const sample = ({ metrics }: Contestant) => {
    const value = metrics[key] ?? null;
    return value === null || !Number.isFinite(value) ? null : sampleOf([{ low: value, high: value }]);
  };
  return {
    name: shortKey(cleanText(key)),
    best: sampleCell(sample(best), 1),
    baseline: sampleCell(sample(baseline), 1),
    change: deltaCell(deltaOf(sample(best), sample(baseline), direction)),
  };
}

/** Columns of the name, of each value and of the change. */
type Widths = { readonly name: number; readonly value: number; readonly change: number };

/** Names and changes get the width they need, within limits; values get the rest. */
function widthsOf(rows: readonly Row[], width: number): Widths {
  const change = Math.min(Math.max(4, ...rows.map((one) => lineWidth(one.change))) + 1, 18, Math.floor(width * 0.34));
  const longest = Math.max(6, ...rows.map(({ name }) => textWidth(name)));
  const name = Math.min(longest + 3, 30, Math.floor((width - change) * 0.4));
  return { name, value: Math.min(34, Math.floor((width - change - name) / 2)), change };
}

function headLine({ best, baseline }: Contest, widths: Widths, width: number): Line {
  const title = (word: string, dirty: string): Line => {
    const [name, room] = [cleanText(dirty), widths.value - 2];
    if (word.length + 1 + textWidth(name) <= room) return [span(`${word} `, 'faint'), span(name, 'title')];
    return [span(textWidth(name) <= room ? name : word, 'title')];
  };
  return tableLine(
    { name: '', best: title(best.word, best.name), baseline: title(baseline.word, baseline.name), change: [] },
    widths,
    width,
  );
}

function tableLine({ name, best, baseline, change }: Row, widths: Widths, width: number): Line {
  const cell = (line: Line) => [...fitLineRight(line, widths.value - 2), span('  ')];
  const label = span(` ${fit(name, Math.min(textWidth(name), widths.name - 2))}`, 'dim');
  return fitLine(
    [...fitLine([label], widths.name), ...cell(best), ...cell(baseline), ...fitLine(change, widths.change)],
    width,
  );
}
