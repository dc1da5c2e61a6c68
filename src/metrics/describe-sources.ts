import { runFiles, runMarks } from '../contract/files.js';
import { isLog } from './formats/log/log.js';
import type { RunMetrics } from './run-metrics.js';
import type { Source } from './source.js';

/**
 * One source of a run. `files`: as seen from the run. `why`: what it was told by. `whose`: of files elsewhere, what says that they
 * are the run's; absent: they lie in its directory, or where its sweep says.
 */
export type SourceReport = {
  readonly format: string;
  readonly files: readonly string[];
  readonly why: string;
  readonly whose?: string;
  /**
   * `told`: metrics are taken from it. `beside`: others say all that it says, or a file has metrics, so that what the run prints
   * is not read. `empty`: it has no metrics yet.
   */
  readonly state: 'told' | 'beside' | 'empty';
  readonly rows: number;
  /** The metrics taken from it; and those that an earlier source counts for. */
  readonly keys: readonly string[];
  readonly elsewhere: readonly string[];
  /** Values that are settings of the program, and no metrics. */
  readonly settings?: readonly string[];
  readonly obstacle: string | null;
};

/** Where the metrics of a run are, and why; as much as an empty chart has to say. */
export type MetricsReport = {
  /** In order of precedence: of a metric that several have, the first counts. */
  readonly sources: readonly SourceReport[];
  /** Files that are like those of metrics, with what speaks against them. */
  readonly passedOver: readonly { readonly file: string; readonly why: string }[];
  /** Files elsewhere that may be the run's, with what speaks against it. */
  readonly refused: readonly { readonly file: string; readonly why: string }[];
  /** What is to be written into the sweep file so that there is no doubt whose a file is; null: there is none. */
  readonly fix: string | null;
  /** Folders that were looked into; `isCut`: there are more than are looked into. */
  readonly folders: number;
  readonly isCut: boolean;
  /** What is looked for, in the order of precedence. */
  readonly lookedFor: readonly string[];
};

/** The line of Python that gives a run without metrics its first curve. */
export const pythonLine =
  `import json, os; open(os.environ["${runMarks.directory}"] + "/${runFiles.metrics}", "a")` +
  String.raw`.write(json.dumps({"step": step, "loss": float(loss)}) + "\n")`;

/** What was found for a run, as far as it has been read. */
export function describeSources(metrics: RunMetrics): MetricsReport {
  const { detection } = metrics;
  const { files, refused, shared, fix } = detection.outside.written;
  const whose = new Map(files.map(({ path, why }) => [path, why]));
  const counting = new Map(metrics.keys().map((key) => [key, metrics.sourceOf(key)]));
  return {
    sources: metrics.all.map((source) => ({
      ...sourceReport(source, counting, metrics.told.includes(source)),
      ...whoseOf(source, whose),
    })),
    passedOver: detection.passedOver.map(({ place, why }) => ({ file: place, why })),
    refused: [...refused.map(({ path, why }) => ({ file: path, why })), ...shared.map(sharedFolder)],
    fix,
    ...detection.looked,
    lookedFor: [...detection.formats.map(({ looksFor }) => looksFor)],
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

function sourceReport(
  source: Source,
  counting: ReadonlyMap<string, Source | undefined>,
  isTold: boolean,
): SourceReport {
  const { found, table, reader } = source;
  const keys = source.keys();
  const own = isTold ? keys.filter((key) => counting.get(key) === source) : [];
  const isUnread = !isTold && isLog(found.format);
  return {
    format: found.format.name,
    files: found.places,
    why: isUnread ? 'what the run prints counts while no file has metrics' : found.why,
    state: own.length > 0 ? 'told' : keys.length > 0 || isUnread ? 'beside' : 'empty',
    rows: table.rows,
    keys: own,
    elsewhere: isTold ? keys.filter((key) => counting.get(key) !== source) : [],
    settings: isTold ? source.settings() : [],
    obstacle: reader.obstacle,
  };
}

/** Whether the metrics of a run come from anywhere. */
export function hasMetrics({ sources }: MetricsReport): boolean {
  return sources.some(({ state }) => state === 'told');
}
