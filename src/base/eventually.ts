/** A value that is there already, or will be: most answers come at once, and only the slow ones are waited for. */
export type Eventually<Value> = Value | Promise<Value>;

/** Goes on with a value, at once if it is there already. */
export function after<Value, Result>(
  value: Eventually<Value>,
  use: (value: Value) => Eventually<Result>,
): Eventually<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}
