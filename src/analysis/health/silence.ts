import { roughDuration } from '../../text/duration.js';

/**
 * Shorter silence is normal, ms: an evaluation or a checkpoint takes a minute or two, and false alarms make people ignore the next
 * one.
 */
const SILENCE_MS = 120_000;
/** A run is silent after so many times its usual pause, and so many times its longest one. */
const USUAL_PAUSES = 20;
const LONGEST_PAUSES = 3;
/** It must also exceed the longest pause of any sibling by this factor, as siblings may already have passed a slow part. */
const SIBLING_PAUSES = 2;
/** Shorter pauses are shown as shorter than this, ms, as they are sampled every few seconds only. */
const SHORT_MS = 30_000;
/** Least number of own pauses, or of siblings with pauses, to know what is usual. */
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

  /** @param at Its start, or when it was first seen. @param usualPause Its earlier pauses by its files; null: unknown. */
  constructor(at: number, usualPause: number | null = null) {
    this.#at = at;
    if (usualPause === null) return;
    this.#pauses = ENOUGH;
    this.#total = ENOUGH * usualPause;
  }

  /** Records that the run has written since the last check. */
  wrote(now: number): void {
    const pause = now - this.#at;
    this.#at = now;
    this.#pauses += 1;
    this.#total += pause;
    this.#longest = Math.max(this.#longest, pause);
  }

  /** Number of pauses so far. */
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

/**
 * The longest pause, ms, among `count` siblings with pauses. A sibling that is done and never wrote counts with its whole duration.
 */
export type SiblingPauses = { readonly longest: number; readonly count: number };

/**
 * Why a run is silent, in words; null: it is not, or too little is known. A silent run has written nothing for far longer than ever
 * before, and for longer than any sibling.
 *
 * @param leastMs Shorter silence does not count.
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

/** The longest pause of the run itself, or of the others while it has written too little, in words. */
function pauseWords(own: WritingRhythm, siblings: SiblingPauses): string {
  if (own.pauses < ENOUGH) return `, others wrote within ${pauseText(siblings.longest)}`;
  return own.longest === 0 ? '' : `, its longest pause was ${pauseText(own.longest)}`;
}

/** A pause in words, which is only known to within the sampling period. */
function pauseText(ms: number): string {
  return `${ms < SHORT_MS ? 'less than ' : ''}${roughDuration(Math.max(SHORT_MS, ms))}`;
}

/** The longest usual pause; null: unknown. */
function longestUsual(own: WritingRhythm, siblings: SiblingPauses): number | null {
  if (own.pauses < ENOUGH && siblings.count < ENOUGH) return null;
  const usual = own.pauses < ENOUGH ? 0 : USUAL_PAUSES * own.usual;
  return Math.max(usual, LONGEST_PAUSES * own.longest, SIBLING_PAUSES * siblings.longest);
}
