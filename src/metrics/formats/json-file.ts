import { parseJsonLine } from '../../contract/json-line.js';
import type { Taken } from '../../files/followed-file.js';
import { statRegular, textOrNull } from '../../files/regular-file.js';
import type { Declared } from './format.js';

/** Size limit of a file of JSON that is read as a whole whenever it was rewritten, in bytes: some seconds. */
export const LARGEST_JSON = 256 << 20;

const sign = { quote: 34, escape: 92, open: 123, close: 125, begin: 91, end: 93 };

/** Receives an object of the stream, and the key before it. */
type ObjectTaker = (values: Record<string, unknown>, key: string) => void;

/**
 * Finds objects in a stream of JSON, with any white space, without parsing the rest: the file may be long, and incomplete.
 */
export class ObjectScan {
  readonly #isWanted: (keys: readonly string[]) => boolean;
  readonly #longest: number;
  /** The key before each bracket that is open at the start of the next bytes; '' before the outer one. */
  readonly #keys: string[] = [];
  #lastText = '';

  /**
   * @param isWanted Whether the objects directly in the innermost of these brackets, each by the key before it, are passed on.
   * @param longest Size limit of an object in bytes.
   */
  constructor(isWanted: (keys: readonly string[]) => boolean, longest: number) {
    this.#isWanted = isWanted;
    this.#longest = longest;
  }

  /** Calls `row` for complete objects; an incomplete one must be passed again. */
  take(bytes: Buffer, row: ObjectTaker): Taken {
    let at = 0;
    while (at < bytes.length) {
      const next = this.#step(bytes, at, row);
      if (next < 0)
        return bytes.length - at < this.#longest
          ? { done: at, needs: this.#longest }
          : { done: bytes.length, needs: 0 };
      at = next;
    }
    return { done: at, needs: 0 };
  }

  /** The index after the next token; negative: it is incomplete. */
  #step(bytes: Buffer, at: number, row: ObjectTaker): number {
    const byte = bytes[at]!;
    if (byte === sign.quote) return this.#text(bytes, at);
    if (byte === sign.open && this.#isWanted(this.#keys))
      return takeObject(bytes, at, (values) => row(values, this.#lastText));
    if (byte === sign.open || byte === sign.begin) this.#keys.push(this.#lastText);
    else if (byte === sign.close || byte === sign.end) this.#keys.pop();
    return at + 1;
  }

  #text(bytes: Buffer, at: number): number {
    const end = textEnd(bytes, at);
    if (end > 0) this.#lastText = textOf(bytes.toString('utf8', at, end));
    return end;
  }
}

function textOf(quoted: string): string {
  try {
    return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  } catch {
    return quoted;
  }
}

function takeObject(bytes: Buffer, from: number, row: (values: Record<string, unknown>) => void): number {
  let depth = 0;
  for (let at = from; at < bytes.length;) {
    const byte = bytes[at]!;
    if (byte === sign.quote) {
      at = textEnd(bytes, at);
      if (at < 0) return -1;
      continue;
    }
    at += 1;
    if (byte === sign.open) depth += 1;
    else if (byte === sign.close) depth -= 1;
    if (depth > 0) continue;
    const values = parseJsonLine(bytes.toString('utf8', from, at));
    if (values !== null) row(values);
    return at;
  }
  return -1;
}

/** The index after the string that begins at `from`; negative: it has no end yet. */
function textEnd(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    if (bytes[at] === sign.escape) at += 1;
    else if (bytes[at] === sign.quote) return at + 1;
  }
  return -1;
}

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
