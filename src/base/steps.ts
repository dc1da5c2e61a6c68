/** Work in steps, between which its caller may do something else. */
export type Steps<Result = void> = Generator<void, Result>;

/** Does all steps at once. */
export function finished<Result>(steps: Generator<unknown, Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
