import { Box } from 'ink';
import { leftText } from '../../../analysis/forecast/forecast.js';
import { cleanText, lineText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { durationRange, shortDuration } from '../../../text/duration.js';
import { narrowNumber } from '../../../text/numbers.js';
import { stateLook } from '../../model/state-look.js';
import type { BranchValue } from '../../model/tree/branch-value.js';
import { useExtent, useModel, useScreen, useScreenData } from '../../model/use-model.js';
import { type Line, lineWidth, span } from '../../surface/span.js';
import { countsLine, progressBar, shortKey } from '../../widgets/line-parts.js';
import { type Column, Table, tableWidth } from '../../widgets/table.js';
import { Paragraph, Rows, Section, Text } from '../../widgets/text.js';
import { sampleCell } from '../compare/comparison.js';
import type { ScreenProps } from '../screen.js';
import type { FailureClass, GroupOverview, SlowRun, SweepOverview } from './sweep-overview.js';

/** The sweep as a whole: its facts, groups, results by setting, slow and failed runs. */
export function SweepScreen({ size: { width, height } }: ScreenProps) {
  const overview = useScreenData<SweepOverview>('sweep');
  const { top } = useScreen('sweep');
  const title = useModel((model) => model.title);
  const page = Math.max(1, height - 1);
  const { box, length } = useExtent(page);
  const first = Math.max(0, Math.min(top, length - page));
  const below = length - first - page;
  const right = below > 0 ? [span(`${below} more lines ↓`, 'accent')] : first > 0 ? [span('the end', 'faint')] : [];
  return (
    <Box width={width} height={height} flexDirection="column" overflow="hidden">
      <Section title={`sweep · ${cleanText(title)}`} right={right} width={width} />
      <Box height={page} flexDirection="column" overflow="hidden">
        <Box ref={box} flexDirection="column" flexShrink={0} marginTop={-first}>
          <Overview overview={overview} width={width} />
        </Box>
      </Box>
    </Box>
  );
}

type Part = { readonly overview: SweepOverview; readonly width: number };

function Overview({ overview, width }: Part) {
  const { runs, description, slowest, failures } = overview;
  if (runs === 0) return <Rows lines={[[], [span(' The sweep has no runs yet.', 'dim')]]} />;
  return (
    <>
      {description !== null && (
        <Box paddingLeft={1}>
          <Paragraph tone="dim" width={width - 2} rows={3}>
            {cleanText(description)}
          </Paragraph>
        </Box>
      )}
      <Answers answers={overview.answers} width={width} />
      <Facts {...overview} />
      <Groups overview={overview} width={width} />
      <TextSection title="studies" lines={overview.studies} width={width} />
      <TextSection title="results" lines={overview.results} width={width} />
      <Trouble slowest={slowest} failures={failures} width={width} />
    </>
  );
}

/** Which setting is best, in sentences, under the name of its group where there are several. */
function Answers({ answers, width }: { readonly answers: SweepOverview['answers']; readonly width: number }) {
  if (answers.length === 0) return null;
  return (
    <Box paddingLeft={1} marginBottom={1} flexDirection="column" flexShrink={0}>
      {answers.map(({ group, sentences }) => (
        <Paragraph key={group ?? ''} width={width - 2} rows={8}>
          {cleanText([...(group === null ? [] : [`${group}:`]), ...sentences].join(' '))}
        </Paragraph>
      ))}
    </Box>
  );
}

/** Total time and rate. */
function Facts({ runs, runTime, gpuTime, rate, again }: SweepOverview) {
  const facts: [string, string][] = [
    [String(runs), runs === 1 ? 'run' : 'runs'],
    ...(rate === null
      ? []
      : [[rateText(rate.done), `done ${rate.per === 'hour' ? 'an hour' : 'a minute'}`] as [string, string]]),
    ...(runTime === 0 ? [] : [[shortDuration(runTime), 'of run time'] as [string, string]]),
    ...(gpuTime === 0 ? [] : [[`${(gpuTime / 3_600_000).toFixed(1)}`, 'GPU hours'] as [string, string]]),
    ...(again === 0 ? [] : [[String(again), again === 1 ? 'further attempt' : 'further attempts'] as [string, string]]),
  ];
  return (
    <Box flexShrink={0} height={2} paddingLeft={1} columnGap={3}>
      {facts.map(([number, word]) => (
        <Text key={word}>
          <Text tone="strong">{number}</Text>
          <Text tone="dim"> {word}</Text>
        </Text>
      ))}
    </Box>
  );
}

function rateText(rate: number): string {
  return rate >= 10 ? rate.toFixed(0) : rate.toFixed(1);
}

type TextProps = { readonly title: string; readonly lines: SweepOverview['results']; readonly width: number };

/** The table of results by setting over its seeds, or studies; nothing where there are none. */
function TextSection({ title, lines, width }: TextProps) {
  const shown = lines?.(width - 2) ?? [];
  if (shown.length === 0) return null;
  return (
    <Section title={title} width={width}>
      <Rows lines={[...shown.map((text): Line => [span(` ${lineText(text)}`)]), []]} />
    </Section>
  );
}

const progressWidth = 15;
const valueWidth = 16;

/** A row per group: runs by state, progress, time, its best setting, and the values of the shown metrics. */
function Groups({ overview: { groups, metrics }, width }: Part) {
  const name = Math.min(Math.floor(width * 0.3), Math.max(8, ...groups.map(nameLength))) + 2;
  const counts = Math.min(28, Math.max(5, ...groups.map(({ tally }) => lineWidth(countsLine(tally)))));
  const known: Column<GroupOverview>[] = [
    { title: ' group', width: name, gap: 0, cell: nameCell },
    { title: 'runs', width: counts, gap: 1, cell: ({ tally }) => countsLine(tally) },
    { title: 'progress', width: progressWidth, cell: progressCell },
    {
      ...{ title: 'time', width: 7, isRight: true },
      cell: ({ runTime }) => [span(runTime === 0 ? '' : shortDuration(runTime), 'dim')],
    },
    {
      ...{ title: 'left', width: 7, isRight: true },
      cell: ({ left }) => [span(left === null ? '' : durationRange(left), 'dim')],
    },
  ];
  const settings = new Map(groups.map((group) => [group, settingOf(group)]));
  const setting = Math.min(24, Math.max(12, ...[...settings.values()].map(textWidth)));
  const best: Column<GroupOverview>[] = [...settings.values()].every((text) => text === '')
    ? []
    : [{ title: 'best setting', width: setting, cell: (group) => [span(settings.get(group)!, 'good')] }];
  const free = width - tableWidth([...known, ...best]);
  const values = metrics
    .slice(0, Math.max(0, Math.floor(free / (valueWidth + 2))))
    .map((key, index): Column<GroupOverview> => ({
      ...{ title: cutTitle(cleanText(shortKey(key))), width: valueWidth, isRight: true },
      cell: ({ values, tally: { total } }) => valueCell(values[index] ?? null, total),
    }));
  return (
    <Box marginBottom={1} flexShrink={0}>
      <Section title="groups" width={width}>
        <Table columns={[...known, ...(free >= 0 ? best : []), ...values]} items={groups} width={width} />
      </Section>
    </Box>
  );
}

function cutTitle(text: string): string {
  return textWidth(text) <= valueWidth ? text : `${text.slice(0, valueWidth - 1)}…`;
}

function nameLength({ name, title }: GroupOverview): number {
  return textWidth(cleanText(name)) + (title === null ? 0 : 2 + textWidth(cleanText(title)));
}

function nameCell({ name, title }: GroupOverview): Line {
  return [span(` ${cleanText(name)}`, 'title'), span(title === null ? '' : `  ${cleanText(title)}`, 'dim')];
}

function progressCell({ tally: { counts, total, progress } }: GroupOverview): Line {
  const bar = progressBar(progress, progressWidth - 5, counts.done === total ? 'good' : 'busy');
  return [...bar, span(`${Math.floor(progress * 100)}%`.padStart(5), 'dim')];
}

/** Empty: it is not known which is best, or there is no choice. */
function settingOf({ values }: GroupOverview): string {
  return values.find((value) => value?.kind === 'best')?.setting ?? '';
}

/** A number, `9.310 ±0.12`, or `0.02…9.31` where it is not known yet which setting is best. */
function valueCell(value: BranchValue | null, runs: number): Line {
  if (value === null) return [span('–', 'faint')];
  if (value.kind === 'best') return [span(narrowNumber(value.value), 'value')];
  if (value.kind === 'seeds')
    return sampleCell({ kind: 'mean', ...value.values }, runs, { unread: 0, behind: value.behind });
  if (value.low > value.high) return [span(value.broken, 'bad')];
  return [span(`${narrowNumber(value.low)}…${narrowNumber(value.high)}`, 'value')];
}

/** Minimum width for showing both parts of the trouble beside each other, and the columns between them. */
const wide = 100;
const gap = 3;

type TroubleProps = Pick<SweepOverview, 'slowest' | 'failures'> & { readonly width: number };

/** Runs that took longest, and kinds of failure. */
function Trouble({ slowest, failures, width }: TroubleProps) {
  const isWide = width >= wide && slowest.length > 0;
  const left = isWide ? Math.floor((width - gap) / 2) : width;
  return (
    <Box flexShrink={0} flexDirection={isWide ? 'row' : 'column'} columnGap={gap} rowGap={1}>
      {slowest.length > 0 && <Slowest runs={slowest} width={left} />}
      <Failures failures={failures} width={isWide ? width - gap - left : width} />
    </Box>
  );
}

function Slowest({ runs, width }: { readonly runs: readonly SlowRun[]; readonly width: number }) {
  const columns: Column<SlowRun>[] = [
    { gap: 1, width: 1, cell: ({ run: { state } }) => [span(stateLook[state].glyph, stateLook[state].tone)] },
    { gap: 1, width: Math.max(8, width - 30), cell: ({ run }) => [span(cleanText(run.name))] },
    { gap: 0, width: 8, isRight: true, cell: ({ time }) => [span(shortDuration(time), 'plain')] },
    { gap: 0, width: 8, isRight: true, cell: factorCell },
    { cell: ({ run }) => [span(leftText(run) === '' ? '' : `${leftText(run)} left`, 'dim')] },
  ];
  return (
    <Section title="slowest runs" right={[span('beside the median of the group', 'faint')]} width={width}>
      <Table columns={columns} items={runs} width={width} heading={null} />
    </Section>
  );
}

function factorCell({ factor }: SlowRun): Line {
  if (factor === null) return [];
  return [span(`×${factor.toFixed(factor < 10 ? 1 : 0)}`, factor >= 1.5 ? 'warn' : 'dim')];
}

function Failures({ failures, width }: { readonly failures: readonly FailureClass[]; readonly width: number }) {
  const count = failures.reduce((sum, failure) => sum + failure.count, 0);
  return (
    <Section title="failures" right={count === 0 ? [] : [span(String(count), 'bad')]} width={width}>
      <Rows lines={count === 0 ? [[span(' None.', 'good')]] : failures.flatMap(failureRows)} />
    </Section>
  );
}

/** The class, and below it its most common reason and the names of a few runs. */
function failureRows({ name, count, reason, reasonCount, runs }: FailureClass): Line[] {
  const { glyph, tone } = stateLook[runs[0]!.state];
  const shown = reasonCount > 1 && reasonCount < count ? `  (${reasonCount} of ${count})` : '';
  const names = runs.slice(0, 3).map((run) => cleanText(run.name));
  const more = runs.length > names.length ? `, and ${runs.length - names.length} more` : '';
  return [
    [span(` ${glyph} `, tone), span(`${count} × ${name}`, 'strong')],
    ...(reason === null ? [] : [[span(`   ${reason}${shown}`, tone)]]),
    [span(`   ${names.join(', ')}${more}`, 'dim')],
  ];
}
