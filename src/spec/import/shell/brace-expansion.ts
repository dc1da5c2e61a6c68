import { mostRuns } from '../../expand/compile-block.js';
import { type Part, ScriptMistake, type Word } from './script-node.js';

/** A character of a word without quotes, or something that braces leave alone. */
type Item = string | Part;

/** The words that bash makes of one with `{a,b}` or `{1..5}`, before anything else is expanded. */
export function expandBraces(word: Word): Word[] {
  if (!word.parts.some((part) => part.kind === 'text' && !part.quoted && part.text.includes('{'))) return [word];
  const items = word.parts.flatMap((part): Item[] => (part.kind === 'text' && !part.quoted ? [...part.text] : [part]));
  const expanded = alternatives(items, word);
  return expanded.map((each) => ({
    ...word,
    parts: each.map((item): Part => (typeof item === 'string' ? { kind: 'text', text: item, quoted: false } : item)),
  }));
}

function alternatives(items: readonly Item[], word: Word): Item[][] {
  const brace = firstBrace(items, word);
  if (brace === null) return [[...items]];
  const { open, close, inside } = brace;
  const rest = alternatives(items.slice(close + 1), word);
  const middle = inside.flatMap((each) => alternatives(each, word));
  if (middle.length * rest.length > mostRuns) {
    throw tooMany(word);
  }
  const head = items.slice(0, open);
  return middle.flatMap((each) => rest.map((tail) => [...head, ...each, ...tail]));
}

function tooMany(word: Word): ScriptMistake {
  return new ScriptMistake('these braces make too many words.', 'List fewer.', word);
}

type Brace = { readonly open: number; readonly close: number; readonly inside: Item[][] };

/** The first braces that expand; others stay as they are. */
function firstBrace(items: readonly Item[], word: Word): Brace | null {
  for (let open = items.indexOf('{'); open >= 0; open = items.indexOf('{', open + 1)) {
    const close = closeOf(items, open);
    if (close === null) continue;
    const inside = insideOf(items.slice(open + 1, close), word);
    if (inside !== null) return { open, close, inside };
  }
  return null;
}

function closeOf(items: readonly Item[], open: number): number | null {
  let depth = 0;
  for (let at = open; at < items.length; at += 1) {
    if (items[at] === '{') depth += 1;
    else if (items[at] === '}' && (depth -= 1) === 0) return at;
  }
  return null;
}

/** What stands in braces: a list, or a sequence; null: neither. */
function insideOf(items: readonly Item[], word: Word): Item[][] | null {
  const text = items.every((item) => typeof item === 'string') ? items.join('') : null;
  const sequence = text === null ? null : sequenceOf(text, word);
  if (sequence !== null) return sequence.map((each) => [...each]);
  const list: Item[][] = [[]];
  let depth = 0;
  for (const item of items) {
    if (item === '{') depth += 1;
    if (item === '}') depth -= 1;
    if (item === ',' && depth === 0) list.push([]);
    else list.at(-1)!.push(item);
  }
  return list.length > 1 ? list : null;
}

function sequenceOf(text: string, word: Word): string[] | null {
  const [, from, to, by] = /^(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?$/.exec(text) ?? [];
  if (from === undefined || to === undefined) return null;
  const [first, last] = [Number(from), Number(to)];
  const step = Math.max(1, Math.abs(Number(by ?? 1))) * (last < first ? -1 : 1);
  const count = Math.floor((last - first) / step) + 1;
  if (!(count <= mostRuns)) throw tooMany(word);
  // A leading zero pads all numbers to one width.
  const isPadded = [from, to].some((end) => /^-?0\d/.test(end));
  const width = isPadded ? Math.max(from.length, to.length) : 0;
  return Array.from({ length: count }, (_, index) => padded(first + index * step, width));
}

function padded(value: number, width: number): string {
  const digits = String(Math.abs(value)).padStart(value < 0 ? width - 1 : width, '0');
  return value < 0 ? `-${digits}` : digits;
}
