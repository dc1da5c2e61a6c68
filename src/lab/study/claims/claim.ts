import type { Interval } from '../../../analysis/bootstrap.js';
import { WIDEST_FACTOR } from '../memory/intervals.js';
import type { Measure, Quantity } from './measures.js';
import type { Cell } from './published-cell.js';

/** A statement of a source document about the results of training, in our words, and the way it is tested here. */
export type Claim = {
  readonly claim: string;
  /** Name of the document, and the section that says it. */
  readonly document: string;
  readonly section: string;
  readonly tried: TestedBy;
  /** A remark on the figures, for the page. */
  readonly note?: string;
  /** A few words for the README; absent: the claim is on its page alone. */
  readonly headline?: string;
};

/** How a claim is tested. `command`: the command that would test it, where nothing here does. */
type TestedBy =
  | { readonly by: 'sweep'; readonly sweep: string; readonly figures: readonly Figure[] }
  | { readonly by: 'test'; readonly file: string }
  | { readonly by: 'nothing'; readonly why: string; readonly command?: string };

/**
 * A number that supports or contradicts a claim. Has at least one of `measure` (from runs) and `published` (from a
 * table of the pages).
 */
export type Figure = {
  readonly what: string;
  readonly unit: string;
  readonly expected: Expected;
  readonly measure?: Measure;
  readonly published?: Cell;
};

/** Expected value of a figure. `about`: within this factor of the value. `of`: the value is a multiple of this cell. */
export type Expected = { readonly value: number; readonly of?: Cell } & (
  | { readonly kind: 'at most' | 'at least' }
  | { readonly kind: 'about'; readonly factor: number }
);

export const verdicts = ['holds here', 'holds in part', 'does not hold here', 'not decided here', 'not tried'] as const;
export type Verdict = (typeof verdicts)[number];

/** The page's explanation of the rule of `verdictOf`. */
export const rule =
  `A figure agrees with its claim when its whole 95 % interval is where the claim expects it, and contradicts it when the whole interval is elsewhere; ` +
  `otherwise it is open, but an interval around the expected value that is no wider than a factor of ${WIDEST_FACTOR} agrees. ` +
  'A figure without an interval is taken as it is. A claim holds here when all its figures agree, does not hold here when they contradict it, holds in part when ' +
  'some agree and others do not, and is not decided here when they are open.';

/** The verdict on a claim from those of its figures that are known. */
export function verdictOf(
  figures: readonly { readonly expected: Expected; readonly quantity: Quantity | null }[],
): Verdict {
  const known = figures.flatMap(({ expected, quantity }) => (quantity === null ? [] : agreement(expected, quantity)));
  if (known.length === 0) return 'not tried';
  if (known.every((each) => each === 'agrees')) return 'holds here';
  if (known.includes('agrees')) return 'holds in part';
  return known.includes('contradicts') ? 'does not hold here' : 'not decided here';
}

type Agreement = 'agrees' | 'contradicts' | 'open';

export function agreement(expected: Expected, { value, interval }: Quantity): Agreement {
  const [low, high] = interval ?? [value, value];
  const [least, most] = rangeOf(expected);
  if (low >= least && high <= most) return 'agrees';
  if (high < least || low > most) return 'contradicts';
  const isAround = expected.kind === 'about' && low <= expected.value && expected.value <= high;
  return isAround && high <= WIDEST_FACTOR * low ? 'agrees' : 'open';
}

function rangeOf(expected: Expected): Interval {
  switch (expected.kind) {
    case 'at most':
      return [-Infinity, expected.value];
    case 'at least':
      return [expected.value, Infinity];
    case 'about':
      return [expected.value / expected.factor, expected.value * expected.factor];
  }
}
