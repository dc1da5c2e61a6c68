import { hasMetrics, type MetricsReport, pythonLine, type SourceReport } from '../../metrics/describe-sources.js';
import { wrap } from '../../text/wrap.js';

/** Names of metrics listed of each source. */
const MOST_KEYS = 12;
/** Files listed that were passed over. */
const MOST_FILES = 20;

/** Where the metrics of a run are found, and why, as lines of text; without any, what was looked for and what to write. */
export function metricsLines(directory: string, report: MetricsReport, width: number): string[] {
  const { sources, passedOver, folders, isCut } = report;
  const there = sources.filter(({ state, obstacle }) => state !== 'empty' || obstacle !== null);
  const looked = `looked into ${folders} ${folders === 1 ? 'folder' : 'folders'}${isCut ? ', not into all: there are too many' : ''}`;
  return [
    ...wrap(`${directory}: ${looked}`, width, '  '),
    ...there.flatMap((source) => ['', ...sourceLines(source, width)]),
    ...passedOverLines(passedOver, width),
    ...(hasMetrics(report) ? [] : ['', ...emptyLines(report, width)]),
  ];
}

function sourceLines(
  { format, files, why, state, rows, keys, elsewhere, obstacle }: SourceReport,
  width: number,
): string[] {
  const counted =
    state === 'told' ? `${rows} ${rows === 1 ? 'row' : 'rows'}` : state === 'beside' ? 'not used' : 'empty';
  const lines = [
    `found because of: ${why}`,
    ...(keys.length === 0 ? [] : [`metrics: ${listed(keys)}`]),
    ...(elsewhere.length === 0 ? [] : [`taken from a source above: ${listed(elsewhere)}`]),
    ...(obstacle === null ? [] : [obstacle]),
  ];
  return [`${files.join(', ')} (${format}): ${counted}`, ...lines].flatMap((line, index) =>
    index === 0 ? wrap(line, width) : indented(line, width),
  );
}

function passedOverLines(files: MetricsReport['passedOver'], width: number): string[] {
  if (files.length === 0) return [];
  const shown = files.slice(0, MOST_FILES).flatMap(({ file, why }) => indented(`${file}: ${why}`, width));
  const rest = files.length - MOST_FILES;
  return ['', 'Passed over', ...shown, ...(rest > 0 ? [`  and ${rest} more`] : [])];
}

function emptyLines({ lookedFor }: MetricsReport, width: number): string[] {
  return [
    'No metrics. Looked for',
    ...lookedFor.flatMap((what) => indented(what, width)),
    '',
    'This line of Python writes some:',
    // Not wrapped: it is there to be copied.
    `  ${pythonLine}`,
  ];
}

/** Two columns in; lines after the first four. */
function indented(text: string, width: number): string[] {
  return wrap(text, width - 2).map((line) => `  ${line}`);
}

function listed(keys: readonly string[]): string {
  const rest = keys.length - MOST_KEYS;
  return keys.slice(0, MOST_KEYS).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
