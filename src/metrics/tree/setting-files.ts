import { parse } from 'yaml';
import type { Parameters, ParameterValue, Scalar } from '../../base/scalar.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { textOrNull } from '../../files/regular-file.js';
import { valueOf } from '../formats/csv.js';

/**
 * What the files of a run say of it beside its metrics. `name`, `group`: as its writer calls the run, and the project or experiment
 * it is of; null: it does not say. `state` null: nothing says whether, or how, it ended. Times: Unix ms.
 */
export type FoundFacts = {
  readonly parameters: Parameters;
  readonly name: string | null;
  readonly group: string | null;
  readonly state: 'queued' | 'running' | 'done' | 'failed' | 'killed' | 'lost' | null;
  readonly reason: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** What its program has noted of it. */
  readonly tags: readonly string[];
  readonly note: string | null;
};

/** A larger file holds no settings, bytes. */
const LARGEST = 1 << 20;
/** Settings of one run, and characters of a text among them: more is data. */
const MOST = 1000;
const LONGEST = 500;
const DEEPEST = 8;
/** Items of a list, and lists in lists. */
const LONGEST_LIST = 32;
const DEEPEST_LIST = 1;

/** What a file of settings says, as plain data: JSON where its name ends so, else YAML. Null: nothing that can be read. */
export function settingsIn(path: string): Readonly<Record<string, unknown>> | null {
  if (!path.endsWith('.json')) return recordOf(valueIn(path));
  const text = textOrNull(path, LARGEST);
  return text === null ? null : parseJsonLine(text);
}

/** The value in a file of YAML; null: none that can be read. */
export function valueIn(path: string): unknown {
  const text = textOrNull(path, LARGEST);
  if (text === null) return null;
  try {
    // Tags are of Python's own, as Lightning and stable-baselines3 write them: `!!python/tuple`.
    return parse(text, { logLevel: 'silent', maxAliasCount: 100 });
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
  // An alias of YAML may stand for what it is in: what is looked at is counted, not only what is kept.
  let left = MOST;
  const take = (values: Readonly<Record<string, unknown>>, prefix: string, depth: number): void => {
    for (const [key, value] of Object.entries(values)) {
      if (left-- <= 0) return;
      const inner = recordOf(value);
      if (inner !== null && depth < DEEPEST) take(inner, `${prefix}${key}.`, depth + 1);
      else if (isScalar(value) || isList(value, 0)) parameters[prefix + key] = value;
    }
  };
  take(settings, '', 0);
  return parameters;
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return value.length <= LONGEST;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}

function isList(value: unknown, depth: number): value is ParameterValue[] {
  if (!Array.isArray(value) || value.length > LONGEST_LIST) return false;
  return value.every((each) => isScalar(each) || (depth < DEEPEST_LIST && isList(each, depth + 1)));
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
    else if (flag !== undefined && next !== undefined && !/^-[^\d.]/.test(next))
      parameters[flag] = scalarOf(words[++at]!);
    else if (flag !== undefined) parameters[flag] = true;
  }
  return parameters;
}
