import { runFiles, runMarks } from '../contract/files.js';
import { isSystemMetric } from '../contract/metric-names.js';
import { MOST_LOOKED_INTO } from './detection.js';
import { isLog } from './formats/log/log.js';
import { nanWords } from './line.js';
import { leftOutWords } from './metric-table.js';
import type { RunMetrics } from './run-metrics.js';
import type { Source } from './source.js';

/**
 * One source of a run. `files`: as seen from the run. `why`: how its format was recognised. `whose`: the evidence that files
 * outside the run's directory belong to it; absent: they are in its directory, or where its sweep says.
 */
type SourceReport = {
  readonly format: string;
  readonly files: readonly string[];
  readonly why: string;
  readonly whose?: string;
  /**
   * `told`: metrics are taken from it. `beside`: other sources have all its metrics, or it is the log of a run that also has files
   * of metrics. `empty`: it has no metrics yet.
   */
  readonly state: 'told' | 'beside' | 'empty';
  readonly rows: number;
  /** The metrics taken from it; and those for which an earlier source takes precedence. */
  readonly keys: readonly string[];
  readonly elsewhere: readonly string[];
  /** Keys of values that are settings of the program, not metrics. */
  readonly settings?: readonly string[];
  readonly obstacle: string | null;
  /** Written values that do not count, in words. */
  readonly leftOut?: readonly string[];
};

/** Where the metrics of a run are, and why; an empty chart shows it. */
export type MetricsReport = {
  /** In order of precedence: a metric is taken from the first source that has it. */
  readonly sources: readonly SourceReport[];
  /** Files that resemble files of metrics, and why they are not used. */
  readonly passedOver: readonly { readonly file: string; readonly why: string }[];
  /** Files outside the directory that may be the run's, and why they are not used. */
  readonly refused: readonly { readonly file: string; readonly why: string }[];
  /** What to write into the sweep file so that the ownership of files is certain; null: it is. */
  readonly fix: string | null;
  /** Number of folders that were searched; `isCut`: there are more than are searched. */
  readonly folders: number;
  readonly isCut: boolean;
  /** Number of files that were not opened, as their names say nothing of metrics and there are too many; absent: none. */
  readonly unseen?: number;
  /** The formats that are looked for, in order of precedence. */
  readonly lookedFor: readonly string[];
};

/** A line of Python that writes a first metric. */
export const pythonLine =
  `import json, os; open(os.environ["${runMarks.directory}"] + "/${runFiles.metrics}", "a")` +
  String.raw`.write(json.dumps({"step": step, "loss": float(loss)}) + "\n")`;

/** Describes the sources of a run, as far as they have been read. */
export function describeSources(metrics: RunMetrics): MetricsReport {
  const { detection } = metrics;
  const { files, refused, shared, fix } = detection.outside.written;
  const read = new Set(metrics.all.flatMap(({ found }) => found.paths));
  const whose = new Map(files.map(({ path, why }) => [path, why]));
  return {
    sources: metrics.all.map((source) => ({
      ...sourceReport(source, metrics),
      ...whoseOf(source, whose),
    })),
    passedOver: detection.passedOver.map(({ place, why }) => ({ file: place, why })),
    refused: [
      ...refused.filter(({ path }) => !read.has(path)).map(({ path, why }) => ({ file: path, why })),
      ...shared.map(sharedFolder),
    ],
    fix,
    ...detection.looked,
    lookedFor: detection.formats.flatMap(({ looksFor, isTimed }) => (isTimed === true ? [] : [looksFor])),
  };
}

function whoseOf({ found: { paths } }: Source, whose: ReadonlyMap<string, string>): Pick<SourceReport, 'whose'> {
  const words = [...new Set(paths.flatMap((path) => whose.get(path) ?? []))];
  return words.length === 0 ? {} : { whose: words.join('; ') };
}

function sharedFolder(folder: string): MetricsReport['refused'][number] {
  return {
    file: folder,
    why: '`metrics.folders` of other runs names it, too: of what is in it, only files that are known to be of this run are read',
  };
}

function sourceReport(source: Source, metrics: RunMetrics): SourceReport {
  const { found, table, reader } = source;
  const isTold = metrics.told.includes(source);
  const isUnread = !isTold && isLog(found.format);
  const names = source.keys().map((key) => metrics.nameIn(source, key));
  const [own = [], elsewhere = []] = isTold
    ? [true, false].map((isOwn) => names.filter((name) => (metrics.sourceOf(name) === source) === isOwn))
    : [];
  return {
    format: found.format.name,
    files: found.places,
    why: isUnread ? 'what the run prints counts while no file has metrics' : found.why,
    state: own.length > 0 ? 'told' : names.length > 0 || isUnread ? 'beside' : 'empty',
    rows: table.rows,
    keys: own,
    elsewhere,
    settings: isTold ? source.settings() : [],
    obstacle: reader.obstacle,
    leftOut: [...leftOutWords(table.leftOut), ...notNumbersWords(own, metrics), ...mediaIn(source)],
  };
}

function mediaIn({ reader: { media } }: Source): readonly string[] {
  return media ?? [];
}

/** Limit on the metrics whose NaN are counted in words. */
const MOST_NAMED = 12;

/** How many values of each metric are NaN: `NaN in 3 of 40 values of reward`. */
function notNumbersWords(names: readonly string[], metrics: RunMetrics): string[] {
  const found = names.flatMap((name) => nanWords(name, metrics.series(name)) ?? []);
  const rest = found.length - MOST_NAMED;
  return [...found.slice(0, MOST_NAMED), ...(rest > 0 ? [`NaN in ${rest} more metrics`] : [])];
}

/** Whether the run has any metrics but those of the machine. */
export function hasMetrics({ sources }: MetricsReport): boolean {
  return sources.some(({ state, keys }) => state === 'told' && !keys.every(isSystemMetric));
}

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
