import {
  type Importance,
  type ImportanceQuestion,
  importanceSteps,
} from '../../../src/analysis/parameters/parameter-importance.js';
import type { Random } from '../../../src/analysis/parameters/seeded-random.js';

/** What steps lead to, without a pause between them. */
export function atOnce<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export function parameterImportance(question: ImportanceQuestion, random: Random): Importance {
  return atOnce(importanceSteps(question, random));
}
