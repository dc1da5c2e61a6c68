/**
 * The values that a program wrote at one step, by key, with the step (`row-numbers.ts`) among them; a single point is a row of two.
 * Numbers, booleans, null (NaN), and objects of them are metrics; a text may be a time, and is left out otherwise.
 */
export type WrittenRow = Readonly<Record<string, unknown>>;

/** Receives a number of a metric. `time`: when it was written, Unix ms. */
export type PointTaker = (key: string, value: number, step: number, time: number) => void;

/** Receives the rows of a source, in the order in which they were written. */
export type RowSink = {
  /**
   * `time`: when it was written, Unix ms, if the source has it. `part`: number of the source's file; later ones belong to later
   * attempts.
   */
  row: (row: WrittenRow, time?: number, part?: number) => void;
  /** Receives single points of a part, without the cost of a row. Absent: whoever listens needs whole rows. */
  points?: (part: number) => PointTaker;
  /** Rows from here on are those of a later attempt, which may begin at an earlier x. */
  attempt?: () => void;
  /** The file was opened anew and its rows begin again, as those of a later attempt; earlier points before them stay. */
  reopened?: () => void;
  /** All metrics end at this x, as a later attempt begins there, with the file of this number. */
  purge?: (from: number, part: number) => void;
  /** The source was replaced or rewritten: its rows come again from the first. */
  restart: () => void;
};

/** The progress that a program reports. `share`: 0 to 1. `etaSeconds`: its own estimate of the time left; null: it has none. */
export type StatedProgress = { share: number; etaSeconds: number | null; rate: string | null };

/** What a program says of its metrics and of its run beside their rows. */
export type Declared = {
  /** The metric that is the x axis of this one; null: none is. */
  readonly axisOf: (key: string) => string | null;
  /** Whether a metric is drawn only where it is asked for. */
  readonly isHidden: (key: string) => boolean;
  /** Whether no value stands for a metric. */
  readonly isCurveAlone: (key: string) => boolean;
  /** Whether a value is the writer's own, and no metric. */
  readonly isInternal: (key: string) => boolean;
  /** Values that stand for the run, some of metrics without any row. */
  readonly values: ReadonlyMap<string, number>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  readonly notes: string | null;
};

/** Follows one source. It keeps a reading position, not the content. */
export type SourceReader = {
  /** Reads what the source has gained, at most about `maxBytes`; returns true if anything changed. Never throws, never waits. */
  read: (maxBytes: number, sink: RowSink) => boolean;
  /** Number of bytes that have been read. */
  readonly offset: number;
  /** Whether the last `read` stopped at its limit. */
  readonly more: boolean;
  /** Whether the last `read` failed. */
  readonly isHindered: boolean;
  /** Whether the source ends with a part that is read once its rest has come: half a row, or what may be damaged. */
  readonly isWaiting: boolean;
  /** Creation and last modification at the last `read`, Unix ms; null: no file existed. */
  readonly written: { readonly from: number; readonly to: number } | null;
  /** What of the source is not readable, in words that name it; null: nothing. */
  readonly obstacle: string | null;
  /** Absent: this format has no place for it. */
  readonly declared?: Declared;
  /** What was read and is no number, in words; absent: this format has only numbers. */
  readonly media?: readonly string[];
  /** Keys of values that are settings of the program, as far as known; absent: this format has none. */
  readonly settings?: ReadonlySet<string>;
  /** Absent: sources of this format never contain the progress of the run. */
  readonly progress?: StatedProgress | null;
};

/** Rows of a long source, picked evenly over its length, the first and the last included. */
export type RowPicker = {
  readonly isComplete: boolean;
  /** Picks `count` further rows; `take` receives `time` as a `RowSink` does. An unreadable source has none. */
  pick: (count: number, take: (row: WrittenRow, time?: number) => void) => void;
};

/** A file that may hold metrics. `name` is its last part, `place` the path that messages show. */
export type FoundFile = {
  readonly path: string;
  readonly name: string;
  readonly place: string;
  /** Whole lines at its start, at most about 64 KB; null: there are none yet, or the file is not readable. */
  readonly head: () => readonly string[] | null;
};

/**
 * Whether a file is of a format. `why`: how it was recognised, in words. `source`: files with the same one are read together,
 * sorted by name; absent: each is a source of its own. `maybe`: the file has to grow first, or with `isPassing` another look
 * decides.
 */
export type Recognition =
  | { is: 'yes'; why: string; source?: string }
  | { is: 'no'; why?: string }
  | { is: 'maybe'; why: string; isPassing?: true };

export const isNot: Recognition = { is: 'no' };

/** The files of one source, sorted by name. The list may grow. */
export type SourceFiles = { readonly paths: readonly string[] };

/** A process, by the name of its machine and its pid there. */
export type NamedWriter = { readonly host: string; readonly pid: number };

/** A format in which programs write metrics. To add one: a file beside this one, and its line in `registry.ts`. */
export type MetricFormat = {
  readonly name: string;
  /** The name that it shares with formats for the same kind of files; absent: its own. */
  readonly family?: string;
  /** What it looks for, as shown for a run without curves: `*.jsonl`. */
  readonly looksFor: string;
  /** `rows`: values that were written together stay together. `points`: each metric has steps of its own. */
  readonly filing: 'rows' | 'points';
  /** The file is replaced as a whole now and then: another source with more values of a metric takes precedence. */
  readonly isSnapshot?: boolean;
  /** Its rows have times and no steps: they are placed on another axis by the time at which other sources reached it. */
  readonly isTimed?: true;
  /** Its `step` counts calls of the logger, unless the program sets it. */
  readonly countsCalls?: true;
  /**
   * Whether a file of this name may have this format, wherever it is; absent: the format is known by its place in the run's
   * directory.
   */
  readonly isNamed?: (name: string) => boolean;
  /** Whether a file of this name is looked into, though its name says nothing of its content; such a file is a source of its own. */
  readonly looksInto?: (name: string) => boolean;
  /** The process that writes a file, by its name; null: the name has none. Absent: no name of this format has. */
  readonly writerIn?: (name: string) => NamedWriter | null;
  /** The writer's run that a file is of, by its name; null: no such name. Absent: no name of this format says it. */
  readonly runIn?: (name: string) => string | null;
  /** Endings of companion files beside a file of that name: they may show its format while it does not itself. */
  readonly besides?: (name: string) => readonly string[];
  /** Files that are read with one of this path, and are no source themselves; absent: there are none. */
  readonly readsToo?: (path: string) => readonly string[];
  /** Called for a file with such a name at each look until it says yes or no: it must be cheap. */
  recognise: (file: FoundFile) => Recognition;
  /** Starts to follow a source. */
  open: (files: SourceFiles) => SourceReader;
  /** Picks rows of one file; absent: a long file can only be read from its beginning. */
  pickFrom?: (path: string, places: number) => RowPicker;
};
