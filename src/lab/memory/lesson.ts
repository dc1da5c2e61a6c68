import { rng } from '../rng.js';
import type { Example } from '../text/role-colon.js';
import { bitLength } from '../../analysis/memory-rules.js';
import { bitsExample, numberExample } from './uniform-answers.js';

/**
 * A passing secret, and how it is said. A warm-up begins with lessons: one secret after another is learnt and given up
 * for the next. Nothing of them is left after the uniform answers that follow, but the model has become one in which a
 * fact can be learnt: in the dense game, one that tells bit 3 from bit 7. A model warmed up on uniform answers alone has
 * no reason to, and then learns its bits together or not at all.
 *
 * @param name The same secret for the same name and N.
 */
export function lesson(kind: 'single_step' | 'multi_step', N: number, name: string): Example {
  const random = rng(N, `lesson/${name}`);
  if (kind === 'single_step') return numberExample(N, random.below(N));
  const bits = Array.from({ length: bitLength(N) }, () => random.below(2));
  return bitsExample(N, bits);
}
