import { wordsBetweenBlanks } from '../rewards/completion.js';
import { roundedAsPython } from './rounding.js';

/** How much a list of texts repeats itself, by small-rl's measures. */
export type Diversity = {
  readonly samples: number;
  /** Distinct texts. */
  readonly uniqueSamples: number;
  /** Distinct texts before the first full stop, trimmed. A question mark does not end a sentence here. */
  readonly uniqueFirstSentences: number;
  /** |A ∩ B| / |A ∪ B| of two texts' words, lower-cased, over all pairs that have any; 0 without such a pair. 3 decimals. */
  readonly averageJaccard: number;
  /** Whether less than half of the texts are distinct, or the average Jaccard index, before rounding, is above 0.7. */
  readonly degenerate: boolean;
};

export function diversityOf(texts: readonly string[]): Diversity {
  const uniqueSamples = new Set(texts).size;
  const jaccard = averageJaccard(texts);
  return {
    samples: texts.length,
    uniqueSamples,
    uniqueFirstSentences: new Set(texts.map((text) => text.split('.')[0]!.trim())).size,
    averageJaccard: roundedAsPython(jaccard, 3),
    degenerate: uniqueSamples < texts.length * 0.5 || jaccard > 0.7,
  };
}

/** The average before rounding. Takes time quadratic in the number of texts. */
export function averageJaccard(texts: readonly string[]): number {
  const sets = texts.map((text) => new Set(wordsBetweenBlanks(text)));
  let sum = 0;
  let pairs = 0;
  sets.forEach((left, at) => {
    for (const right of sets.slice(at + 1)) {
      if (left.size + right.size === 0) continue;
      sum += jaccard(left, right);
      pairs += 1;
    }
  });
  return pairs === 0 ? 0 : sum / pairs;
}

function jaccard(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of left) if (right.has(word)) shared += 1;
  return shared / (left.size + right.size - shared);
}
