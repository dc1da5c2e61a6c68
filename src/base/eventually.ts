/** A value that is available at once or later. Most answers are available at once, and need no turn of the event loop. */
export type Eventually<Value> = Value | Promise<Value>;

/** Passes a value to `use`: synchronously if it is available. */
export function after<Value, Result>(
  value: Eventually<Value>,
  use: (value: Value) => Eventually<Result>,
): Eventually<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}
