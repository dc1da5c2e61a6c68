import {
  type Document,
  type DocumentOptions,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  type Scalar,
  type ScalarTag,
  type SchemaOptions,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { KeyPath, LocatedDiagnostic, Place } from './diagnostic.js';

/**
 * The words and numbers of YAML 1.1 as Python's parser (PyYAML) reads them: `yes`, `off`, `1_000`, `0x1f`, `017`, `1:30`.
 *
 * The exception are numbers like `1e-3` and `2.0e5`, which PyYAML reads as texts since they lack a point or the exponent's sign.
 * W&B passes them to its server without quotes, and its parser reads them as numbers, which is what programs finally get; so they
 * are numbers here. Dates stay texts, as W&B cannot pass any.
 */
const pythonYaml: SchemaOptions & DocumentOptions = {
  version: '1.1',
  schema: 'failsafe',
  merge: true,
  customTags: (tags) => [...tags, ...scalars],
};

const plain = (name: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag => ({
  tag: `tag:yaml.org,2002:${name}`,
  default: true,
  test,
  resolve,
});

const scalars: readonly ScalarTag[] = [
  plain('null', /^(?:~|null|Null|NULL)?$/, () => null),
  plain('bool', /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/, () => true),
  plain('bool', /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/, () => false),
  plain('int', /^[-+]?0b[01_]+$/, (text) => based(text, 2)),
  plain('int', /^[-+]?0x[0-9a-fA-F_]+$/, (text) => based(text, 16)),
  plain('int', /^[-+]?0[0-7_]+$/, (text) => based(text, 8)),
  plain('int', /^[-+]?(?:0|[1-9][0-9_]*)$/, (text) => Number(bare(text))),
  plain('int', /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$/, sexagesimal),
  plain('float', /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/, sexagesimal),
  plain('float', /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?$/, (text) => Number(bare(text))),
  plain('float', /^[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+$/, (text) => Number(bare(text))),
  plain('float', /^[-+]?\.(?:inf|Inf|INF)$/, (text) => (text.startsWith('-') ? -Infinity : Infinity)),
  plain('float', /^\.(?:nan|NaN|NAN)$/, () => NaN),
];

function bare(text: string): string {
  return text.replaceAll('_', '');
}

/** A number with a prefix: `0b`, `0x`, or a single `0` for octal. */
function based(text: string, base: number): number {
  const sign = text.startsWith('-') ? -1 : 1;
  return sign * Number.parseInt(bare(text).replace(/^[-+]?0[bx]?/, '') || '0', base);
}

/** A number in base 60: `1:30` is 90. */
function sexagesimal(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1;
  const parts = bare(text).replace(/^[-+]/, '').split(':');
  return sign * parts.reduce((sum, part) => 60 * sum + Number(part), 0);
}

/** A parsed text, with the places of its values. */
export type YamlSource = {
  readonly path: string;
  readonly text: string;
  readonly value: unknown;
  /** The place of the value at `keys`, or of the nearest value above it in the text. `span`: a range within a text value. */
  readonly placeOf: (keys: KeyPath, span?: { start: number; end: number }) => Place;
  /** The place of the key itself, for a key that should not be there. */
  readonly placeOfKey: (keys: KeyPath) => Place;
  /** Whether the value is a number that was written as a double: `1.0`, `1e3`. */
  readonly writtenAsDouble: (keys: KeyPath) => boolean;
  /** The notation of the numbers in these values, nested ones included. */
  readonly writtenNumbers: (places: readonly KeyPath[]) => WrittenNumbers;
};

/**
 * Texts of numbers: `0.0`, `1e-4`. A number that is written in two ways is left out, as is notation that only YAML has (`0x1f`,
 * `.inf`).
 */
export type WrittenNumbers = ReadonlyMap<number, string>;

/** The YAML options: YAML 1.2 (with `<<` merges) for our files, Python's rules for W&B's. */
const readers = { own: { merge: true }, wandb: pythonYaml } as const;
type Reader = keyof typeof readers;

/** Parses YAML. All syntax errors are returned as diagnostics instead of a source. */
export function readYaml(
  text: string,
  path: string,
  reader: Reader = 'own',
): YamlSource | readonly LocatedDiagnostic[] {
  try {
    // The package's own search for duplicate keys takes quadratic time.
    const document = parseDocument(text, {
      ...readers[reader],
      prettyErrors: false,
      logLevel: 'error',
      uniqueKeys: false,
    });
    const diagnostics = document.errors.map(syntaxDiagnostic);
    return diagnostics.length > 0 ? [...diagnostics, ...oddKeys(document)] : checkedSource(document, { text, path });
  } catch (error) {
    // The package parses nested blocks recursively, so deep nesting overflows the stack.
    if (error instanceof RangeError) return [tooDeep];
    throw error;
  }
}

/** Checks a document for invalid keys and for its size. Its nodes have their places in the text. */
export function checkedSource(
  document: Document,
  { text, path }: { text: string; path: string },
): YamlSource | readonly LocatedDiagnostic[] {
  const diagnostics = oddKeys(document);
  if (diagnostics.length > 0) return diagnostics;
  const read = plainValue(document);
  if ('problem' in read) return [read];
  const wrong = wrongExtent(read.value);
  if (wrong !== null) return [wrong];
  return {
    path,
    text,
    value: read.value,
    placeOf: (keys, span) => placeOf(document, text, { keys, span }),
    placeOfKey: (keys) => placeOfKey(document, keys),
    writtenAsDouble: (keys) => {
      const node = nodeAt(document, keys);
      return isScalar(node) && typeof node.value === 'number' && /^[-+\d_]*\.|^[-+\d_]+[eE]/.test(node.source ?? '');
    },
    writtenNumbers: (places) => writtenNumbers(document, places),
  };
}

/** Numbers in a notation that all parsers share. */
const decimal = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

function writtenNumbers(document: Document, places: readonly KeyPath[]): WrittenNumbers {
  const written = new Map<number, string | null>();
  const note = ({ value, source = '' }: Scalar): void => {
    if (typeof value !== 'number') return;
    const known = written.get(value);
    written.set(value, decimal.test(source) && (known === undefined || known === source) ? source : null);
  };
  const look = (node: unknown): void => {
    const seen = isAlias(node) ? node.resolve(document) : node;
    if (isNode(seen)) visit(seen, { Scalar: (key, scalar) => (key === 'key' ? undefined : note(scalar)) });
  };
  for (const keys of places) look(nodeAt(document, keys));
  return new Map([...written].flatMap(([value, text]) => (text === null ? [] : [[value, text]])));
}

/** Limit on the nesting of maps and lists; a sweep has about six levels. */
const deepest = 32;
const tooDeep: LocatedDiagnostic = {
  place: { start: 0, end: 1 },
  keys: [],
  problem: `it is nested more than ${deepest} levels deep.`,
  fix: 'Look for brackets or dashes that are there too often.',
};

/** Limit on the number of values with all aliases expanded. A file without aliases has at most half as many as characters. */
const mostValues = 1_000_000;

/** The limit that a value exceeds; null: none. */
function wrongExtent(value: unknown): LocatedDiagnostic | null {
  const { values, levels } = extentOf(value, new Map());
  if (levels > deepest) return tooDeep;
  if (values <= mostValues) return null;
  const problem = `it holds more than ${mostValues.toLocaleString('en-US')} values, its aliases written out.`;
  return {
    place: { start: 0, end: 1 },
    keys: [],
    problem,
    fix: 'Compute long lists ({expr: "…"}), or use fewer aliases.',
  };
}

type Extent = { readonly values: number; readonly levels: number };

/** Counts values and levels. Each object is visited once, however many aliases refer to it. */
function extentOf(value: unknown, known: Map<object, Extent>): Extent {
  if (typeof value !== 'object' || value === null) return { values: 1, levels: 0 };
  const before = known.get(value);
  if (before !== undefined) return before;
  // Stands for an alias within its own anchor, until the count is known.
  known.set(value, { values: Infinity, levels: Infinity });
  let values = 1;
  let levels = 0;
  for (const inner of Object.values(value)) {
    const extent = extentOf(inner, known);
    values += extent.values;
    levels = Math.max(levels, extent.levels);
  }
  const extent = { values, levels: levels + 1 };
  known.set(value, extent);
  return extent;
}

function plainValue(document: Document): { value: unknown } | LocatedDiagnostic {
  try {
    return { value: document.toJS({ maxAliasCount: 1000 }) as unknown };
  } catch (error) {
    return {
      place: { start: 0, end: 1 },
      keys: [],
      problem: `its anchors and aliases do not resolve: ${(error as Error).message}`,
      fix: 'Write the repeated values out.',
    };
  }
}

function syntaxDiagnostic(error: YAMLError): LocatedDiagnostic {
  const [start, end] = error.pos;
  const place = { start, end: Math.max(end, start + 1) };
  if (/call stack/.test(error.message)) return { ...tooDeep, place };
  const problem = `this is not YAML: ${lowerFirst(error.message.replace(/\.?$/, '.'))}`;
  return { place, keys: [], problem, fix: yamlHint(error) };
}

function yamlHint({ code }: YAMLError): string {
  if (code === 'TAB_AS_INDENT') return 'Indent with blanks instead of tabs.';
  if (code === 'MULTIPLE_DOCS') return 'Keep one document: remove everything from the second `---` on.';
  return 'Fix the line above it or the marked one: indentation, a missing colon, an open quote or bracket.';
}

function lowerFirst(text: string): string {
  return text.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}

/**
 * Reports keys that would change silently: lists and maps would become odd texts, `__proto__` is not usable as a name, and of two
 * equal keys the first would be lost.
 */
function oddKeys(document: Document): LocatedDiagnostic[] {
  const diagnostics: LocatedDiagnostic[] = [];
  visit(document, {
    Map: (_, map) => {
      const { items } = map;
      if (items.length > mostKeys) diagnostics.push(keyDiagnostic(map, tooManyKeys(items.length)));
      const seen = new Set<string>();
      for (const { key } of items) {
        const name = isScalar(key) ? keyName(key) : null;
        if (name === null || name === '__proto__') diagnostics.push(keyDiagnostic(key, oddKey));
        else if (seen.has(name)) diagnostics.push(keyDiagnostic(key, keyTwice));
        else seen.add(name);
      }
    },
  });
  return diagnostics;
}

/** A key as the value has it: a null key is an empty text. */
function keyName({ value }: { readonly value: unknown }): string {
  // The key `<<` is a symbol.
  if (typeof value === 'symbol') return '<<';
  return value === null || value === undefined ? '' : `${value as string | number | boolean}`;
}

/** Limit on the number of keys in a map; no useful list of parameters or groups has as many. */
const mostKeys = 10_000;

function tooManyKeys(count: number): { problem: string; fix: string } {
  const problem = `this map has ${count.toLocaleString('en-US')} keys; the limit is ${mostKeys.toLocaleString('en-US')}.`;
  return { problem, fix: 'Make several sweeps of it, or a list.' };
}

const oddKey = { problem: 'a key must be a simple word.', fix: 'Write the key as one word.' };
const keyTwice = {
  problem: 'this key is already in the same block.',
  fix: 'Keep one of the two lines; the other would be lost.',
};

function keyDiagnostic(key: unknown, said: { problem: string; fix: string }): LocatedDiagnostic {
  const [start, end] = rangeOf(key) ?? [0, 1];
  return { place: { start, end }, keys: [], ...said };
}

/** Like the document's `getIn`, which searches a map from its beginning each time. */
function nodeAt(document: Document, keys: KeyPath): unknown {
  let node: unknown = document.contents;
  for (const key of keys) {
    if (isMap(node)) node = pairOf(node, key)?.value;
    else if (isSeq(node)) node = node.items[Number(key)];
    else return undefined;
  }
  return node;
}

function rangeOf(node: unknown): readonly [number, number] | null {
  const range = (node as { range?: readonly [number, number, number] | null } | null)?.range;
  return range ? [range[0], range[1]] : null;
}

type Wanted = { keys: KeyPath; span: { start: number; end: number } | undefined };

function placeOf(document: Document, text: string, { keys, span }: Wanted): Place {
  const node = nodeAt(document, keys);
  const range = rangeOf(node);
  if (range === null) return keys.length === 0 ? { start: 0, end: 1 } : placeOfKey(document, keys);
  if (isMap(node) || isSeq(node)) return placeOfKey(document, keys);
  if (span && isScalar(node) && typeof node.value === 'string') {
    // The offset is only known where the file holds the text unchanged: no escapes, no folding.
    const offset = text.slice(range[0], range[1]).indexOf(node.value);
    if (offset >= 0) {
      const start = range[0] + offset;
      return { start: start + span.start, end: start + Math.max(span.end, span.start + 1) };
    }
  }
  return { start: range[0], end: Math.max(range[1], range[0] + 1) };
}

function placeOfKey(document: Document, keys: KeyPath): Place {
  for (let length = keys.length; length > 0; length -= 1) {
    const parent = nodeAt(document, keys.slice(0, length - 1));
    const range = isMap(parent) ? rangeOf(pairOf(parent, keys[length - 1]!)?.key) : itemRange(document, keys, length);
    if (range) return { start: range[0], end: range[1] };
  }
  return { start: 0, end: 1 };
}

function itemRange(document: Document, keys: KeyPath, length: number): readonly [number, number] | null {
  return typeof keys[length - 1] === 'number' ? rangeOf(nodeAt(document, keys.slice(0, length))) : null;
}

const pairsOf = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

function pairOf(map: YAMLMap, key: string | number): Pair | undefined {
  const known = pairsOf.get(map);
  if (known !== undefined) return known.get(String(key));
  const pairs = map.items.filter((item): item is Pair => isPair(item) && isScalar(item.key));
  const index = new Map(pairs.map((pair) => [keyName(pair.key as { value: unknown }), pair]));
  pairsOf.set(map, index);
  return index.get(String(key));
}
