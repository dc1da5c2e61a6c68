import { MOST_LOOKED_INTO } from './detection.js';
import { hasMetrics, type MetricsReport, pythonLine, type SourceReport } from './describe-sources.js';

/** Limit on the metric names listed of each source. */
const MOST_KEYS = 12;
/** Limit on the unused files that are listed. */
const MOST_FILES = 20;

/** A line about a run's metrics. `detail`: it is indented. `code`: it is meant to be copied. */
export type ReportLine = { readonly kind: 'plain' | 'detail' | 'code' | 'gap'; readonly text: string };

const plain = (text: string): ReportLine => ({ kind: 'plain', text });
const detail = (text: string): ReportLine => ({ kind: 'detail', text });
const gap: ReportLine = { kind: 'gap', text: '' };

/** Describes where the metrics of a run were found, and why; without any, what was looked for and how to write them. */
export function reportLines(report: MetricsReport): ReportLine[] {
  return [
    plain(lookedWords(report)),
    ...thereOf(report).flatMap((source) => [gap, ...sourceLines(source)]),
    ...fileLines('Not taken for its own', report.refused),
    ...(report.fix === null ? [] : [plain(`In the sweep file, ${report.fix}.`)]),
    ...fileLines('Passed over', report.passedOver),
    ...(hasMetrics(report)
      ? []
      : [gap, plain('No metrics. Looked for'), ...report.lookedFor.map(detail), gap, ...pythonLines]),
  ];
}

/** The same for an empty chart, where space is short: the fix comes before what was looked for. */
export function emptyLines(report: MetricsReport): ReportLine[] {
  return [
    plain(`No metrics yet: ${lookedWords(report)}`),
    ...thereOf(report).map(({ files, why, obstacle }) => detail(`${files.join(', ')}: ${obstacle ?? why}`)),
    ...[...report.refused, ...report.passedOver].slice(0, MOST_FILES).map(({ file, why }) => detail(`${file}: ${why}`)),
    ...(report.fix === null ? [] : [plain(`In the sweep file, ${report.fix}.`)]),
    ...pythonLines,
    plain('Looked for'),
    ...report.lookedFor.map(detail),
  ];
}

function lookedWords({ folders, isCut, unseen = 0 }: MetricsReport): string {
  const cut = isCut ? ', not into all: there are too many' : '';
  const closed = unseen === 0 ? '' : `; of *.json, *.log and *.txt into ${MOST_LOOKED_INTO}, not into ${unseen} more`;
  return `looked into ${folders} ${folders === 1 ? 'folder' : 'folders'}${cut}${closed}`;
}

/** The sources that are worth a line. */
function thereOf({ sources }: MetricsReport): SourceReport[] {
  return sources.filter(({ state, obstacle }) => state !== 'empty' || obstacle !== null);
}

function sourceLines(source: SourceReport): ReportLine[] {
  const { format, files, why, whose, state, rows, keys, elsewhere, settings = [] } = source;
  const counted =
    state === 'told' ? `${rows} ${rows === 1 ? 'row' : 'rows'}` : state === 'beside' ? 'not used' : 'empty';
  return [
    plain(`${files.join(', ')} (${format}): ${counted}`),
    detail(`found because of: ${why}`),
    ...(whose === undefined ? [] : [detail(`of this run because: ${whose}`)]),
    ...(keys.length === 0 ? [] : [detail(`metrics: ${listed(keys)}`)]),
    ...(elsewhere.length === 0 ? [] : [detail(`taken from a source above: ${listed(elsewhere)}`)]),
    ...(settings.length === 0 ? [] : [detail(`settings, printed once before them: ${listed(settings)}`)]),
    ...notesOf(source).map(detail),
  ];
}

function notesOf({ leftOut = [], obstacle }: SourceReport): readonly string[] {
  return obstacle === null ? leftOut : [...leftOut, obstacle];
}

function fileLines(heading: string, files: MetricsReport['passedOver']): ReportLine[] {
  if (files.length === 0) return [];
  const shown = files.slice(0, MOST_FILES).map(({ file, why }) => detail(`${file}: ${why}`));
  const rest = files.length - MOST_FILES;
  return [gap, plain(heading), ...shown, ...(rest > 0 ? [detail(`and ${rest} more`)] : [])];
}

const pythonLines: readonly ReportLine[] = [
  plain('This line of Python writes some:'),
  { kind: 'code', text: pythonLine },
];

function listed(keys: readonly string[]): string {
  const rest = keys.length - MOST_KEYS;
  return keys.slice(0, MOST_KEYS).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
