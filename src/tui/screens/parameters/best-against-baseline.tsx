import { parameterOf, type Parameters } from '../../../base/scalar.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { counted, factorText } from '../../../text/numbers.js';
import { useReported } from '../../model/use-model.js';
import { parameterText } from '../../model/varying-parameters.js';
import { scalarText } from '../../widgets/parameters.js';
import { shortKey } from '../../widgets/line-parts.js';
import { type Column, Table } from '../../widgets/table.js';
import { Row, Rows, Section } from '../../widgets/text.js';
import { type Line, lineWidth, span } from '../../surface/span.js';
import { deltaCell, sampleCell } from '../compare/comparison.js';
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

type Item = { readonly name: string; readonly best: Line; readonly baseline: Line; readonly change: Line };

/** `notes`: lines below the table. `isScrolled`: whether the movement keys scroll it. */
type Props = {
  readonly contest: Contest;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly notes: readonly Line[];
  readonly isScrolled: boolean;
};

/** The best run beside the baseline: metrics, then the parameters that differ, then the others, from row `top` on. */
export function BestAgainstBaseline({ contest, top, width, height, notes, isScrolled }: Props) {
  const { differing, same } = parametersOf(contest);
  const words = `${counted(differing.length, 'parameter')} ${differing.length === 1 ? 'differs' : 'differ'}, ${same.length} the same`;
  const rows = contestRows(contest);
  const kept = notes.slice(0, Math.max(0, height - 8));
  const page = Math.max(1, height - 2 - kept.length);
  useReported(isScrolled ? { length: rows.length, page } : null);
  const first = Math.max(0, Math.min(top, rows.length - page));
  const hidden = rows.length - first - page;
  const shown = hidden > 0 ? page - 1 : page;
  return (
    <Section
      title={`${contest.best.word} against ${contest.baseline.word}`}
      right={[span(words, 'faint')]}
      width={width}
    >
      <Table columns={columnsOf(contest, rows, width)} items={rows} {...{ width, top: first }} height={shown + 1} />
      {hidden > 0 && <Row line={[span(` ${hidden + 1} more ↓`, 'faint')]} />}
      <Rows lines={kept} />
    </Section>
  );
}

function contestRows(contest: Contest): Item[] {
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
function seedRows({ best, baseline, metrics: [metric] }: Contest): Item[] {
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

function row({ best, baseline }: Contest, key: string, isDifferent: boolean): Item {
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

function metricRow({ best, baseline }: Contest, { key, direction }: Contest['metrics'][number]): Item {
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

/** Names and changes get the width they need, within limits; values get the rest. */
function columnsOf({ best, baseline }: Contest, items: readonly Item[], width: number): Column<Item>[] {
  const changes = items.map((one) => lineWidth(one.change));
  const change = Math.min(Math.max(4, ...changes) + 1, 18, Math.floor(width * 0.34));
  const longest = Math.max(6, ...items.map(({ name }) => textWidth(name)));
  const name = Math.min(longest + 3, 30, Math.floor((width - change) * 0.4));
  const value = Math.min(34, Math.floor((width - change - name) / 2)) - 2;
  return [
    { width: name - 3, gap: 1, cell: (item) => [span(item.name, 'dim')] },
    { title: titleOf(best, value), width: value, isRight: true, cell: (item) => item.best },
    { title: titleOf(baseline, value), width: value, isRight: true, cell: (item) => item.baseline },
    { width: change, cell: (item) => item.change },
  ];
}

/** The role of a run and its name, or one of them if there is no room for both. */
function titleOf({ word, name: dirty }: Contestant, room: number): Line {
  const name = cleanText(dirty);
  if (word.length + 1 + textWidth(name) <= room) return [span(`${word} `, 'faint'), span(name, 'title')];
  return [span(textWidth(name) <= room ? name : word, 'title')];
}
