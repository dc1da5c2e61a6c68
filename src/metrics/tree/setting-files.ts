import { parse } from 'yaml';
import { isMapValue, type Parameters, type ParameterValue } from '../../base/scalar.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { textOrNull } from '../../files/regular-file.js';
import { valueOf } from '../formats/csv.js';

/** A larger file holds no settings, bytes. */
const LARGEST = 1 << 20;
/** Settings of one run, and characters of a text among them: more is data. */
const MOST = 1000;
const LONGEST = 500;

/** What a file of settings says, as plain data: JSON where its name ends so, else YAML. Null: nothing that can be read. */
export function settingsIn(path: string): Readonly<Record<string, unknown>> | null {
  const text = textOrNull(path, LARGEST);
  if (text === null) return null;
  if (path.endsWith('.json')) return parseJsonLine(text);
  try {
    // Tags are of Python's own, as Lightning and stable-baselines3 write them: `!!python/tuple`.
    return recordOf(parse(text, { logLevel: 'silent', maxAliasCount: 100 }));
  } catch {
    return null;
  }
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Settings as parameters: maps in maps become keys with points in between, what is no plain data is left out. */
export function parametersOf(settings: Readonly<Record<string, unknown>>): Parameters {
  const parameters: Record<string, ParameterValue> = {};
  const take = (values: Readonly<Record<string, unknown>>, prefix: string, depth: number): void => {
    for (const [key, value] of Object.entries(values)) {
      const inner = recordOf(value);
      if (Object.keys(parameters).length >= MOST) return;
      if (inner !== null && depth < 8) take(inner, `${prefix}${key}.`, depth + 1);
      else if (isPlain(value)) parameters[prefix + key] = value;
    }
  };
  take(settings, '', 0);
  return parameters;
}

function isPlain(value: unknown): value is ParameterValue {
  if (typeof value === 'string') return value.length <= LONGEST;
  if (Array.isArray(value)) return value.length <= 64 && value.every((each) => isPlain(each) && !isMapValue(each));
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

/** A text that is all there is of a value: a number where it is one. */
export function scalarOf(text: string): string | number | boolean | null {
  const value = valueOf(text);
  return typeof value === 'number' && !Number.isFinite(value) ? text : (value as string | number | boolean | null);
}

/** The parameters in a list of arguments: `--lr 0.1`, `--lr=0.1`, `lr=0.1`, `--flag`. */
export function parametersInArguments(words: readonly string[]): Parameters {
  const parameters: Record<string, ParameterValue> = {};
  for (let at = 0; at < words.length; at++) {
    const [, key, value] = /^(?:--?)?([A-Za-z][\w.-]*)=(.*)$/s.exec(words[at]!) ?? [];
    const [, flag] = /^--?([A-Za-z][\w.-]*)$/.exec(words[at]!) ?? [];
    const next = words[at + 1];
    if (key !== undefined) parameters[key] = scalarOf(value!);
    else if (flag !== undefined && next !== undefined && !/^-[^\d.]/.test(next)) parameters[flag] = scalarOf(words[++at]!);
    else if (flag !== undefined) parameters[flag] = true;
  }
  return parameters;
}
