import { parseJsonLine } from '../../contract/json-line.js';
import type { Taken } from '../../files/followed-bytes.js';

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
