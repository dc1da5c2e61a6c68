import { isMap, isPair, isScalar, isSeq, parseDocument, visit, type Document, type Pair, type YAMLError } from 'yaml';
import type { Complaint, KeyPath, Place } from './complaint.js';

/** A YAML text with its values and the way back from a value to its place in the text. */
export type YamlSource = {
  readonly path: string;
  readonly text: string;
  readonly value: unknown;
  /** The value at `keys` (or the nearest thing above it that the text holds). `span`: characters of a text value. */
  readonly placeOf: (keys: KeyPath, span?: { start: number; end: number }) => Place;
  /** The key itself, for a key that should not be there. */
  readonly placeOfKey: (keys: KeyPath) => Place;
  /** Whether the value is a number that was written as a double: `1.0`, `1e3`. */
  readonly writtenAsDouble: (keys: KeyPath) => boolean;
};

/** Reads YAML 1.2 (with `<<` merges). Mistakes of syntax come as complaints, all of them; then there is no source. */
export function readYaml(text: string, path: string): YamlSource | readonly Complaint[] {
  const read = readDocument(text);
  if (!('document' in read)) return read;
  const { document, value } = read;
  return {
    path,
    text,
    value,
    placeOf: (keys, span) => placeOf(document, text, { keys, span }),
    placeOfKey: (keys) => placeOfKey(document, keys),
    writtenAsDouble: (keys) => {
      const node: unknown = document.getIn(keys, true);
      return isScalar(node) && typeof node.value === 'number' && /^[-+\d]*\.|\d[eE]/.test(node.source ?? '');
    },
  };
}

type Read = { document: Document; value: unknown };

/** The package reads a block inside a block by a function inside a function, so depth is a matter of the stack. */
function readDocument(text: string): Read | readonly Complaint[] {
  try {
    const document = parseDocument(text, { prettyErrors: false, merge: true, logLevel: 'error' });
    const complaints = [...document.errors.map(syntaxComplaint), ...oddKeys(document)];
    if (complaints.length > 0) return complaints;
    const value = plainValue(document);
    if ('problem' in value) return [value];
    return isDeep(value.value, deepest) ? [tooDeep] : { document, value: value.value };
  } catch (error) {
    if (error instanceof RangeError) return [tooDeep];
    throw error;
  }
}

/** Levels of maps and lists; a sweep has about six. */
const deepest = 32;
const tooDeep: Complaint = {
  place: { start: 0, end: 1 },
  keys: [],
  problem: `it is nested more than ${deepest} levels deep.`,
  fix: 'Look for brackets or dashes that are there too often.',
};

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeep(inner, levels - 1));
}

function plainValue(document: Document): { value: unknown } | Complaint {
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

function syntaxComplaint(error: YAMLError): Complaint {
  const [start, end] = error.pos;
  const place = { start, end: Math.max(end, start + 1) };
  if (/call stack/.test(error.message)) return { ...tooDeep, place };
  if (error.code === 'DUPLICATE_KEY') {
    return {
      place,
      keys: [],
      problem: 'this key is already in the same block.',
      fix: 'Keep one of the two lines; the other would be lost.',
    };
  }
  const problem = `this is not YAML: ${lowerFirst(error.message.replace(/\.?$/, '.'))}`;
  return { place, keys: [], problem, fix: yamlHint(error) };
}

function yamlHint({ code }: YAMLError): string {
  if (code === 'TAB_AS_INDENT') return 'Indent with blanks instead of tabs.';
  if (code === 'MULTIPLE_DOCS') return 'Keep one document: remove everything from the second `---` on.';
  return 'Mend the line above it or the marked one: indentation, a missing colon, an open quote or bracket.';
}

function lowerFirst(text: string): string {
  return text.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}

/** Keys that are lists or maps would silently become odd texts, and `__proto__` is no name for anything. */
function oddKeys(document: Document): Complaint[] {
  const complaints: Complaint[] = [];
  visit(document, {
    Pair: (_, pair) => {
      if (isScalar(pair.key) && pair.key.value !== '__proto__') return;
      const [start, end] = rangeOf(pair.key) ?? [0, 1];
      complaints.push({
        place: { start, end },
        keys: [],
        problem: 'a key must be a simple word.',
        fix: 'Write the key as one word.',
      });
    },
  });
  return complaints;
}

function rangeOf(node: unknown): readonly [number, number] | null {
  const range = (node as { range?: readonly [number, number, number] | null } | null)?.range;
  return range ? [range[0], range[1]] : null;
}

type Wanted = { keys: KeyPath; span: { start: number; end: number } | undefined };

function placeOf(document: Document, text: string, { keys, span }: Wanted): Place {
  const node: unknown = keys.length === 0 ? document.contents : document.getIn(keys, true);
  const range = rangeOf(node);
  if (range === null) return keys.length === 0 ? { start: 0, end: 1 } : placeOfKey(document, keys);
  if (isMap(node) || isSeq(node)) return placeOfKey(document, keys);
  if (span && isScalar(node) && typeof node.value === 'string') {
    // Only where the text stands in the file as it is: no escapes, no folding.
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
    const parent: unknown = length === 1 ? document.contents : document.getIn(keys.slice(0, length - 1), true);
    const range = isMap(parent)
      ? rangeOf(pairOf(parent.items, keys[length - 1]!)?.key)
      : itemRange(document, keys, length);
    if (range) return { start: range[0], end: range[1] };
  }
  return { start: 0, end: 1 };
}

function itemRange(document: Document, keys: KeyPath, length: number): readonly [number, number] | null {
  return typeof keys[length - 1] === 'number' ? rangeOf(document.getIn(keys.slice(0, length), true)) : null;
}

function pairOf(items: readonly unknown[], key: string | number): Pair | undefined {
  return items
    .filter((item): item is Pair => isPair(item))
    .find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key));
}
