import { UserError } from '../../base/user-error.js';
import { nearest } from '../../text/nearest.js';
import type { Config, Key, Keys } from './key.js';
import { bool } from './value-type.js';

/** What a command line says: a value for every key, and which keys it named itself. */
export type Arguments<K extends Keys> = { readonly config: Config<K>; readonly given: ReadonlySet<string> };

/**
 * Reads `key=value` arguments; also `--key=value`, `--key value` and, for a bool, `--key` alone, as scripts with argparse
 * are called. The last one for a key wins, the others have their defaults.
 *
 * @throws UserError for an argument of another form, an unknown key (with the nearest known one) and a value of another type.
 */
export function readArguments<K extends Keys>(keys: K, argv: readonly string[]): Arguments<K> {
  const config: Record<string, unknown> = {};
  for (const [name, known] of Object.entries(keys)) config[name] = known.default;
  const given = new Set<string>();
  for (const { name: said, value } of pairs(keys, argv)) {
    const name = nameOf(keys, said);
    config[name] = readValue(name, value, knownKey(keys, name));
    given.add(name);
  }
  return { config: config as Config<K>, given };
}

/** A value as the command line would write it, in the words of Python. */
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
    else if (knownKey(keys, flag).type === bool) yield { name: flag, value: 'True' };
    else yield { name: flag, value: follower(flag, argv[++at], keys) };
  }
}

function follower(flag: string, value: string | undefined, keys: Keys): string {
  if (value !== undefined) return value;
  throw new UserError(
    `--${flag} has no value.`,
    `Give it one of type ${knownKey(keys, flag).type.name}: ${flag}=${writeValue(knownKey(keys, flag).default)}.`,
  );
}

function noPair(argument: string): UserError {
  return new UserError(
    `The argument ${JSON.stringify(argument)} is not of the form key=value.`,
    'Write for example N=64; --help lists every key.',
  );
}

function nameOf(keys: Keys, said: string): string {
  return Object.keys(keys).find((name) => keys[name]!.alias === said) ?? said;
}

function knownKey(keys: Keys, said: string): Key<unknown> {
  const name = nameOf(keys, said);
  const known = Object.hasOwn(keys, name) ? keys[name] : undefined;
  if (known !== undefined) return known;
  const near = nearest(name, Object.keys(keys));
  throw new UserError(
    `There is no key \`${name}\`.`,
    near === null ? 'Use --help to see every key.' : `Did you mean \`${near}\`? --help lists every key.`,
  );
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
  return [`memrl ${command} [key=value …]`, '', purpose, '', 'Keys with their defaults:', ...lines, ''].join('\n');
}
