import { type Difference, differenceOf } from '../../../src/cli/launch/compare.js';
import type { Planned } from '../../../src/cli/launch/read.js';
import type { Plan } from '../../../src/spec/planned-run.js';

/** A plan of which no supervisor knows anything. */
export function unknown(planned: readonly Planned[], plan: Plan): Difference {
  return differenceOf({ plan, planned, leftOut: [] }, []);
}
