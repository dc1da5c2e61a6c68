import { type Difference, differenceOf, type Planned } from '../../../src/cli/plan/difference.js';
import type { Plan } from '../../../src/spec/planned-run.js';

/** A plan of which no supervisor knows anything. */
export function unknown(planned: readonly Planned[], plan: Plan): Difference {
  return differenceOf({ plan, planned, leftOut: [] }, []);
}
