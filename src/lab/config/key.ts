import type { ValueType } from './value-type.js';

/** A setting of a recipe: `name=value`. */
export type Key<T> = {
  readonly type: ValueType<T>;
  readonly default: T;
  /** One line for `--help`, units included. */
  readonly meaning: string;
  /**
   * Path of the key where memory-rl or tinker-cookbook has it inside another setting: `loss_fn_config.beta`. All paths
   * are accepted.
   */
  readonly path?: string | readonly string[];
  /**
   * Set when the value is an object whose entries may be given one by one, after one of these names:
   * `environment.max=9`.
   */
  readonly entriesOf?: readonly string[];
  /**
   * Set when the key is accepted only so that command lines of other programs work: the reason it has no effect here.
   */
  readonly inert?: string;
  /** Set when the default may depend on other settings: a printed command then always names the key. */
  readonly follows?: boolean;
  /** Name of the key in another program, which is accepted as well. */
  readonly alias?: string;
};

export type Keys = Readonly<Record<string, Key<unknown>>>;

/** The values of a set of keys. */
export type Config<K extends Keys> = { readonly [Name in keyof K]: K[Name] extends Key<infer T> ? T : never };

export function key<T>(type: ValueType<T>, standard: NoInfer<T>, meaning: string): Key<T> {
  return { type, default: standard, meaning };
}

/** Adds to each key the path that it has inside the setting `parent` of another program. */
export function within<K extends Keys>(parent: string, keys: K): K {
  const nested = Object.entries(keys).map(([name, known]) => [name, { ...known, path: `${parent}.${name}` }]);
  return Object.fromEntries(nested) as K;
}

/** Adds to a key the paths that it has in other programs. */
export function alsoAt<T>(known: Key<T>, ...path: readonly string[]): Key<T> {
  return { ...known, path };
}

/** The same keys with some other defaults. */
export function withDefaults<K extends Keys>(keys: K, defaults: Partial<Config<K>>): K {
  const changed = Object.entries<unknown>(defaults).map(([name, value]) => [name, { ...keys[name], default: value }]);
  return { ...keys, ...Object.fromEntries(changed) } as K;
}

/** A key that another program has, and that is accepted here without effect. */
export function inertKey<T>(type: ValueType<T>, standard: NoInfer<T>, why: string): Key<T> {
  return { type, default: standard, meaning: `accepted, no effect: ${why}`, inert: why };
}
