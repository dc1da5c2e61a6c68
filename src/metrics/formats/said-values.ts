import { parseJsonLine } from '../../contract/json-line.js';
import { statRegular, textOrNull } from '../../files/regular-file.js';
import type { Declared } from './format.js';

/** Size limit of a file, bytes. */
const LARGEST = 4 << 20;

/** The object in a file of JSON that a program writes as a whole; null: it is not readable, at least not now. */
export function objectIn(path: string): Readonly<Record<string, unknown>> | null {
  const text = textOrNull(path, LARGEST);
  return text === null ? null : parseJsonLine(text);
}

/** Values that stand for a run, in a file of JSON that its program writes again and again. */
export class SaidValues {
  readonly #path: string;
  readonly #valuesIn: (object: Readonly<Record<string, unknown>>) => Iterable<readonly [string, number]>;
  #seen = '';
  #values: ReadonlyMap<string, number> = new Map();
  /** When the file was last written, Unix ms; 0: there is none. */
  writtenAt = 0;

  constructor(
    path: string,
    valuesIn: (object: Readonly<Record<string, unknown>>) => Iterable<readonly [string, number]>,
  ) {
    this.#path = path;
    this.#valuesIn = valuesIn;
  }

  /** Returns true if the file says something else than before. */
  refresh(): boolean {
    const there = statRegular(this.#path);
    const seen = there.kind === 'file' ? `${there.stat.size} ${there.stat.mtimeMs}` : '';
    if (seen === this.#seen) return false;
    this.#seen = seen;
    this.writtenAt = there.kind === 'file' ? there.stat.mtimeMs : 0;
    this.#values = new Map(this.#valuesIn(objectIn(this.#path) ?? {}));
    return true;
  }

  /** The values but those of metrics that have rows. */
  declared(hasRows: (key: string) => boolean = () => false): Declared {
    const values = new Map([...this.#values].filter(([key]) => !hasRows(key)));
    return {
      ...{ values, axisOf: () => null, isHidden: () => false, isCurveAlone: () => false, isInternal: () => false },
      ...{ config: {}, tags: [], notes: null },
    };
  }
}

/** The numbers in plain data, by the names that lead to each, with slashes between them. */
export function* numbersIn(value: unknown, name = ''): Generator<[string, number]> {
  if (typeof value === 'number') yield [name, value];
  else if (typeof value === 'boolean') yield [name, Number(value)];
  else if (typeof value === 'object' && value !== null && !Array.isArray(value))
    for (const [key, inner] of Object.entries(value)) yield* numbersIn(inner, name === '' ? key : `${name}/${key}`);
}
