import { hasPlace, parseRunValue, type RunValue, runValue } from '../../analysis/run-value.js';
import { hasEnded } from '../../base/run-words.js';
import { spark } from '../../metrics/line.js';
import {
  type MetricReader,
  type RunFilesPort,
  type RunId,
  type RunSummary,
  type SweepSummary,
  readOrWait,
} from '../state/port.js';

/** Time between two looks at runs that are up, in ms. */
const period = 1000;
/** A question is answered once it has stood this long, in ms, so that leafing through choices reads nothing. */
const rest = 40;
/** Duration of one turn, in ms; the last part of a file may exceed it. A key waits no longer than this. */
const turnTime = 5;
/** Minimum time between two notifications while many runs are being read, in ms. */
const patience = 300;

/** What the list shows of its runs' curves that the supervisor does not send. */
export type CurveQuestion = {
  readonly metric: string;
  /** The values to read, in the words of `parseRunValue`. */
  readonly values: readonly string[];
  /** Whether to read the trend of this metric. */
  readonly hasTrend: boolean;
};

/** Values read from one curve. `stamp`: changes when the run may have written more. */
type Figures = {
  readonly stamp: unknown;
  readonly spark: RunSummary['spark'];
  readonly values: Readonly<Record<string, number>>;
};

type Asked = CurveQuestion & {
  readonly wanted: readonly (readonly [word: string, value: RunValue])[];
  /** Runs with their figures, cached while both stay the same. */
  readonly dressed: WeakMap<RunSummary, { readonly figures: Figures | undefined; readonly run: RunSummary }>;
};

/**
 * Reads the curve values that the list shows, in small parts between key presses: curves of ended runs once and with every point,
 * curves of runs that are up repeatedly. Keeps only the requested values, and for runs that are up also the points.
 */
export class RunCurves {
  readonly #files: RunFilesPort;
  readonly #changed: () => void;
  #asked: Asked | null = null;
  #runs: readonly RunSummary[] = [];
  #xOf: (run: RunSummary) => string = () => 'step';
  readonly #figures = new Map<RunId, Figures>();
  readonly #readers = new Map<RunId, { readonly reader: MetricReader; readonly isOver: boolean }>();
  #timer: NodeJS.Timeout | null = null;
  #toldAt = -Infinity;
  #hasNews = false;
  /** Whether all runs have been read and the timer is for the next pass. */
  #isResting = false;
  #isClosed = false;
  #version = 0;

  /** `changed` is called after something new was read. */
  constructor(files: RunFilesPort, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Increases with every notification. */
  get version(): number {
    return this.#version;
  }

  /** Sets the question, which starts the reading. Null: reads nothing and forgets everything. */
  want(question: CurveQuestion | null, runs: readonly RunSummary[], sweeps: readonly SweepSummary[]): void {
    this.#runs = runs;
    this.#xOf = (run) => xOf(run, sweeps);
    if (question === null ? this.#asked === null : isSame(question, this.#asked)) return;
    this.#figures.clear();
    this.#version++;
    if (question === null) {
      this.#asked = null;
      this.#readers.clear();
      this.#stop();
      return;
    }
    this.#asked = { ...question, wanted: question.values.flatMap(parsed), dressed: new WeakMap() };
    this.#schedule(rest, () => this.#pass());
  }

  /** The run with its known curve values: the same object until the run or the values change. */
  dressed(run: RunSummary): RunSummary {
    const asked = this.#asked;
    if (asked === null) return run;
    const figures = Object.hasOwn(run.metrics, asked.metric) ? this.#figures.get(run.id) : undefined;
    const known = asked.dressed.get(run);
    if (known !== undefined && known.figures === figures) return known.run;
    const shown = { ...run, spark: asked.hasTrend ? (figures?.spark ?? []) : run.spark };
    const made = { figures, run: { ...shown, curveValues: figures?.values ?? {} } };
    asked.dressed.set(run, made);
    return made.run;
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  /** Called when awaited data has arrived: starts a pass if none is under way. */
  readonly #arrived = (): void => {
    if (this.#isResting) this.#schedule(0, () => this.#pass());
  };

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(delay: number, task: () => void): void {
    this.#stop();
    if (!this.#isClosed) this.#timer = setTimeout(task, delay);
  }

  /** Reads all runs that may have written since the last pass, then rests. */
  #pass(): void {
    this.#isResting = false;
    this.#forgetGone();
    const due = this.#runs.filter((run) => this.#isDue(run));
    const turn = (): void => {
      const start = performance.now();
      while (due.length > 0 && performance.now() - start < turnTime) this.#readPart(due);
      this.#tell(due.length === 0);
      if (due.length > 0) return this.#schedule(0, turn);
      this.#isResting = true;
      this.#schedule(period, () => this.#pass());
    };
    turn();
  }

  #forgetGone(): void {
    const live = new Set(this.#runs.map(({ id }) => id));
    for (const known of [this.#figures, this.#readers])
      for (const id of known.keys()) if (!live.has(id)) known.delete(id);
  }

  #isDue(run: RunSummary): boolean {
    return Object.hasOwn(run.metrics, this.#asked!.metric) && this.#figures.get(run.id)?.stamp !== stampOf(run);
  }

  /** Reads a part of the first run, and removes it from the list when it has been read. */
  #readPart(due: RunSummary[]): void {
    const run = due[0]!;
    const reader = this.#readerOf(run);
    const hasMore = (): boolean => reader.more === true;
    if (readOrWait(() => reader.refresh(), this.#arrived) === undefined) return void due.shift();
    if (hasMore()) return;
    const figures = figuresOf(run, reader, this.#asked!, this.#xOf(run));
    // Requesting a series may fetch the curve from another host.
    if (hasMore()) return;
    due.shift();
    this.#figures.set(run.id, figures);
    if (hasEnded(run.state)) this.#readers.delete(run.id);
    this.#hasNews = true;
  }

  #readerOf({ id, directory, state }: RunSummary): MetricReader {
    const isOver = hasEnded(state);
    const known = this.#readers.get(id);
    if (known?.isOver === isOver) return known.reader;
    const reader = (isOver ? this.#files.wholeMetrics?.(directory) : undefined) ?? this.#files.metrics(directory);
    this.#readers.set(id, { reader, isOver });
    return reader;
  }

  /** Reports news no more often than a new picture is worthwhile, and always at the end. */
  #tell(isEnd: boolean): void {
    const now = performance.now();
    if (!this.#hasNews || (!isEnd && now - this.#toldAt < patience)) return;
    this.#toldAt = now;
    this.#hasNews = false;
    this.#version++;
    this.#changed();
  }
}

function parsed(word: string): (readonly [string, RunValue])[] {
  const value = parseRunValue(word);
  return value === null || value === 'best' ? [] : [[word, value]];
}

/** Identifies what has been written: the attempt for an ended run, otherwise the values that the supervisor last sent. */
function stampOf({ state, attempt, endedAt, metrics }: RunSummary): unknown {
  return hasEnded(state) ? `${attempt} ${endedAt}` : metrics;
}

function figuresOf(run: RunSummary, reader: MetricReader, { metric, wanted }: Asked, x: string): Figures {
  const values = wanted.flatMap(([word, which]) => {
    const value = runValue(reader.series(metric, hasPlace(which) ? x : 'step'), which);
    return value === null ? [] : [[word, value] as const];
  });
  return { stamp: stampOf(run), spark: spark(reader.series(metric).y), values: Object.fromEntries(values) };
}

/** The x axis that the sweep file names for the run's group. */
function xOf({ sweep, group }: RunSummary, sweeps: readonly SweepSummary[]): string {
  const own = sweeps.find(({ name }) => name === sweep);
  return (own?.groups.find(({ name }) => name === group)?.shown ?? own)?.x ?? 'step';
}

function isSame(a: CurveQuestion, b: CurveQuestion | null): boolean {
  return (
    b !== null && a.metric === b.metric && a.hasTrend === b.hasTrend && a.values.join('\n') === b.values.join('\n')
  );
}
