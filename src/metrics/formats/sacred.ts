import { dirname, isAbsolute, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { FollowedBytes } from '../../files/followed-file.js';
import { statRegular } from '../../files/regular-file.js';
import { FilesInTurn, FollowedSource } from './source-files.js';
import {
  type Declared,
  isNot,
  type MetricFormat,
  type RowSink,
  type SourceFiles,
  type SourceReader,
} from './format.js';
import { LARGEST_JSON, numbersIn, ObjectScan, SaidValues } from './json-file.js';

/** Files of sacred's FileStorageObserver in the folder of a run. */
export const sacredFiles = { record: 'run.json', metrics: 'metrics.json', config: 'config.json', log: 'cout.txt' };

/** Whether these are the files of a run of sacred: a run of this program has a record of the same name, and another log. */
export function isOfSacred(files: readonly string[]): boolean {
  const { record, log } = sacredFiles;
  return files.includes(record) && files.includes(log) && !files.includes(runFiles.log);
}

/**
 * The metrics of sacred's FileStorageObserver: a list of steps, times and values for each metric, in a file that is rewritten every
 * ten seconds. Numbered folders below the directory of a run are those of its attempts; elsewhere, other runs write beside it. What
 * the program returned is a value.
 */
export const sacred: MetricFormat = {
  name: 'sacred',
  looksFor: `${sacredFiles.metrics} of sacred, beside ${sacredFiles.log}`,
  filing: 'points',
  isNamed: (name) => name === sacredFiles.record || name === sacredFiles.metrics,
  recognise: ({ path, place }) => {
    const folder = dirname(path);
    const isThere = [sacredFiles.record, sacredFiles.log].every((name) => isFile(join(folder, name)));
    return isThere && !isFile(join(folder, runFiles.log))
      ? { is: 'yes', why: 'it lies in a run of sacred', source: isAbsolute(place) ? folder : dirname(folder) }
      : isNot;
  },
  open: (files) => new SacredRuns(files),
};

function isFile(path: string): boolean {
  return statRegular(path).kind === 'file';
}

class SacredRuns extends FilesInTurn {
  readonly #last: () => SacredRun;

  constructor(files: SourceFiles) {
    const runs = new Map<string, SacredRun>();
    const folders = {
      get paths() {
        return [...new Set(files.paths.map((path) => dirname(path)))];
      },
    };
    const open = (folder: string) => {
      const run = new SacredRun(folder);
      runs.set(folder, run);
      return run;
    };
    super(folders, open);
    this.#last = () => runs.get(folders.paths.at(-1)!) ?? open(folders.paths.at(-1)!);
  }

  get declared(): Declared {
    return this.#last().result.declared();
  }
}

/** Size limit of the points of one metric, bytes. */
const LONGEST = 64 << 20;

/** Points of a metric that have been passed on: their number, and the last. */
type Told = { readonly count: number; readonly step: number; readonly value: number };

class SacredRun extends FollowedSource<FollowedBytes> implements SourceReader {
  /** The return value of the program, as a metric. */
  readonly result: SaidValues;
  #scan = newScan();
  readonly #told = new Map<string, Told>();

  constructor(folder: string) {
    super(new FollowedBytes(join(folder, sacredFiles.metrics), LARGEST_JSON));
    const record = join(folder, sacredFiles.record);
    this.result = new SaidValues(record, ({ result }) => numbersIn(unpickled(result), 'result'));
  }

  /** The record is written every few seconds, the points of a metric may come once in an hour. */
  override get written(): SourceReader['written'] {
    const { written } = this.file;
    return written === null ? null : { from: written.from, to: Math.max(written.to, this.result.writtenAt) };
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const isSaid = this.result.refresh();
    let isKept = true;
    const isChanged = this.follow((file) =>
      file.read(maxBytes, (bytes, { isNew }) => {
        if (isNew) this.#scan = newScan();
        return this.#scan.take(bytes, (metric, name) => (isKept &&= this.#take(name, metric, sink)));
      }),
    );
    if (!isKept) this.#beginAgain(sink);
    return isChanged || isSaid;
  }

  /** Passes on the points that have come to a metric. False: others are no longer there. */
  #take(name: string, metric: Readonly<Record<string, unknown>>, sink: RowSink): boolean {
    const [steps, values, times] = ['steps', 'values', 'timestamps'].map((key) => listIn(metric, key));
    const told = this.#told.get(name) ?? { count: 0, step: NaN, value: NaN };
    const pointAt = (at: number) => ({ step: numberIn(steps![at]) ?? at, value: numberIn(values![at]) ?? NaN });
    const before = pointAt(told.count - 1);
    if (told.count > 0 && !(before.step === told.step && Object.is(before.value, told.value))) return false;
    for (let at = told.count; at < values!.length; at++) {
      const { step, value } = pointAt(at);
      sink.row({ step, [name]: value }, timeIn(times![at]) ?? undefined);
    }
    const count = Math.max(told.count, values!.length);
    if (count > told.count) this.#told.set(name, { count, ...pointAt(count - 1) });
    return true;
  }

  #beginAgain(sink: RowSink): void {
    this.#told.clear();
    this.#scan = newScan();
    this.file.rewind();
    sink.restart();
    this.more = true;
  }
}

function newScan(): ObjectScan {
  return new ObjectScan((keys) => keys.length === 1, LONGEST);
}

/** A time of sacred, which is that of UTC without saying so, Unix ms; null: it is none. */
export function timeIn(value: unknown): number | null {
  const time = typeof value === 'string' ? Date.parse(`${value.replace(/(\.\d{3})\d*$/, '$1')}Z`) : NaN;
  return Number.isNaN(time) ? null : time;
}

/** A value without what jsonpickle has written around it: tuples are lists, numbers and arrays of numpy are plain. */
export function unpickled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpickled);
  if (typeof value !== 'object' || value === null) return value;
  const inner = value as Readonly<Record<string, unknown>>;
  const plain = inner['py/tuple'] ?? inner['py/set'] ?? (Object.hasOwn(inner, 'dtype') ? (inner['value'] ?? inner['values']) : undefined); // prettier-ignore
  if (plain !== undefined) return unpickled(plain);
  const named = Object.entries(inner).filter(([key]) => !key.startsWith('py/'));
  return Object.fromEntries(named.map(([key, each]) => [key, unpickled(each)]));
}

function listIn(metric: Readonly<Record<string, unknown>>, key: string): readonly unknown[] {
  const list = metric[key];
  return Array.isArray(list) ? list : [];
}

function numberIn(value: unknown): number | null {
  const plain = typeof value === 'object' ? unpickled(value) : value;
  const one: unknown = Array.isArray(plain) && plain.length === 1 ? plain[0] : plain;
  if (typeof one === 'boolean') return Number(one);
  return typeof one === 'number' ? one : null;
}
