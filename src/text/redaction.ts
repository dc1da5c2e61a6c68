/**
 * Keeps secrets out of everything that leaves the supervisor: screens, `run.json`, the journal, logs, diffs, notifications.
 *
 * A secret is the value of a variable with a secret's name, the password in a URL, or a text in the format of a well-known key.
 * Create one redactor per environment and keep it; a text without a secret costs about 1 µs.
 */
import { isMapValue, type Parameters, type ParameterValue } from '../base/scalar.js';

/** Replaces every secret in a text by `***`. */
export type Redact = (text: string) => string;

/** Minimum length of a value in characters: shorter ones (`KEY=true`, `TOKEN=1`) occur in harmless text. */
const SHORTEST = 8;
/** A line of a multi-line secret from this length on is a secret by itself, as logs show single lines. */
const SHORTEST_LINE = 16;

/** @param environment The user's environment as submitted, merged with `env` of the sweep file if that holds secrets too. */
export function redactor(environment: Readonly<Record<string, string>>): Redact {
  const secrets = secretsOf(environment);
  return (text) => withoutShapes(withoutValues(text, secrets));
}

/** A redactor without an environment: it only recognises secrets by their format. */
export const redactShapes: Redact = withoutShapes;

const secretFlag =
  /^--?(?:[\w-]*[-_])?(?:api[-_]?key|access[-_]?key|secret[-_]?key|client[-_]?secret|password|passwd|passphrase|credentials?|(?:access|api|auth|hf)[-_]token)$|^--?token$/i;

/** Redacts the words of a command. The word after `--password` and similar options is always a secret. */
export function redactWords(words: readonly string[], redact: Redact): string[] {
  return words.map((word, index) => {
    const isValue = index > 0 && secretFlag.test(words[index - 1]!) && word.length >= SHORTEST;
    return isValue ? MASK : redact(word);
  });
}

/** Redacts the parameters of a run; returns the same object where none is secret. A parameter with a secret's name always is. */
export function redactedParameters(parameters: Parameters, redact: Redact): Parameters {
  const shown = Object.entries(parameters).map(([name, value]): [string, Parameters[string]] => [
    name,
    typeof value === 'number' || typeof value === 'boolean' ? value : redactedValue(name, value, redact),
  ]);
  if (shown.every(([name, value]) => value === parameters[name])) return parameters;
  // `Object.fromEntries` also keeps a key named `__proto__`.
  return Object.fromEntries(shown);
}

/** Redacts a value; returns the same value where nothing in it is secret. */
function redactedValue(name: string, value: Parameters[string], redact: Redact): Parameters[string] {
  const isSecret = secretFlag.test(`--${name.replace(/^.*[./]/, '')}`);
  const hide = (each: ParameterValue): ParameterValue => {
    if (typeof each === 'string') return isSecret && each.length >= SHORTEST ? MASK : redact(each);
    if (Array.isArray(each)) return each.map(hide);
    if (!isMapValue(each)) return each;
    return Object.fromEntries(
      Object.entries(each).map(([key, inner]) => [key, redactedValue(key, hide(inner), redact)]),
    );
  };
  const hidden = hide(value);
  if (typeof value !== 'object') return hidden;
  return JSON.stringify(hidden) === JSON.stringify(value) ? value : hidden;
}

/** The values to search for. */
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

/** The passwords in URLs such as `postgres://me:password@host`: error messages may show the password alone. */
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

/** Removes secrets. All are located in the original text first, so that overlapping and nested ones leave no remains. */
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

/** Replaces a secret. */
export const MASK = '***';

type Shape = { pattern: RegExp; instead: string };

const KEY_BLOCK = /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g;
/**
 * Parameter names that mean a secret in any program. `secret` and `token` alone are not among them, as language models use them for
 * other things.
 */
const NAMED =
  '((?:api|access|private|secret)[-_]?key|client[-_]?secret|passw(?:or)?d|passphrase|(?:access|api|auth|bearer|refresh)[-_]?token)';
const ASSIGNED = new RegExp(`${NAMED}(["']?\\s*[=:]\\s*["']?)[^\\s"',;&]{8,}`, 'gi');
const QUOTED = new RegExp(`${NAMED}(["']?\\s*[=:]\\s*)(["'])(?:(?!\\3)[^\\n]){8,}\\3`, 'gi');

/** Secrets that are recognised by their format, whatever variable holds them. */
const shapes: readonly Shape[] = [
  { pattern: KEY_BLOCK, instead: MASK },
  { pattern: /(:\/\/[^\s/@:'"]*:)[^\s/@'"]+(?=@)/g, instead: `$1${MASK}` },
  { pattern: /(:\/\/)[^\s/@:'"]{20,}(?=@)/g, instead: `$1${MASK}` },
  { pattern: /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, instead: `$1 ${MASK}` },
  { pattern: /(?<![\w-])sk-(?=[\w-]*\d)[\w-]{20,}/g, instead: MASK },
  { pattern: /(?<!\w)(?:gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})/g, instead: MASK },
  {
    pattern: /(?<!\w)(?:hf_[A-Za-z0-9]{20,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{35}|xox[a-z]-[\w-]{10,})/g,
    instead: MASK,
  },
  { pattern: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?/g, instead: MASK },
  { pattern: QUOTED, instead: `$1$2$3${MASK}$3` },
  { pattern: ASSIGNED, instead: `$1$2${MASK}` },
];

/** A text without any of these contains no shape; nearly all texts have none. */
const hint =
  /-----BEGIN|:\/\/|bearer|basic|sk-|gh[opsur]_|github_|glpat|hf_|AKIA|ASIA|AIza|xox|eyJ|key|passw|passphrase|secret|token/i;

/** Removes what looks like a secret: keys of known services, passwords in URLs, private keys. */
function withoutShapes(text: string): string {
  if (!hint.test(text)) return text;
  return shapes.reduce((rest, { pattern, instead }) => rest.replace(pattern, instead), text);
}

/** Words and word endings in names of variables that hold a secret. `SSH_AUTH_SOCK` and the like only tell its location. */
const secret =
  /SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIAL|BEARER|(?:KEYS?|TOKENS?|COOKIES?|DSN)(?![A-Z0-9])|(?<![A-Z0-9])(?:AUTH|PASS|PAT)(?![A-Z0-9])|_PWD(?![A-Z0-9])/i;
const locations = /_(?:PATH|FILE|DIR|SOCK|HOME|NAME|USER|HOST|PORT)$/i;

/** Whether a variable's name says that it holds a key, a password or a token. */
export function isSecretName(name: string): boolean {
  return secret.test(name) && !locations.test(name);
}
