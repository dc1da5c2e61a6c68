import type { ParameterRule } from './block.js';
import type { Value } from '../expand/expression/cel-value.js';
import type { KeyPath } from './diagnostic.js';
import type { ParameterForm, ParametersText, ParameterText } from './parameter-schema.js';
import type { Distribution, DistributionName } from '../expand/sampling/distribution.js';

/** Whether the number at these keys was written as a double (`1.0`), which JavaScript forgets. */
export type WrittenAsDouble = (keys: KeyPath) => boolean;

/** Parameters of a map in its order, those nested in others as `outer.inner`. */
export function rulesOf(
  texts: ParametersText,
  above: KeyPath,
  isDouble: WrittenAsDouble,
  outer: readonly string[] = [],
): [string, ParameterRule][] {
  return Object.entries(texts).flatMap(([name, text]): [string, ParameterRule][] => {
    const keys = [...above, name];
    const path = [...outer, name];
    if (isForm(text) && text.parameters) return rulesOf(text.parameters, [...keys, 'parameters'], isDouble, path);
    return [[path.join('.'), { ...parameterRule(text, keys, isDouble), path }]];
  });
}

/** What the text of a parameter that has none nested in it means. `keys`: null in an option of the command line. */
export function parameterRule(text: ParameterText, keys: KeyPath | null, isDouble: WrittenAsDouble): ParameterRule {
  const form = formOf(text);
  const said = { keys, when: form.when ?? null, path: [] };
  if (form.expr !== undefined) return { ...said, kind: 'derived', expr: form.expr };
  const values = form.values ?? (form.value === undefined ? null : [form.value]);
  if (values === null) return { ...said, kind: 'drawn', distribution: distributionOf(form, keys ?? [], isDouble) };
  const double = holdsFraction(values) || (keys !== null && placesOfValues(keys, text).some(isDouble));
  const probabilities = form.probabilities ?? null;
  return { ...said, kind: 'axis', values, double, constant: form.values === undefined, probabilities };
}

function formOf(text: ParameterText): ParameterForm {
  if (isForm(text)) return text;
  return Array.isArray(text) ? { values: text } : { value: text };
}

function isForm(text: ParameterText): text is Exclude<ParameterText, Value | Value[]> {
  return typeof text === 'object' && text !== null && !Array.isArray(text);
}

/** A value with a fraction makes the whole axis double by itself. */
export function holdsFraction(values: readonly Value[]): boolean {
  return values.flat().some((value) => typeof value === 'number' && !Number.isInteger(value));
}

function placesOfValues(keys: KeyPath, text: ParameterText): KeyPath[] {
  const values = Array.isArray(text) ? text : isForm(text) ? (text.values ?? []) : [];
  const above = Array.isArray(text) ? keys : [...keys, 'values'];
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
