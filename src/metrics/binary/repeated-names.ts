/** Limit on the number of names that are remembered. */
const MOST = 2000;

/**
 * The names in the bytes of a file that repeats them, most often in the same order: a known one is compared, which takes a fraction
 * of the time of decoding it.
 */
export class RepeatedNames {
  readonly #known: { readonly bytes: Uint8Array; readonly name: string }[] = [];
  readonly #places = new Map<string, number>();
  readonly #nameOf: (text: string) => string;
  /** Place of the name that is likely to come next. */
  #next = 0;

  /** @param nameOf Makes a name of a decoded text; called once for each text that is remembered. */
  constructor(nameOf: (text: string) => string = (text) => text) {
    this.#nameOf = nameOf;
  }

  /** The name in `bytes[from, to)`. */
  at(bytes: Buffer, from: number, to: number): string {
    const likely = this.#known[this.#next];
    const name =
      likely !== undefined && isAt(likely.bytes, bytes, from, to) ? likely.name : this.#find(bytes, from, to);
    this.#next = this.#next + 1 < this.#known.length ? this.#next + 1 : 0;
    return name;
  }

  #find(bytes: Buffer, from: number, to: number): string {
    const text = bytes.toString('utf8', from, to);
    const place = this.#places.get(text);
    if (place !== undefined) {
      this.#next = place;
      return this.#known[place]!.name;
    }
    const name = this.#nameOf(text);
    if (this.#known.length >= MOST) return name;
    this.#next = this.#known.length;
    this.#places.set(text, this.#next);
    this.#known.push({ bytes: Uint8Array.from(bytes.subarray(from, to)), name });
    return name;
  }
}

function isAt(name: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== name.length) return false;
  for (let at = 0; at < name.length; at++) if (name[at] !== bytes[from + at]) return false;
  return true;
}
