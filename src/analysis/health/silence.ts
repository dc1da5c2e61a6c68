import { roughDuration } from '../../text/duration.js';

/**
 * Silence that means nothing yet, ms: an evaluation or a checkpoint takes a minute or two, and a person who is called for one
 * does not come the next time.
 */
const SILENCE_MS = 120_000;
/** A run is silent after so many times its usual pause, and so many times its longest one. */
const USUAL_PAUSES = 20;
const LONGEST_PAUSES = 3;
/** And after so many times the longest pause that any of its siblings made: they may have come to a part that is before it. */
const SIBLING_PAUSES = 2;
/** Pauses that are shorter are told as such, ms: they are seen every few seconds only. */
const SHORT_MS = 30_000;
/** Pauses of its own, or siblings with pauses, below which nobody knows what is usual. */
const ENOUGH = 2;

/**
 * When one attempt of a run writes, metrics or output, and how long its pauses are. Times: ms in which the run could write
 * (without those in which it was paused), from any zero.
 */
export class WritingRhythm {
  #at: number;
  #pauses = 0;
  #total = 0;
  #longest = 0;

  /** @param at Its start, or when it was first seen. @param usualPause As its files tell it of the time before; null: they do not. */
  constructor(at: number, usualPause: number | null = null) {
    this.#at = at;
    if (usualPause === null) return;
    this.#pauses = ENOUGH;
    this.#total = ENOUGH * usualPause;
  }

  /** It has written since the last look. */
  wrote(now: number): void {
    const pause = now - this.#at;
    this.#at = now;
    this.#pauses += 1;
    this.#total += pause;
    this.#longest = Math.max(this.#longest, pause);
  }

  /** How many it has made. */
  get pauses(): number {
    return this.#pauses;
  }

  get usual(): number {
    return this.#total / this.#pauses;
  }

  get longest(): number {
    return this.#longest;
  }

  silence(now: number): number {
    return now - this.#at;
  }
}

/** The longest pause, ms, of `count` siblings that made any. One that is done and never wrote has made one pause: its life. */
export type SiblingPauses = { readonly longest: number; readonly count: number };

/**
 * Why a run is silent, in words; null: it is not, or too little is known. It has written nothing for longer than it ever did, by
 * far, and longer than any sibling.
 *
 * @param leastMs Less is no silence.
 */
export function silenceOf(
  own: WritingRhythm,
  siblings: SiblingPauses,
  now: number,
  leastMs = SILENCE_MS,
): string | null {
  const limit = longestUsual(own, siblings);
  const silence = own.silence(now);
  if (limit === null || silence <= Math.max(leastMs, limit)) return null;
  return `no output and no metrics for ${roughDuration(silence)}${pauseWords(own, siblings)}`;
}

/** What it is compared with. */
function pauseWords(own: WritingRhythm, siblings: SiblingPauses): string {
  if (own.pauses < ENOUGH) return `, others wrote within ${pauseText(siblings.longest)}`;
  return own.longest === 0 ? '' : `, its longest pause was ${pauseText(own.longest)}`;
}

/** Pauses are known as exactly as one looks. */
function pauseText(ms: number): string {
  return `${ms < SHORT_MS ? 'less than ' : ''}${roughDuration(Math.max(SHORT_MS, ms))}`;
}

/** Null: nobody knows. */
function longestUsual(own: WritingRhythm, siblings: SiblingPauses): number | null {
  if (own.pauses < ENOUGH && siblings.count < ENOUGH) return null;
  const usual = own.pauses < ENOUGH ? 0 : USUAL_PAUSES * own.usual;
  return Math.max(usual, LONGEST_PAUSES * own.longest, SIBLING_PAUSES * siblings.longest);
}
