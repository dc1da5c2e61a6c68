/** How a log is read, and where in it. */
export type LogChoice = {
  readonly wraps: boolean;
  /** A regular expression, see `readLogPattern`; empty: nothing is searched for. */
  readonly search: string;
  readonly place: LogPlace;
  /** What is being looked for at the moment. */
  readonly seek: LogSeek | null;
  readonly hit: LogHit | null;
};

/** What part of a log is shown. Places are bytes: line numbers of a large log are not known. */
export type LogPlace =
  /** The failure of a failed run, else the end: what one wants to see first. */
  | { readonly kind: 'opening' }
  /** The newest line at the bottom, whatever is written. */
  | { readonly kind: 'end' }
  /** The line at `offset` at the top, its first `row` rows above it. */
  | { readonly kind: 'top'; readonly offset: number; readonly row: number }
  /** The line at `offset` with some lines above it. */
  | { readonly kind: 'around'; readonly offset: number };

/** A search under way. `from`: the beginning of the line to start at. */
export type LogSeek = {
  readonly of: LogHit['of'];
  readonly pattern: string;
  readonly from: number;
  readonly direction: 1 | -1;
};

/** Where the line begins that was looked for; null: there is none; `too long`: the expression takes too long to tell. */
export type Sought = number | 'too long' | null;

/** The line that was found last. */
export type LogHit = { readonly of: 'pattern' | 'error'; readonly offset: number };

export const initialLogChoice: LogChoice = {
  wraps: true,
  search: '',
  place: { kind: 'opening' },
  seek: null,
  hit: null,
};

/** The log of another run: what was searched for stays, where one was does not. */
export function anotherLog(log: LogChoice): LogChoice {
  return { ...log, place: { kind: 'opening' }, seek: null, hit: null };
}
