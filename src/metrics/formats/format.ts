/**
 * What a program wrote at one step: values by key, the step (`stepKeyOf`) among them; a single point is a row of two. Numbers,
 * true and false, and null (not a number) are metrics; a text may be a time, and is left out otherwise.
 */
export type WrittenRow = Readonly<Record<string, unknown>>;

/** Who is told what a source says, in the order in which it was written. */
export type RowSink = {
  row: (row: WrittenRow) => void;
  /** The source was replaced or rewritten: its rows come again from the first. */
  restart: () => void;
};

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
  /** What of the source cannot be read, in words that name it; null: nothing. */
  readonly obstacle: string | null;
};

/** Rows of a long source picked from all over it, the first and the last among them. */
export type RowPicker = {
  readonly isComplete: boolean;
  /** Picks so many further rows. A source that cannot be read has none. */
  pick: (count: number, take: (row: WrittenRow) => void) => void;
};

/** A way in which programs write metrics. To add one: a file beside this one, and its line in `registry.ts`. */
export type MetricFormat = {
  readonly name: string;
  /**
   * The files of a run's directory that are of this format, in the order of their writing; one whose name is known may be
   * named before it is there. Asked before each look at the run, so it must be cheap.
   */
  detect: (runDirectory: string) => readonly string[];
  /** Begins to follow one of them. */
  open: (path: string) => SourceReader;
  /** Picks so many rows of one; absent: a long one can only be read from its beginning. */
  pickFrom?: (path: string, places: number) => RowPicker;
};
