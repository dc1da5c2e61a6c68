/** Parameters of rewards and detectors: the values under `params:`. */
import { inspect } from 'node:util';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { nearest } from '../../text/nearest.js';

export type Params = Readonly<Record<string, unknown>>;

const textMessage = 'a text or a list of texts, none of them empty';
const Text = z.string(textMessage).min(1, textMessage);

/** One text or several; read as a list. */
export const texts = z
  .union([Text.transform((one) => [one]), z.array(Text, textMessage).min(1, textMessage)], textMessage)
  .meta({ description: textMessage });
export const number = z.number('a number').meta({ description: 'a number' });
export const flag = z.boolean('true or false').meta({ description: 'true or false' });
export const fraction = numberBetween('a number from 0 to 1', 0, 1);
export const count = wholeNumber('a whole number of at least 1', 1);

function numberBetween(message: string, least: number, most: number) {
  return z.number(message).min(least, message).max(most, message).meta({ description: message });
}

function wholeNumber(message: string, least: number) {
  return z.int(message).min(least, message).meta({ description: message });
}

/**
 * Parses the parameters with the schema of a reward or detector, and fills in defaults.
 *
 * @param what For errors: ``The reward `string_count` ``.
 * @throws UserError for an unknown parameter, a wrong type, and a missing required one.
 */
export function readParams<S extends z.ZodRawShape>(shape: S, params: Params, what: string): z.infer<z.ZodObject<S>> {
  const parsed = z.strictObject(shape).safeParse(params);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => problemsOf(issue, params));
  throw new UserError(`${what} ${problems.join('; ')}.`, fixFor(shape, parsed.error.issues));
}

/** A value from a file as an error shows it; it may contain itself. */
export function valueText(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 1, breakLength: Infinity });
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}

function problemsOf(issue: z.core.$ZodIssue, params: Params): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `has no parameter \`${key}\``);
  const name = String(issue.path[0]);
  if (!Object.hasOwn(params, name)) return [`needs the parameter \`${name}\`: ${issue.message}`];
  return [`takes as \`${name}\` ${issue.message}, and was given ${valueText(params[name])}`];
}

function fixFor(shape: z.ZodRawShape, issues: readonly z.core.$ZodIssue[]): string {
  const names = Object.keys(shape);
  if (names.length === 0) return 'It takes no parameters: leave `params` out.';
  const unknown = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []));
  const near = unknown.length === 1 ? nearest(unknown[0]!, names) : null;
  const taken = names.map((name) => `${name} (${descriptionOf(shape[name]!)})`).join(', ');
  return `${near === null ? '' : `Did you mean \`${near}\`? `}It takes: ${taken}.`;
}

function descriptionOf(schema: z.core.$ZodType): string {
  const { description, default: standard } = describedBy(schema);
  return standard === undefined ? description : `${description}; ${JSON.stringify(standard)} unless given`;
}

function describedBy(schema: z.core.$ZodType): { description: string; default?: unknown } {
  if (schema instanceof z.ZodDefault) {
    return { ...describedBy(schema.def.innerType), default: schema.def.defaultValue };
  }
  if (schema instanceof z.ZodOptional) return describedBy(schema.def.innerType);
  return { description: (schema as z.ZodType).description ?? 'a value' };
}
