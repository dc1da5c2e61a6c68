import { basename, join } from 'node:path';
import { tableParser } from './csv.js';
import { FilesInTurn } from './source-files.js';
import { type Declared, isNot, type Recognition, type RowSink, type SourceFiles, type SourceReader } from './format.js';
import { lineFormat, type LineParser } from './line-format.js';
import { numbersIn, SaidValues } from './json-file.js';

/** Where DVCLive writes below its folder: a table for each metric, in folders by its name, and the last values of all. */
export const dvcliveFiles = { metrics: 'plots/metrics', values: 'metrics.json' };

/** A table `plots/metrics/train/loss.tsv` of DVCLive has the points of `train/loss`, in a column that is called `loss`. */
const ofOneFile = lineFormat({
  name: 'DVCLive',
  looksFor: `${dvcliveFiles.metrics}/**.tsv of DVCLive`,
  filing: 'points',
  isNamed: (name) => name.endsWith('.tsv'),
  recognise: ({ path, head }) => recogniseMetric(path, head),
  parser: (path) => pointParser(partsOf(path)!.metric),
  timeKey: 'timestamp',
});

/** The files of one folder are one source. */
export const dvclive: typeof ofOneFile = {
  ...ofOneFile,
  open: (files): SourceReader => new DvcliveFolder(files),
  readsToo: (path) => [valuesBeside(path)],
};

class DvcliveFolder extends FilesInTurn {
  readonly #files: SourceFiles;
  readonly #values: SaidValues;

  constructor(files: SourceFiles) {
    super(files, (path) => ofOneFile.open({ paths: [path] }), 'metrics');
    this.#files = files;
    this.#values = new SaidValues(valuesBeside(files.paths[0]!), numbersIn);
  }

  /** What `log_metric(plot=False)` and `live.summary` have is in no table. */
  get declared(): Declared {
    const metrics = new Set(['step', ...this.#files.paths.map((path) => partsOf(path)!.metric)]);
    return this.#values.declared((key) => metrics.has(key));
  }

  override read(maxBytes: number, sink: RowSink): boolean {
    const isSaid = this.#values.refresh();
    return super.read(maxBytes, sink) || isSaid;
  }
}

/** The folder of DVCLive, and the name of the metric; null: the path is none of its tables. */
function partsOf(path: string): { readonly folder: string; readonly metric: string } | null {
  const inside = `/${dvcliveFiles.metrics}/`;
  const at = path.indexOf(inside);
  if (at < 0) return null;
  return { folder: path.slice(0, at), metric: path.slice(at + inside.length).replace(/\.tsv$/, '') };
}

function valuesBeside(path: string): string {
  return join(partsOf(path)!.folder, dvcliveFiles.values);
}

function recogniseMetric(path: string, head: () => readonly string[] | null): Recognition {
  const parts = partsOf(path);
  if (parts === null) return isNot;
  const lines = head();
  if (lines === null) return { is: 'maybe', why: 'it has no whole line yet' };
  const columns = (lines[0] ?? '').trim().split('\t');
  const isOne = columns.includes('step') && columns.includes(basename(parts.metric));
  return isOne ? { is: 'yes', why: 'it lies in the plots of DVCLive', source: parts.folder } : isNot;
}

function pointParser(metric: string): LineParser {
  const own = basename(metric);
  // A metric may be called `step` or `timestamp`: its column comes last.
  return tableParser((column) => (column === own ? metric : column));
}
