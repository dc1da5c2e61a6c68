import { isUnset } from '../file/sweep-file.js';
import type { CompiledBlock, CompiledEdit, Variant } from './compile-block.js';
import type { CelValue, Value } from './expression/cel-environment.js';

/** A setting of all axes, before anything is computed from it. Each caller gets its own and may change it. */
export type Combination = {
  readonly variant: Variant;
  readonly variables: Record<string, CelValue>;
  readonly values: Record<string, Value>;
};

/**
 * `exclude` and `include` as in the matrix of GitHub Actions. Lists and cases form the matrix; constants are not part of it. An
 * entry of `exclude` removes the combinations that have all its values. An entry of `include` is added to every combination whose
 * matrix values it does not change; if there is none, it is a combination of its own.
 */
export class MatrixEdits {
  readonly #exclude: readonly CompiledEdit[];
  readonly #include: readonly CompiledEdit[];
  readonly #matrix: ReadonlySet<string>;
  readonly #used = new Set<CompiledEdit>();
  readonly #compiled: CompiledBlock;

  constructor(compiled: CompiledBlock) {
    this.#compiled = compiled;
    this.#exclude = compiled.exclude;
    this.#include = compiled.include;
    const ofCases = compiled.variants.flatMap(({ axes }) => axes);
    this.#matrix = new Set([...compiled.axes.filter(({ constant }) => !constant), ...ofCases].map(({ name }) => name));
  }

  excludes({ values }: Combination): boolean {
    return this.#exclude.some((entry) =>
      entry.every(({ name, value: [value] }) => Object.hasOwn(values, name) && same(values[name], value)),
    );
  }

  /** Adds matching entries to the combination, in place. */
  include({ values, variables }: Combination): void {
    const original = this.#include.length === 0 ? values : { ...values };
    for (const entry of this.#include) {
      const changes = ({ name, value: [value] }: CompiledEdit[number]) =>
        this.#matrix.has(name) && Object.hasOwn(original, name) && !same(original[name], value);
      if (entry.some(changes)) continue;
      this.#used.add(entry);
      put(entry, { values, variables });
    }
  }

  /** The entries that matched no combination, each on top of the constants. Call it after all others were visited. */
  own(): Combination[] {
    const { axes, bare } = this.#compiled;
    return this.#include
      .filter((entry) => !this.#used.has(entry))
      .map((entry) => {
        const combination: Combination = { variant: bare, variables: {}, values: {} };
        for (const { name, identifier, constant, values } of axes) {
          if (constant && !isUnset(values[0]![0])) put([{ name, identifier, value: values[0]! }], combination);
        }
        put(entry, combination);
        return combination;
      });
  }
}

function put(entry: CompiledEdit, { values, variables }: Omit<Combination, 'variant'>): void {
  for (const { name, identifier, value } of entry) {
    values[name] = value[0];
    variables[identifier] = value[1];
  }
}

function same(left: unknown, right: unknown): boolean {
  return left === right || (typeof left === 'object' && JSON.stringify(left) === JSON.stringify(right));
}
