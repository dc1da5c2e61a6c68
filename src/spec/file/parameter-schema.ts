import * as z from 'zod';
import { type ParameterValue, Scalar } from '../../base/scalar.js';
import type { Value } from '../expand/expression/cel-environment.js';
import { type Distribution, type DistributionName, distributionNames } from '../expand/sampling/distribution.js';
import { type ParameterRule, unset } from './sweep-file.js';
import type { KeyPath } from './diagnostic.js';
import type { YamlSource } from './yaml-source.js';

/** Distributions that stand for a value or a list of values. */
const listed = ['constant', 'categorical', 'categorical_w_probabilities'] as const;

/** How a parameter may be written. Every schema's message states what is expected, to follow "expected …". */
export const scalar = z.union(Scalar.options, 'a number, a text, true, false or null');
const value = z.custom<ParameterValue>(isValue, 'a value');

/** Accepts any YAML value except dates, binaries and infinities. */
function isValue(said: unknown): boolean {
  if (Array.isArray(said)) return said.every(isValue);
  if (typeof said !== 'object' || said === null) return Scalar.safeParse(said).success;
  return Object.getPrototypeOf(said) === Object.prototype && Object.values(said).every(isValue);
}

const valueList = z.array(value, 'a list of values').min(1, 'at least one value, because an empty axis makes no runs');
export const condition = z.union([z.string(), z.boolean().transform(String)], 'an expression, for example N > 16');

const number = z.number('a number');
const positive = number.positive('a number above 0');

/** Keys that describe a distribution. */
const drawing = {
  distribution: z.enum(distributionNames, `a distribution: ${distributionNames.join(', ')}`).optional(),
  min: number.optional(),
  max: number.optional(),
  mu: number.optional(),
  sigma: number.nonnegative('a number from 0 on').optional(),
  q: positive.optional(),
  a: positive.optional(),
  b: positive.optional(),
};

const ParameterKeys = z.strictObject({
  values: valueList.optional(),
  value: value.optional(),
  grid: valueList.optional(),
  unset: z.literal(true, 'true').optional(),
  expr: z.string('an expression, for example (seed * 7) % N').optional(),
  when: condition.optional(),
  probabilities: z.array(number, 'a list of numbers').optional(),
  ...drawing,
});

export const parameterName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/, 'start with a letter or _, followed by letters, digits and _ . -');

/** A parameter as a map, without its nested parameters. */
type ParameterForm = z.infer<typeof ParameterKeys>;
export type ParameterText = Scalar | Value[] | (ParameterForm & { parameters?: ParametersText | undefined });
export type ParametersText = { [name: string]: ParameterText };

const Nested = ParameterKeys.extend({
  get parameters(): z.ZodOptional<z.ZodType<ParametersText>> {
    return ParametersText.optional();
  },
});
const ParameterMap = Nested.superRefine((form, context) => {
  const message = formMistake(form);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

export const ParameterText: z.ZodType<ParameterText> = z.union(
  [scalar, valueList, ParameterMap],
  'a value, a list of values, {values: […]}, {value: …}, {expr: "…"} or {min: …, max: …}',
);
export const ParametersText: z.ZodType<ParametersText> = z.record(
  parameterName,
  ParameterText,
  'a map from parameter names to values',
);

/** Keys of a parameter that is a map. */
export const parameterKeys: readonly string[] = Object.keys(Nested.shape);

type WholeForm = ParameterForm & { parameters?: ParametersText | undefined };

/** The contradiction in a form, to follow "expected …"; null: none. */
function formMistake(form: WholeForm): string | null {
  const isListed = listed.some((name) => name === form.distribution);
  const isDrawn = !isListed && Object.keys(drawing).some((key) => form[key as keyof typeof drawing] !== undefined);
  const ways = [...[form.values, form.value, form.grid, form.unset, form.expr, form.parameters], isDrawn || undefined];
  if (ways.filter((way) => way !== undefined).length !== 1) {
    return 'exactly one of `values`, `value`, `grid`, `unset`, `expr`, a distribution (such as `min` and `max`) and `parameters`';
  }
  if (form.parameters !== undefined && form.when !== undefined) return '`when` on each of the nested `parameters`';
  if (form.probabilities !== undefined) return probabilityMistake(form);
  return isDrawn ? drawingMistake(form) : null;
}

/** Keys that a distribution uses. */
function usedKeys(name: string): (keyof typeof drawing)[] {
  const own = name.includes('uniform') ? ['min', 'max'] : name.includes('normal') ? ['mu', 'sigma'] : ['a', 'b'];
  return [...(own as (keyof typeof drawing)[]), ...(name.startsWith('q_') ? (['q'] as const) : [])];
}

function drawingMistake(form: WholeForm): string | null {
  const given = (Object.keys(drawing) as (keyof typeof drawing)[]).filter(
    (key) => key !== 'distribution' && form[key] !== undefined,
  );
  const name = form.distribution;
  const used = usedKeys(name ?? 'uniform');
  const strange = given.find((key) => !used.includes(key));
  if (strange !== undefined) {
    return name === undefined ? `a \`distribution\` beside \`${strange}\`` : `${name} without \`${strange}\``;
  }
  const missing = used.find((key) => (key === 'min' || key === 'max') && form[key] === undefined);
  return missing === undefined ? null : `\`${missing}\` too`;
}

function probabilityMistake({ values, probabilities = [] }: WholeForm): string | null {
  if (values === undefined) return '`values` beside `probabilities`';
  if (values.length !== probabilities.length) {
    return `as many \`probabilities\` as \`values\`: ${values.length}, not ${probabilities.length}`;
  }
  const sum = probabilities.reduce((total, each) => total + each, 0);
  if (probabilities.every((each) => each >= 0) && Math.abs(sum - 1) < 1e-5) return null;
  return '`probabilities` from 0 on, which add up to 1';
}

/** Access to the notation of numbers in the file, which JavaScript's values do not keep. */
type Writing = Pick<YamlSource, 'writtenAsDouble' | 'writtenNumbers'>;
type WrittenAsDouble = Writing['writtenAsDouble'];

/** The parameters of a map in its order, nested ones as `outer.inner`. */
export function rulesOf(
  texts: ParametersText,
  above: KeyPath,
  writing: Writing,
  outer: readonly string[] = [],
): [string, ParameterRule][] {
  return Object.entries(texts).flatMap(([name, text]): [string, ParameterRule][] => {
    const keys = [...above, name];
    const path = [...outer, name];
    if (isForm(text) && text.parameters) return rulesOf(text.parameters, [...keys, 'parameters'], writing, path);
    return [[path.join('.'), { ...parameterRule(text, keys, writing), path }]];
  });
}

/** The rule of a parameter without nested ones. `keys`: null in a command-line option. */
export function parameterRule(
  text: ParameterText,
  keys: KeyPath | null,
  { writtenAsDouble: isDouble, writtenNumbers }: Writing,
): ParameterRule {
  const form = formOf(text);
  const said = { keys, when: form.when ?? null, path: [] };
  if (form.expr !== undefined) return { ...said, kind: 'derived', expr: form.expr };
  const values = valuesOf(form);
  if (values === null) return { ...said, kind: 'drawn', distribution: distributionOf(form, keys ?? [], isDouble) };
  const places = keys === null ? [] : placesOfValues(keys, text);
  const double = holdsFraction(values) || places.some(isDouble);
  const [probabilities, crossed] = [form.probabilities ?? null, form.grid !== undefined];
  const constant = !crossed && form.values === undefined;
  const written = writtenNumbers(places);
  return { ...said, kind: 'axis', values, double, constant, probabilities, crossed, written };
}

/** The listed values; null: they are drawn from a distribution. */
function valuesOf({ values, grid, value: only, unset: isUnset }: ParameterForm): readonly Value[] | null {
  if (isUnset === true) return [unset];
  return values ?? grid ?? (only === undefined ? null : [only]);
}

function formOf(text: ParameterText): ParameterForm {
  if (isForm(text)) return text;
  return Array.isArray(text) ? { values: text } : { value: text };
}

function isForm(text: ParameterText): text is Exclude<ParameterText, Value | Value[]> {
  return typeof text === 'object' && text !== null && !Array.isArray(text);
}

/** Whether some value has a fraction, which makes the whole axis double. */
export function holdsFraction(values: readonly Value[]): boolean {
  return values.some((value) =>
    Array.isArray(value) ? holdsFraction(value) : typeof value === 'number' && !Number.isInteger(value),
  );
}

function placesOfValues(keys: KeyPath, text: ParameterText): KeyPath[] {
  const values = Array.isArray(text) ? text : isForm(text) ? (text.values ?? text.grid ?? []) : [];
  const key = isForm(text) && text.grid !== undefined ? 'grid' : 'values';
  const above = Array.isArray(text) ? keys : [...keys, key];
  return [keys, [...keys, 'value'], ...values.map((_, index) => [...above, index])];
}

const usual = { min: 0, max: 0, mu: 0, sigma: 1, a: 1, b: 1, q: 1 };

function distributionOf(form: ParameterForm, keys: KeyPath, isDouble: WrittenAsDouble): Distribution {
  const given = Object.entries(form).filter(([key, value]) => key in usual && value !== undefined);
  const { q, ...numbers } = { ...usual, ...(Object.fromEntries(given) as Partial<typeof usual>) };
  const isWhole = (key: 'min' | 'max' | 'q') => Number.isInteger(form[key] ?? 1) && !isDouble([...keys, key]);
  const name = (form.distribution ??
    (isWhole('min') && isWhole('max') ? 'int_uniform' : 'uniform')) as DistributionName;
  const isRounded = name.startsWith('q_');
  const whole = name === 'int_uniform' || (isRounded && isWhole('q'));
  return { name, ...numbers, q: isRounded ? q : null, whole };
}
