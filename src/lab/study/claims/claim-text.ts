import { NOTHING, shortNumber } from '../../../text/numbers.js';
import { agreement, type Claim, type Expected, type Figure, type Verdict, verdictOf } from './claim.js';
import { memoryClaims } from './memory-claims.js';
import type { Cell } from './published-cell.js';
import { smallRlClaims } from './small-rl-claims.js';
import type { Quantity } from './measures.js';
import { practiceClaims } from './practice-claims.js';

/** All claims of the source documents about the results of training. */
export const claims: readonly Claim[] = [...memoryClaims, ...smallRlClaims, ...practiceClaims];

/** A claim with its figures found. */
export type JudgedClaim = {
  readonly claim: Claim;
  readonly figures: readonly (Figure & { readonly quantity: Quantity | null })[];
  readonly verdict: Verdict;
};

/** Lookup of the numbers of a figure; null when they are not known here. */
type Finder = {
  readonly figure: (figure: Figure) => Quantity | null;
  readonly cell: (cell: Cell) => Quantity | null;
};

export function judgeClaim(claim: Claim, find: Finder): JudgedClaim {
  if (claim.tried.by === 'test') return { claim, figures: [], verdict: 'holds here' };
  if (claim.tried.by === 'nothing') return { claim, figures: [], verdict: 'not tried' };
  const figures = claim.tried.figures.map((figure) => {
    const { expected } = figure;
    const other = expected.of === undefined ? 1 : (find.cell(expected.of)?.value ?? null);
    if (other === null) return { ...figure, quantity: null };
    return { ...figure, expected: withoutCell(expected, other), quantity: find.figure(figure) };
  });
  return { claim, figures, verdict: verdictOf(figures) };
}

function withoutCell({ of, ...expected }: Expected, other: number): Expected {
  return of === undefined ? expected : { ...expected, value: expected.value * other };
}

/** The name under which a sweep file runs: `sweeps/small-rl/learning.yaml` is `small-rl-learning`. */
export function sweepNameOf(file: string): string {
  return file
    .replace(/^sweeps\//, '')
    .replace(/\.yaml$/, '')
    .replaceAll('/', '-');
}

/** `40 [22.2, 80.0]`. */
export function quantityText({ value, interval }: Quantity): string {
  const ends = interval === null ? '' : `[${interval.map(endText).join(', ')}]`;
  return [endText(value), ends].filter((part) => part !== '').join(' ');
}

function endText(value: number): string {
  return value === Infinity ? '∞' : shortNumber(value);
}

export function countOf({ n }: Quantity): string {
  return n === null ? NOTHING : String(n);
}

/** `about 6`, `at most 1`. */
export function expectedText({ kind, value, of }: Expected): string {
  if (of !== undefined) return `${kind} ${shortNumber(value)} times that of ${of.page}`;
  return `${kind} ${shortNumber(value)}`;
}

/** Whether a figure agrees with its claim, in a word. */
export function agreementText({ expected, quantity }: JudgedClaim['figures'][number]): string {
  return quantity === null ? 'not measured' : agreement(expected, quantity);
}
