/** The summary table of a sweep. */
export type SummaryPort = {
  /** The table as it was read last, as ready lines of at most `width` columns; null before the first time. */
  readonly lines: ((width: number) => readonly string[]) | null;
  /** Reads it anew, without making a key wait. Rejects when it cannot be made; what was read before stays. */
  refresh(): Promise<void>;
};

/** The table of a sweep, by its name. */
export type MakeSummary = (sweep: string) => SummaryPort;
