import { parse, TomlDate, TomlError } from 'smol-toml';
import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { LocatedDiagnostic } from './diagnostic.js';
import { checkedSource, type YamlSource } from './yaml-source.js';

/**
 * Parses TOML into a YAML document of the same values, whose nodes keep their places in the TOML text, so that the same checks and
 * messages apply. Syntax errors are returned as diagnostics instead of a source.
 */
export function readToml(text: string, path: string): YamlSource | readonly LocatedDiagnostic[] {
  try {
    parse(text, { maxDepth, integersAsBigInt: 'asNeeded' });
  } catch (error) {
    if (error instanceof TomlError) return [syntaxDiagnostic(error, text)];
    throw error;
  }
  const document = new Document();
  document.contents = new TomlReader(text).document();
  return checkedSource(document, { text, path });
}

/** Nesting limit of arrays: above that of a sweep, so that deep nesting is reported as in YAML. */
const maxDepth = 64;

function syntaxDiagnostic({ message, line, column }: TomlError, text: string): LocatedDiagnostic {
  const before = text.split('\n').slice(0, line - 1);
  const start = before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  const [first = ''] = message.replace(/^Invalid TOML document:\s*/, '').split('\n');
  return {
    place: { start, end: start + 1 },
    keys: [],
    problem: `this is not TOML: ${first}.`,
    fix: 'Fix the marked place or what stands before it: a missing quote, bracket or `=`, or what is there twice.',
  };
}

type Range = [number, number, number];

/** Walks through a text that is valid TOML. */
class TomlReader {
  readonly #text: string;
  readonly #pairs = new Map<YAMLMap, Map<string, Pair>>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): YAMLMap {
    const root = this.#newMap([0, 1, 1]);
    let table = root;
    for (this.#skipBlank(); this.#at < this.#text.length; this.#skipBlank()) {
      if (this.#takes('[[')) table = this.#addedTable(root, this.#keys(']]'));
      else if (this.#takes('[')) table = this.#mapAt(root, this.#keys(']'));
      else this.#setPair(table);
    }
    return root;
  }

  #setPair(table: YAMLMap): void {
    const keys = this.#keys('=');
    const last = keys.pop()!;
    this.#put(this.#mapAt(table, keys), last, this.#value());
  }

  /** Names joined by dots, up to `end`. */
  #keys(end: string): Scalar<string>[] {
    const keys: Scalar<string>[] = [];
    do {
      this.#skipBlank();
      const raw = this.#isQuote() ? this.#quoted() : this.#match(/[\w-]+/y);
      const key = new Scalar(/^['"]/.test(raw) ? (valueOf(raw) as string) : raw);
      key.range = this.#rangeOf(raw);
      keys.push(key);
      this.#skipBlank();
    } while (this.#takes('.'));
    this.#takes(end);
    return keys;
  }

  #value(): Scalar | YAMLMap | YAMLSeq {
    this.#skipBlank();
    const start = this.#at;
    if (this.#takes('[')) return this.#list(start);
    if (this.#takes('{')) return this.#inlineTable(start);
    const raw = this.#isQuote() ? this.#quoted() : this.#match(/[^,\]}#\r\n]*/y).trimEnd();
    const scalar = new Scalar(valueOf(raw));
    scalar.source = raw;
    scalar.range = [start, start + raw.length, start + raw.length];
    return scalar;
  }

  #list(start: number): YAMLSeq {
    const list = new YAMLSeq();
    for (this.#skipBlank(); !this.#takes(']'); this.#skipBlank()) {
      list.items.push(this.#value());
      this.#skipBlank();
      this.#takes(',');
    }
    list.range = [start, this.#at, this.#at];
    return list;
  }

  #inlineTable(start: number): YAMLMap {
    const map = this.#newMap([start, start + 1, start + 1]);
    for (this.#skipBlank(); !this.#takes('}'); this.#skipBlank()) {
      this.#setPair(map);
      this.#skipBlank();
      this.#takes(',');
    }
    return map;
  }

  /** The table at these names below another, created where it is missing; in an array of tables the last one. */
  #mapAt(table: YAMLMap, keys: readonly Scalar<string>[]): YAMLMap {
    let map = table;
    for (const key of keys) {
      const known = this.#pairs.get(map)!.get(key.value)?.value;
      if (known instanceof YAMLSeq) map = known.items.at(-1) as YAMLMap;
      else map = known instanceof YAMLMap ? known : this.#put(map, key, this.#newMap(key.range!));
    }
    return map;
  }

  #addedTable(root: YAMLMap, keys: readonly Scalar<string>[]): YAMLMap {
    const above = this.#mapAt(root, keys.slice(0, -1));
    const key = keys.at(-1)!;
    const known = this.#pairs.get(above)!.get(key.value)?.value;
    const list = known instanceof YAMLSeq ? known : this.#put(above, key, new YAMLSeq());
    const map = this.#newMap(key.range!);
    list.items.push(map);
    return map;
  }

  #newMap(range: Range): YAMLMap {
    const map = new YAMLMap();
    map.range = range;
    this.#pairs.set(map, new Map());
    return map;
  }

  #put<Node>(map: YAMLMap, key: Scalar<string>, value: Node): Node {
    const pair = new Pair(key, value);
    map.items.push(pair);
    this.#pairs.get(map)!.set(key.value, pair);
    return value;
  }

  #skipBlank(): void {
    this.#match(/(?:\s|#[^\n]*)*/y);
  }

  #takes(text: string): boolean {
    const isThere = this.#text.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  #isQuote(): boolean {
    return /['"]/.test(this.#text[this.#at] ?? '');
  }

  /** Reads a string with any kind of quotes. One in triple quotes may end with quotes of its own. */
  #quoted(): string {
    return this.#match(/"""(?:[^\\]|\\[^])*?"{3,5}(?!")|'''[^]*?'{3,5}(?!')|"(?:[^"\\]|\\.)*"|'[^']*'/y);
  }

  /** @param pattern A sticky regular expression. */
  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #rangeOf(raw: string): Range {
    return [this.#at - raw.length, this.#at, this.#at];
  }
}

/** A value as YAML has it: dates are texts, and integers are numbers of any size. */
function valueOf(raw: string): unknown {
  const { value } = parse(`value = ${raw}`, { integersAsBigInt: 'asNeeded' });
  return value instanceof TomlDate ? raw : typeof value === 'bigint' ? Number(value) : value;
}
