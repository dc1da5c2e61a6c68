/** How a log is read, and the position in it. */
export type LogChoice = {
  readonly wraps: boolean;
  /** A regular expression, see `readLogPattern`; empty: no search. */
  readonly search: string;
  readonly place: LogPlace;
  /** The search under way; null: none. */
  readonly seek: LogSeek | null;
  readonly hit: LogHit | null;
};

/** The visible part of a log. Positions are in bytes, because line numbers of a large log are not known. */
export type LogPlace =
  /** The failure of a failed run, otherwise the end. */
  | { readonly kind: 'opening' }
  /** The newest line at the bottom, following what is written. */
  | { readonly kind: 'end' }
  /** The line at `offset` at the top, with its first `row` rows scrolled out. */
  | { readonly kind: 'top'; readonly offset: number; readonly row: number }
  /** The line at `offset` with some lines above it. */
  | { readonly kind: 'around'; readonly offset: number };

/** A search under way. `from`: start of the line to begin at. */
export type LogSeek = {
  readonly of: LogHit['of'];
  readonly pattern: string;
  readonly from: number;
  readonly direction: 1 | -1;
};

/** Start of the line that was found; null: there is none; `too long`: the expression takes too long to evaluate. */
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

/** The state for another run's log: keeps the search but not the position. */
export function anotherLog(log: LogChoice): LogChoice {
  return { ...log, place: { kind: 'opening' }, seek: null, hit: null };
}
