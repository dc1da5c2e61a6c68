/** The summary table of a sweep. */
export type SummaryPort = {
  /** The table as last read, formatted in lines of at most `width` columns; null before the first time. */
  readonly lines: ((width: number) => readonly string[]) | null;
  /** Reads the table again in the background. Rejects if that fails; the previous table stays. */
  refresh(): Promise<void>;
};

/** Creates the table of a sweep, by its name. */
export type MakeSummary = (sweep: string) => SummaryPort;
