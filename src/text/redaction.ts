/**
 * Keeps secrets out of whatever leaves the supervisor: screens, `run.json`, the journal, logs, diffs, notifications.
 *
 * A secret is the value of a variable with a secret's name, the password in an address, or what has the look of a
 * well-known key. Build one redactor per environment and keep it; text without a secret costs about 1 µs.
 */
import type { Parameters, Scalar } from '../base/scalar.js';
import { isSecretName } from './secret-name.js';
import { MASK, withoutShapes } from './secret-shapes.js';

/** The text, with `***` for every secret in it. */
export type Redact = (text: string) => string;

/** Shorter values are too likely to be part of something harmless (`KEY=true`, `TOKEN=1`). */
const SHORTEST = 8;
/** A line of a secret with several lines counts by itself from this length on: logs show single lines. */
const SHORTEST_LINE = 16;

/** @param environment Of the person, as submitted; together with `env` of the sweep file, if it holds secrets too. */
export function redactor(environment: Readonly<Record<string, string>>): Redact {
  const secrets = secretsOf(environment);
  return (text) => withoutShapes(withoutValues(text, secrets));
}

/** For where there is no environment: what looks like a secret is taken out, and nothing else is known of. */
export const redactShapes: Redact = withoutShapes;

const secretFlag =
  /^--?(?:[\w-]*[-_])?(?:api[-_]?key|access[-_]?key|secret[-_]?key|client[-_]?secret|password|passwd|passphrase|credentials?|(?:access|api|auth|hf)[-_]token)$|^--?token$/i;

/** The words of a command. The word after `--password` and the like is a secret too, however it looks. */
export function redactWords(words: readonly string[], redact: Redact): string[] {
  return words.map((word, index) => {
    const isValue = index > 0 && secretFlag.test(words[index - 1]!) && word.length >= SHORTEST;
    return isValue ? MASK : redact(word);
  });
}

/** The parameters of a run; the same object where none is a secret. One whose name is a secret's is one, however it looks. */
export function redactedParameters(parameters: Parameters, redact: Redact): Parameters {
  const shown = Object.entries(parameters).map(([name, value]): [string, Parameters[string]] => [
    name,
    typeof value === 'number' || typeof value === 'boolean' ? value : redactedValue(name, value, redact),
  ]);
  if (shown.every(([name, value]) => value === parameters[name])) return parameters;
  // `__proto__` is a key like any other here.
  return Object.fromEntries(shown);
}

/** The same value where nothing in it is a secret. */
function redactedValue(name: string, value: Parameters[string], redact: Redact): Parameters[string] {
  const isSecret = secretFlag.test(`--${name.replace(/^.*[./]/, '')}`);
  const hide = (each: Scalar) => {
    if (typeof each !== 'string') return each;
    return isSecret && each.length >= SHORTEST ? MASK : redact(each);
  };
  if (!Array.isArray(value)) return hide(value);
  const all = value.map(hide);
  return all.every((each, index) => each === value[index]) ? value : all;
}

/** The values to look for. */
function secretsOf(environment: Readonly<Record<string, string>>): string[] {
  const values = Object.entries(environment).flatMap(([name, value]) =>
    isSecretName(name) ? [value, ...longLines(value)] : passwordsIn(value),
  );
  const all = values.flatMap((value) => [value, asJson(value), asUrl(value)]);
  return [...new Set(all)].filter((value) => value.length >= SHORTEST && !/^\**$/.test(value));
}

function longLines(value: string): string[] {
  const lines = value.split('\n').map((line) => line.trim());
  if (lines.length < 2) return [];
  return lines.filter((line) => line.length >= SHORTEST_LINE && !line.startsWith('-----'));
}

/** `postgres://me:password@host`: the password turns up alone in error messages. */
function passwordsIn(value: string): string[] {
  return [...value.matchAll(/:\/\/[^\s/@:]*:([^\s/@]+)@/g)].flatMap(([, password]) => [password!, fromUrl(password!)]);
}

function asJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function asUrl(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value;
  }
}

function fromUrl(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Found in the text as it was, so that secrets which overlap, or hold one another, leave nothing behind. */
function withoutValues(text: string, secrets: readonly string[]): string {
  const found = secrets.filter((secret) => text.includes(secret));
  if (found.length === 0) return text;
  const spans = found.flatMap((secret) => spansOf(text, secret)).sort((a, b) => a.from - b.from);
  let rest = '';
  let at = 0;
  for (const { from, to } of spans) {
    if (from > at || (at === 0 && from === 0)) rest += text.slice(at, from) + MASK;
    at = Math.max(at, to);
  }
  return rest + text.slice(at);
}

function spansOf(text: string, secret: string): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = [];
  for (let from = text.indexOf(secret); from >= 0; from = text.indexOf(secret, from + 1)) {
    spans.push({ from, to: from + secret.length });
  }
  return spans;
}
