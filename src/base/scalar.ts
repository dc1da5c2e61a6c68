import * as z from 'zod';

/** A value of a parameter. `null` is a value too: it is passed on as `None`/`null`, not left out. */
export const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type Scalar = z.infer<typeof Scalar>;

/** The parameters of one run, in the order in which the sweep file names them. */
export const Parameters = z.record(z.string(), z.union([Scalar, z.array(Scalar)]));
export type Parameters = z.infer<typeof Parameters>;

/** The value of a parameter; undefined where the run has none of that name, even if it is called `constructor`. */
export function parameterOf(parameters: Parameters, name: string): Parameters[string] | undefined {
  return Object.hasOwn(parameters, name) ? parameters[name] : undefined;
}
