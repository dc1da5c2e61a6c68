/** How a log is read. */
export type LogChoice = {
  readonly wraps: boolean;
  /** A regular expression, or plain words; empty: nothing is searched for. */
  readonly search: string;
};

export const initialLogChoice: LogChoice = { wraps: true, search: '' };
