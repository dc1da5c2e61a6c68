import * as z from 'zod';

/** A value of a parameter. `null` is a value too: it is passed on as `None`/`null`, not left out. */
export const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type Scalar = z.infer<typeof Scalar>;

/** The value of a parameter: a scalar, or a list or a map of values. */
export type ParameterValue = Scalar | ParameterValue[] | { [name: string]: ParameterValue };
export const ParameterValue: z.ZodType<ParameterValue> = z.lazy(() =>
  z.union([Scalar, z.array(ParameterValue), z.record(z.string(), ParameterValue)]),
);

/** The parameters of one run, in the order in which the sweep file names them. */
export const Parameters = z.record(z.string(), ParameterValue);
export type Parameters = z.infer<typeof Parameters>;

/** Whether a parameter is a random seed, by its name: `seed`, `data_seed`, `random_state`. */
export function isSeedName(name: string): boolean {
  return /(^|[._/-])(seed|random_state)$/i.test(name);
}

/** Whether a value is a map from names to values. */
export function isMapValue(value: ParameterValue | undefined): value is { [name: string]: ParameterValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a parameter; undefined where the run has no own parameter of that name, even if the name is `constructor`. */
export function parameterOf(parameters: Parameters, name: string): Parameters[string] | undefined {
  return Object.hasOwn(parameters, name) ? parameters[name] : undefined;
}

/** A run with its parameters. `declared`: those that only its program has declared. */
type Parametrized = { readonly parameters: Parameters; readonly declared?: Parameters | undefined };

/** The value of a parameter of a run, planned or declared. */
export function anyParameterOf({ parameters, declared }: Parametrized, name: string): Parameters[string] | undefined {
  if (declared === undefined || Object.hasOwn(parameters, name)) return parameterOf(parameters, name);
  return parameterOf(declared, name);
}

/** All parameters of a run, the planned ones first. */
export function allParametersOf({ parameters, declared }: Parametrized): Parameters {
  return declared === undefined ? parameters : { ...parameters, ...declared, ...parameters };
}
