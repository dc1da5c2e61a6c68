import { isMapValue } from '../../base/scalar.js';
import type { Value } from '../expand/expression/cel-environment.js';
import { elementsValue } from '../grid-line/grid-value.js';
import { parseValue, ValueMistake, type ValueNode } from '../grid-line/value-syntax.js';
import { pythonNumber } from './foreign-yaml.js';
import type { Written } from './sweep-text.js';

/** How a parameter of Hydra gets its values; numbers are written as Python writes them. */
export type HydraValue =
  | { readonly kind: 'constant'; readonly value: Written }
  | { readonly kind: 'list'; readonly values: readonly Written[] }
  | { readonly kind: 'drawn'; readonly distribution: Readonly<Record<string, string | number>> };

/**
 * Parses the text of an override by Hydra's grammar alone: brackets are one value, `0..4` and `yes` are texts.
 *
 * @param isEndIncluded Whether `range` includes its end, as it does for the Optuna sweeper.
 * @throws {ValueMistake} For a form that cannot be taken over, with its place.
 */
export function hydraValue(text: string, isEndIncluded = false): HydraValue {
  const nodes = parseValue(text).map((node) => settled(node, isEndIncluded));
  const [only] = nodes;
  const numbers = new NumberTexts(nodes);
  // A list alone is one value.
  if (nodes.length === 1 && (only?.kind === 'list' || only?.kind === 'map')) {
    return { kind: 'constant', value: numbers.written(wholeValue(only)) };
  }
  const meaning = elementsValue(nodes);
  if (meaning.kind === 'drawn') return meaning;
  if (meaning.kind === 'constant') return { kind: 'constant', value: numbers.written(meaning.value) };
  return { kind: 'list', values: meaning.values.map((value) => numbers.written(value)) };
}

function wholeValue(node: ValueNode): Value {
  const read = elementsValue([
    { kind: 'call', name: 'choice', args: [node], named: [], start: node.start, end: node.end },
  ]);
  return read.kind === 'list' ? read.values[0]! : '';
}

const disputedTexts = /^(?:yes|no|on|off|~|[-+]?0\d+|0[xob][\da-f_]+|[-+]?\d+\.\.[-+]?\d+(?:\.\.[-+]?\d+)?)$/i;

/** A node whose words mean what they mean to Hydra, where guild or our own lines read them otherwise. */
function settled(node: ValueNode, isEndIncluded: boolean): ValueNode {
  const inner = (each: ValueNode) => settled(each, isEndIncluded);
  switch (node.kind) {
    case 'word':
      return settledWord(node);
    case 'quoted':
      return node;
    case 'list':
      return { ...node, items: node.items.map(inner) };
    case 'map':
      return { ...node, entries: node.entries.map(([key, value]) => [key, inner(value)] as const) };
    case 'slice':
      throw new ValueMistake('brackets with colons are no values of Hydra.', 'Correct it in the file.', node);
    case 'call': {
      if (node.name === 'unset') throw new ValueMistake('`unset` is no function of Hydra.', 'Correct it.', node);
      const call = {
        ...node,
        args: node.args.map(inner),
        named: node.named.map(([name, value]) => [name, inner(value)] as const),
      };
      return node.name === 'range' && isEndIncluded ? withEnd(call) : call;
    }
  }
}

type Word = Extract<ValueNode, { kind: 'word' }>;

function settledWord(node: Word): ValueNode {
  if (node.escaped) return node;
  if (/^[-+]?(?:inf|nan)$/i.test(node.text)) {
    throw new ValueMistake(`\`${node.text}\` is no number for a sweep file.`, 'Put it into the command.', node);
  }
  if (disputedTexts.test(node.text)) return { kind: 'quoted', text: node.text, start: node.start, end: node.end };
  const isNumber = /^[-+]?\d[\d_]*(?:\.[\d_]*)?(?:[eE][-+]?\d+)?$/.test(node.text);
  return isNumber ? { ...node, text: node.text.replaceAll('_', '') } : node;
}

type Call = Extract<ValueNode, { kind: 'call' }>;

/** `range(a,b)` as the list of its values with the end. */
function withEnd(call: Call): ValueNode {
  const texts = [...call.args, ...call.named.map(([, value]) => value)].map((node) =>
    node.kind === 'word' ? node.text : '',
  );
  const isPlain = call.named.every(([name]) => name === 'step') && texts.length >= 2;
  const [start = NaN, stop = NaN, step = 1] = texts.map(Number);
  if (!isPlain || ![start, stop, step].every(Number.isInteger) || step <= 0) {
    throw new ValueMistake(
      'only a `range` of whole numbers can be taken over from a search.',
      'List the values.',
      call,
    );
  }
  const end = { kind: 'word', text: String(stop + 1), escaped: false, start: call.start, end: call.end } as const;
  return { ...call, args: [call.args[0]!, end, ...call.args.slice(2)], named: call.named };
}

/** How the numbers of a value are written. */
class NumberTexts {
  readonly #doubles = new Map<number, boolean>();
  readonly #isDouble: boolean;

  constructor(nodes: readonly ValueNode[]) {
    this.#isDouble = nodes.length === 1 && isOfFloats(nodes[0]!);
    for (const node of nodes) this.#look(node);
  }

  written(value: Value): Written {
    if (typeof value === 'number') return pythonNumber(value, this.#doubles.get(value) ?? this.#isDouble);
    if (Array.isArray(value)) return value.map((item) => this.written(item));
    if (!isMapValue(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.written(inner)]));
  }

  #look(node: ValueNode): void {
    if (node.kind === 'list') node.items.forEach((item) => this.#look(item));
    else if (node.kind === 'map') node.entries.forEach(([, inner]) => this.#look(inner));
    else if (node.kind === 'call' && /^(?:choice|sort|tag)$/.test(node.name))
      node.args.forEach((arg) => this.#look(arg));
    else if (node.kind === 'word') this.#note(node);
  }

  #note(node: Word): void {
    const value = Number(node.text);
    if (node.text.trim() === '' || Number.isNaN(value)) return;
    const isDouble = /[.eE]/.test(node.text);
    if ((this.#doubles.get(value) ?? isDouble) !== isDouble) {
      throw new ValueMistake(`${value} is there as a whole number and as one with a point.`, 'Write both alike.', node);
    }
    this.#doubles.set(value, isDouble);
  }
}

/** Whether the values of a node are Python's floats. */
function isOfFloats(node: ValueNode): boolean {
  if (node.kind !== 'call') return false;
  if (node.name === 'float') return true;
  const numbers = [...node.args, ...node.named.map(([, value]) => value)];
  return node.name === 'range' && numbers.some((each) => each.kind === 'word' && /[.eE]/.test(each.text));
}
