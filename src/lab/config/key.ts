import type { ValueType } from './value-type.js';

/** One thing a recipe can be told: `name=value`. */
export type Key<T> = {
  readonly type: ValueType<T>;
  readonly default: T;
  /** For `--help`: one line, units included. */
  readonly meaning: string;
  /** Where the source system has it, when that is inside another setting: `loss_fn_config.beta`. All its names are read. */
  readonly path?: string | readonly string[];
  /** Set when the value is an object whose entries may be given one by one, after one of these names: `environment.max=9`. */
  readonly entriesOf?: readonly string[];
  /** Set when the key is accepted for the source system's sake and changes nothing here: why. */
  readonly inert?: string;
  /** Set when, left out, the value may follow from other settings: what says a run's settings again names it always. */
  readonly follows?: boolean;
  /** What the source system calls it, which is understood, too. */
  readonly alias?: string;
};

export type Keys = Readonly<Record<string, Key<unknown>>>;

/** The values of a set of keys. */
export type Config<K extends Keys> = { readonly [Name in keyof K]: K[Name] extends Key<infer T> ? T : never };

export function key<T>(type: ValueType<T>, standard: NoInfer<T>, meaning: string): Key<T> {
  return { type, default: standard, meaning };
}

/** The same keys, which the source system has inside the setting `parent`, under their own names. */
export function within<K extends Keys>(parent: string, keys: K): K {
  const nested = Object.entries(keys).map(([name, known]) => [name, { ...known, path: `${parent}.${name}` }]);
  return Object.fromEntries(nested) as K;
}

/** The same key, which the source system has in these places. */
export function alsoAt<T>(known: Key<T>, ...path: readonly string[]): Key<T> {
  return { ...known, path };
}

/** The same keys, some of them with other defaults. */
export function withDefaults<K extends Keys>(keys: K, defaults: Partial<Config<K>>): K {
  const changed = Object.entries<unknown>(defaults).map(([name, value]) => [name, { ...keys[name], default: value }]);
  return { ...keys, ...Object.fromEntries(changed) } as K;
}

/** A key of the source system that has no meaning on this machine. */
export function inertKey<T>(type: ValueType<T>, standard: NoInfer<T>, why: string): Key<T> {
  return { type, default: standard, meaning: `accepted, no effect: ${why}`, inert: why };
}
