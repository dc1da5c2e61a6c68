/**
 * What a program wrote at one step: values by key, the step (`stepKeyOf`) among them; a single point is a row of two. Numbers,
 * true and false, null (not a number), and objects of them are metrics; a text may be a time, and is left out otherwise.
 */
export type WrittenRow = Readonly<Record<string, unknown>>;

/** Who is told what a source says, in the order in which it was written. */
export type RowSink = {
  /** `time`: when it was written, Unix ms, where the source says so. `part`: which file of the source; later ones are of later attempts. */
  row: (row: WrittenRow, time?: number, part?: number) => void;
  /** The source was replaced or rewritten: its rows come again from the first. */
  restart: () => void;
};

/** How far a program says that it is. `share`: 0 to 1. `etaSeconds`: what it says is left; null: it does not say. */
export type StatedProgress = { share: number; etaSeconds: number | null; rate: string | null };

/** Follows one source. Holds what it needs to go on, never the source. */
export type SourceReader = {
  /** Takes in what the source has gained, at most some `maxBytes` of it; true if anything changed. Never throws, never waits. */
  read: (maxBytes: number, sink: RowSink) => boolean;
  /** Bytes that have been taken in. */
  readonly offset: number;
  /** Whether the last `read` stopped at its limit. */
  readonly more: boolean;
  /** Whether the last `read` could not read it. */
  readonly isHindered: boolean;
  /** When it was made, and last written as of the last `read`, Unix ms; null: nothing was there. */
  readonly written: { readonly from: number; readonly to: number } | null;
  /** What of the source cannot be read, in words that name it; null: nothing. */
  readonly obstacle: string | null;
  /** Keys of values that are settings of the program, as far as is known; absent: there are none in this format. */
  readonly settings?: ReadonlySet<string>;
  /** Absent: a source of this format never says how far the run is. */
  readonly progress?: StatedProgress | null;
};

/** Rows of a long source picked from all over it, the first and the last among them. */
export type RowPicker = {
  readonly isComplete: boolean;
  /** Picks so many further rows; `take` is told `time` as a `RowSink` is. A source that cannot be read has none. */
  pick: (count: number, take: (row: WrittenRow, time?: number) => void) => void;
};

/** A file that may hold metrics. `name` is its last part, `place` its path as a person would say it. */
export type FoundFile = {
  readonly path: string;
  readonly name: string;
  readonly place: string;
  /** Whole lines at its start, at most some 64 KB of them; null: there is none yet, or it cannot be read. */
  readonly head: () => readonly string[] | null;
};

/**
 * Whether a file is of a format. `why`: what it was told by, in words. `source`: files of the same one are read as one, in
 * order of name; absent: each by itself. `maybe`: it cannot be told before it has grown, or `isPassing`, at another look.
 */
export type Recognition =
  | { is: 'yes'; why: string; source?: string }
  | { is: 'no'; why?: string }
  | { is: 'maybe'; why: string; isPassing?: true };

export const isNot: Recognition = { is: 'no' };

/** The files of one source, in order of name. The list may grow. */
export type SourceFiles = { readonly paths: readonly string[] };

/** A process, by the name of its machine and the number that it has there. */
export type NamedWriter = { readonly host: string; readonly pid: number };

/** A way in which programs write metrics. To add one: a file beside this one, and its line in `registry.ts`. */
export type MetricFormat = {
  readonly name: string;
  /** What it looks for, for a person who has no curves: `*.jsonl`. */
  readonly looksFor: string;
  /** `rows`: what was written together stays together. `points`: each metric has steps of its own. */
  readonly filing: 'rows' | 'points';
  /** Written whole now and then: of a metric that another source has more values of, that one counts. */
  readonly isSnapshot?: boolean;
  /** Its `step` is how often the program has logged, unless that says otherwise. */
  readonly countsCalls?: true;
  /** Whether a file of this name may be one, wherever it lies; absent: one is known by its place in the run's directory. */
  readonly isNamed?: (name: string) => boolean;
  /** The process that writes a file, as its name has it; null: it has none. Absent: no name has. */
  readonly writerIn?: (name: string) => NamedWriter | null;
  /** Endings of files that may lie beside one of that name and belong to it: while it cannot be told yet, they may tell. */
  readonly besides?: (name: string) => readonly string[];
  /** Asked of a file of such a name until it says yes or no, at each look at the run: it must be cheap. */
  recognise: (file: FoundFile) => Recognition;
  /** Begins to follow one. */
  open: (files: SourceFiles) => SourceReader;
  /** Picks so many rows of one file; absent: a long one can only be read from its beginning. */
  pickFrom?: (path: string, places: number) => RowPicker;
};
