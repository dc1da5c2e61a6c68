import { parameterOf, type Parameters } from '../../../base/scalar.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { counted } from '../../../text/numbers.js';
import { parameterText } from '../../model/parameter-text.js';
import { scalarText } from '../../widgets/parameters.js';
import { sectionRule } from '../../widgets/section.js';
import { shortKey } from '../../widgets/short-key.js';
import { fit, fitLine, type Line, span } from '../../surface/span.js';
import { deltaCell, fitLineRight, sampleCell } from '../compare/compare-cells.js';
import { deltaOf, type Direction, sampleOf } from '../compare/compare-value.js';

/** A run with what it was given and what it came to. */
export type Contestant = {
  readonly name: string;
  readonly parameters: Parameters;
  readonly metrics: Readonly<Record<string, number | null>>;
};

export type Contest = {
  readonly best: Contestant;
  readonly baseline: Contestant;
  /** Metrics to compare, the objective first, and which way each should go. */
  readonly metrics: readonly { readonly key: string; readonly direction: Direction }[];
};

type Room = { readonly width: number; readonly height: number };
type Row = { readonly name: string; readonly best: Line; readonly baseline: Line; readonly change: Line };

/**
 * What the best run did otherwise than the baseline, and what it gained by it: metrics, then the parameters that differ, then
 * the others as far as there is room. At most `height` lines of `width` columns.
 */
export function bestAgainstBaseline(contest: Contest, { width, height }: Room): Line[] {
  const keys = [...new Set([...Object.keys(contest.best.parameters), ...Object.keys(contest.baseline.parameters)])];
  const differing = keys.filter((key) => !isSame(contest, key));
  const same = keys.filter((key) => isSame(contest, key));
  const rows = [
    ...contest.metrics.map((metric) => metricRow(contest, metric)),
    ...differing.map((key) => row(contest, key, true)),
  ];
  const rest = same.map((key) => row(contest, key, false));
  const words = `${counted(differing.length, 'parameter')} ${differing.length === 1 ? 'differs' : 'differ'}, ${same.length} the same`;
  const head = [sectionRule('best against baseline', [span(words, 'faint')], width), headLine(contest, width)];
  const table = [...rows, ...rest].map((one) => tableLine(one, width));
  const room = height - head.length;
  if (table.length <= room) return [...head, ...table];
  const hidden = table.length - Math.max(0, room - 1);
  return [...head, ...table.slice(0, Math.max(0, room - 1)), fitLine([span(` +${hidden} more`, 'faint')], width)].slice(
    0,
    height,
  );
}

function isSame({ best, baseline }: Contest, key: string): boolean {
  const [a, b] = [parameterOf(best.parameters, key), parameterOf(baseline.parameters, key)];
  return typeof a === typeof b && parameterText(a) === parameterText(b);
}

function row({ best, baseline }: Contest, key: string, isDifferent: boolean): Row {
  const [a, b] = [parameterOf(best.parameters, key), parameterOf(baseline.parameters, key)];
  // `"true"` in quotes beside `true`.
  const looksSame = isDifferent && scalarText(a) === scalarText(b);
  const text = (value: typeof a) => (looksSame ? cleanText(JSON.stringify(value)) : scalarText(value));
  return {
    name: cleanText(key),
    best: [span(text(a), isDifferent ? 'strong' : 'faint')],
    baseline: [span(text(b), isDifferent ? 'plain' : 'faint')],
    change: isDifferent ? factorCell(a, b) : [],
  };
}

/** `×0.1` of two positive numbers: parameters are thought of in factors. */
function factorCell(best: unknown, baseline: unknown): Line {
  if (typeof best !== 'number' || typeof baseline !== 'number' || !(best > 0 && baseline > 0)) return [];
  const factor = best / baseline;
  return Number.isFinite(factor) ? [span(`×${Number(factor.toPrecision(3))}`, 'dim')] : [];
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
function widthsOf(width: number): { name: number; value: number; change: number } {
  const change = Math.min(18, Math.floor(width * 0.25));
  const name = Math.min(28, Math.floor((width - change) * 0.36));
  return { name, value: Math.min(32, Math.floor((width - change - name) / 2)), change };
}

function headLine({ best, baseline }: Contest, width: number): Line {
  const hasRoom = widthsOf(width).value >= 20;
  const title = (word: string, name: string): Line =>
    hasRoom ? [span(`${word} `, 'faint'), span(cleanText(name), 'title')] : [span(word, 'title')];
  return tableLine(
    { name: '', best: title('best', best.name), baseline: title('baseline', baseline.name), change: [] },
    width,
  );
}

function tableLine({ name, best, baseline, change }: Row, width: number): Line {
  const widths = widthsOf(width);
  const cell = (line: Line) => [...fitLineRight(line, widths.value - 2), span('  ')];
  const label = span(` ${fit(name, Math.min(textWidth(name), widths.name - 2))}`, 'dim');
  return fitLine(
    [...fitLine([label], widths.name), ...cell(best), ...cell(baseline), ...fitLine(change, widths.change)],
    width,
  );
}
