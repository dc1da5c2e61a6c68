import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { fitLineRight, sampleCell } from './compare-cells.js';
import { countsLine } from './counts-line.js';
import { shortDuration } from '../../text/duration.js';
import { progressBar } from './progress-bar.js';
import { sectionRule } from './section.js';
import { shortKey } from './short-key.js';
import { narrowNumber } from '../../text/numbers.js';
import { fit, fitLine, type Line, lineWidth, span } from './span.js';
import type { GroupOverview, SweepOverview } from './sweep-overview.js';

const gap = 2;
const columns = { progress: 15, time: 7, left: 7, value: 16, best: 10 };

/** A row for each group: its runs by state, progress, time, and the mean of what the sweep shows. */
export function groupsSection({ groups, metrics, direction }: SweepOverview, width: number): Line[] {
  const name = Math.min(Math.floor(width * 0.3), Math.max(8, ...groups.map(nameLength))) + 3;
  const counts = Math.min(28, Math.max(5, ...groups.map(({ tally }) => lineWidth(countsLine(tally)))));
  const hasBest = direction !== null && metrics.length > 0;
  const fixed = name + counts + columns.progress + columns.time + columns.left + 4 * gap;
  const free = width - fixed - (hasBest ? columns.best + gap : 0);
  const shown = metrics.slice(0, Math.max(0, Math.floor(free / (columns.value + gap))));
  const isBestShown = hasBest && free >= 0;
  const cells = (texts: readonly [Line, number][]): Line =>
    texts.flatMap(([line, size]) => [span(' '.repeat(gap)), ...fitLineRight(line, size)]);
  const faint = (text: string): Line => [span(fit(text, Math.min(textWidth(text), columns.value)), 'faint')];
  const head = cells([
    ...shown.map((key): [Line, number] => [faint(cleanText(shortKey(key))), columns.value]),
    ...(isBestShown ? [[faint(direction === 'maximize' ? 'greatest' : 'least'), columns.best] as [Line, number]] : []),
  ]);
  const rows = groups.map((group): Line => [
    ...fitLine(nameLine(group), name - 1),
    span(' '),
    ...fitLine(countsLine(group.tally), counts),
    span(' '.repeat(gap)),
    ...progressCell(group),
    ...cells([
      [[span(group.runTime === 0 ? '' : shortDuration(group.runTime), 'dim')], columns.time],
      [[span(group.etaSeconds === null ? '' : shortDuration(group.etaSeconds * 1000), 'dim')], columns.left],
      ...shown.map((_, index): [Line, number] => [valueCell(group, index), columns.value]),
      ...(isBestShown ? [[bestCell(group), columns.best] as [Line, number]] : []),
    ]),
  ]);
  const left = `${fit(' group', name)}${fit('runs', counts)}  ${fit('progress', columns.progress)}${fit('', gap)}${'time'.padStart(columns.time)}${'left'.padStart(columns.left + gap)}`;
  return [
    sectionRule('groups', [], width),
    fitLine([span(left, 'faint'), ...head], width),
    ...rows.map((row) => fitLine(row, width)),
    [],
  ];
}

function nameLength({ name, title }: GroupOverview): number {
  return textWidth(cleanText(name)) + (title === null ? 0 : 2 + textWidth(cleanText(title)));
}

function nameLine({ name, title }: GroupOverview): Line {
  return [span(` ${cleanText(name)}`, 'title'), span(title === null ? '' : `  ${cleanText(title)}`, 'dim')];
}

function progressCell({ tally }: GroupOverview): Line {
  const isDone = tally.counts.done === tally.total;
  const percent = `${Math.floor(tally.progress * 100)}%`;
  return [
    ...progressBar(tally.progress, columns.progress - 5, isDone ? 'good' : 'busy'),
    span(percent.padStart(5), 'dim'),
  ];
}

function valueCell({ values, tally }: GroupOverview, index: number): Line {
  const value = values[index] ?? null;
  if (value === null) return [span('–', 'faint')];
  return sampleCell({ kind: 'mean', ...value }, tally.total);
}

function bestCell({ best }: GroupOverview): Line {
  return best === null ? [span('–', 'faint')] : [span(narrowNumber(best.value), 'good')];
}
