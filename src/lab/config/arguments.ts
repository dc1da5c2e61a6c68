import { Document, parse } from 'yaml';
import { UserError } from '../../base/user-error.js';
import { nearest } from '../../text/nearest.js';
import type { Config, Key, Keys } from './key.js';
import { bool } from './value-type.js';

/** Parsed command line: a value for every key, and the keys that were given. */
export type Arguments<K extends Keys> = { readonly config: Config<K>; readonly given: ReadonlySet<string> };

/**
 * Reads `key=value` arguments; also `--key=value`, `--key value` and, for a bool, `--key` alone, as scripts with
 * argparse are called. The last one for a key wins; keys not given have their defaults.
 *
 * As in chz, the parser of memory-rl and tinker-cookbook, `a.b=1` is key `b` inside setting `a`, `...b=1` is every `b`
 * wherever it is, and where a setting is an object of a chosen kind (`environment=arithmetic`), `environment.max=9` is
 * one of its entries.
 *
 * @throws UserError for an argument of another form, an unknown key (with the nearest known one) and a value of
 * another type.
 */
export function readArguments<K extends Keys>(keys: K, argv: readonly string[]): Arguments<K> {
  const config: Record<string, unknown> = {};
  for (const [name, known] of Object.entries(keys)) config[name] = known.default;
  const given = new Set<string>();
  for (const { name, value } of pairs(keys, argv)) {
    const entry = entryOf(keys, name);
    if (entry !== null) {
      config[entry.key] = withEntry(config[entry.key], entry.path, value);
      given.add(entry.key);
      continue;
    }
    for (const chosen of namedKeys(keys, name)) {
      config[chosen] = readValue(name, value, keys[chosen]!);
      given.add(chosen);
    }
  }
  return { config: config as Config<K>, given };
}

/** A value as the command line would write it, in Python's notation. */
export function writeValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return value.map(writeValue).join(',');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'None';
}

type Pair = { readonly name: string; readonly value: string };

function* pairs(keys: Keys, argv: readonly string[]): Generator<Pair> {
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at]!;
    const both = /^(?:--)?([^=]+)=(.*)$/s.exec(argument);
    const flag = /^--([^=]+)$/.exec(argument)?.[1];
    if (both !== null) yield { name: both[1]!, value: both[2]! };
    else if (flag === undefined) throw noPair(argument);
    else if (keys[namedKeys(keys, flag)[0]!]!.type === bool) yield { name: flag, value: 'True' };
    else yield { name: flag, value: follower(flag, argv[++at], keys) };
  }
}

function follower(flag: string, value: string | undefined, keys: Keys): string {
  if (value !== undefined) return value;
  const { type, default: standard } = keys[namedKeys(keys, flag)[0]!]!;
  throw new UserError(`--${flag} has no value.`, `Give it one of type ${type.name}: ${flag}=${writeValue(standard)}.`);
}

function noPair(argument: string): UserError {
  return new UserError(
    `The argument ${JSON.stringify(argument)} is not of the form key=value.`,
    'Write for example N=64; --help lists every key.',
  );
}

/** Names of the keys that match: one, or with `...` as many as fit. @throws UserError when there is none. */
function namedKeys(keys: Keys, written: string): string[] {
  const name = nameOf(keys, written);
  if (Object.hasOwn(keys, name)) return [name];
  const exact = Object.keys(keys).filter((each) => pathsOf(keys[each]!).includes(name));
  if (exact.length > 0) return exact;
  const pattern = pathPattern(name);
  const fits = (known: string) => [known, ...pathsOf(keys[known]!)].some((each) => pattern.test(each));
  const found = name.includes('.') ? Object.keys(keys).filter(fits) : [];
  if (found.length > 0) return found;
  const near = nearest(name.split('.').at(-1)!, Object.keys(keys));
  throw new UserError(
    `There is no key \`${name}\`.`,
    near === null ? 'Use --help to see every key.' : `Did you mean \`${near}\`? --help lists every key.`,
  );
}

function pathsOf({ path = [] }: Key<unknown>): readonly string[] {
  return typeof path === 'string' ? [path] : path;
}

/** The key with entries, and the path of the entry that the name gives; null when the name is that of a key. */
function entryOf(keys: Keys, name: string): { readonly key: string; readonly path: readonly string[] } | null {
  if (!name.includes('.') || name.includes('...')) return null;
  if (Object.entries(keys).some(([key, known]) => key === name || pathsOf(known).includes(name))) return null;
  for (const [key, { entriesOf = [] }] of Object.entries(keys)) {
    const prefix = entriesOf.find((each) => name.startsWith(`${each}.`));
    if (prefix !== undefined) return { key, path: name.slice(prefix.length + 1).split('.') };
  }
  return null;
}

/**
 * Adds an entry to an object in YAML.
 * @param value In Python's or YAML's notation.
 * @throws UserError when the old value is not an object.
 */
function withEntry(written: unknown, path: readonly string[], value: string): string {
  const object = typeof written === 'string' ? readYaml(written) : {};
  if (typeof object !== 'object' || object === null) {
    throw new UserError(
      `${String(written)} is not an object, so it cannot have \`${path.join('.')}\`.`,
      'Write it as {max: 9}.',
    );
  }
  const document = new Document(object);
  const python: Record<string, unknown> = { None: null, True: true, False: false };
  document.setIn(path, Object.hasOwn(python, value) ? python[value] : readYaml(value));
  return JSON.stringify(document.toJSON());
}

/** A text that is not YAML stands for itself. */
function readYaml(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return text;
  }
}

/** Resolves another name of a key to the key; programs that pass `--log-path` mean `log_path`. */
function nameOf(keys: Keys, written: string): string {
  const name = written.replaceAll('-', '_');
  const known = Object.hasOwn(keys, name) ? name : written;
  return Object.keys(keys).find((each) => [written, name].includes(keys[each]!.alias ?? '')) ?? known;
}

/** Matches whole paths: `...` stands for any settings that lie between, or before. */
function pathPattern(name: string): RegExp {
  const parts = name.split('...').map((part) => part.replace(/[^\w]/g, '\\$&'));
  const [first = '', ...rest] = parts;
  const start = rest.length > 0 && first === '' ? ['(.*\\.)?', rest.shift()!] : [first];
  return new RegExp(`^${[...start, ...rest.map((part) => `\\.(.*\\.)?${part}`)].join('')}$`, 's');
}

function readValue(name: string, value: string, known: Key<unknown>): unknown {
  const read = known.type.read(value.trim());
  if (read !== undefined) return read;
  throw new UserError(
    `${name}=${value} is not a value of this key.`,
    `Give it a value of type ${known.type.name}, for example ${name}=${writeValue(known.default)}.`,
  );
}

/** The help text of one command: every key with its type, default and meaning. */
export function commandHelp(command: string, purpose: string, keys: Keys): string {
  const rows = Object.entries(keys).map(([name, { type, default: standard, meaning }]) => ({
    left: `${name}=${writeValue(standard)}`,
    type: type.name,
    meaning,
  }));
  const leftWidth = Math.max(...rows.map(({ left }) => left.length));
  const typeWidth = Math.min(24, Math.max(...rows.map(({ type }) => type.length)));
  const lines = rows.map(
    ({ left, type, meaning }) => `  ${left.padEnd(leftWidth)}  ${type.padEnd(typeWidth)}  ${meaning}`,
  );
  const usage = [`memrl ${command} [key=value …]`, '', purpose, '', 'Keys with their defaults:', ...lines, ''];
  return [...usage, ...nestedHelp(keys)].join('\n');
}

function nestedHelp(keys: Keys): string[] {
  const paths = Object.values(keys).flatMap(pathsOf);
  if (paths.length === 0) return [];
  return [`Some keys may also be given by a nested name: ${paths.join(', ')}.`, ''];
}
