import type { WrittenRow } from '../format.js';

/** A number as programs print it: the source of a regular expression. */
export const numberText = String.raw`[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|NaN|inf|Infinity)`;
const name = String.raw`[A-Za-z_][\w./@%-]*`;
/** LightGBM's are those of a set: `valid_0's l1`. */
const ownName = String.raw`[A-Za-z_][\w./@%'-]*`;

/** `key=value` anywhere in a line. After a dash it is an option of a command that is being told. */
const assignment = new RegExp(String.raw`(?<![\w./=?&-])(${name}) ?= ?(${numberText})(?=[\s,;|)\]%]|$)`, 'g');
/** One of the parts that a line of pairs consists of: `key: value`, `key value` for counters, `Epoch 3/10`. */
const part = new RegExp(String.raw`^(${ownName}(?: ${ownName}){0,3})(?:: *|=)(${numberText})(?: ?(?:s|ms|%|it/s))?$`);
const counter = new RegExp(String.raw`^(epoch|step|iter(?:ation)?|episode|global_step)[ :#]*(\d+)(?:\/\d+)?$`, 'i');
/** What stands between them. Keras writes ` - `. */
export const between = /\s*[,;|]\s*| - |\s{2,}|\t/;

/** Numbers with names in a line of text; null: it has none, or is text in which something like it happens to stand. */
export function pairsIn(line: string): WrittenRow | null {
  return assignmentsIn(line) ?? partsOf(line);
}

/** `global_step=100, episodic_return=12.5`; also within other text. */
export function assignmentsIn(text: string): WrittenRow | null {
  if (!text.includes('=')) return null;
  const found = [...text.matchAll(assignment)].map(([, key, value]) => [key!, toNumber(value!)] as const);
  return found.length === 0 ? null : Object.fromEntries(found);
}

/** The name and the number of `loss: 0.5`; null: it is something else. */
export function partOf(text: string): readonly [string, number, true?] | null {
  const [, key, value] = part.exec(text) ?? [];
  return key === undefined ? null : [key, toNumber(value!)];
}

/** `loss: 0.5 - accuracy: 0.9`: all of the line has to be such parts. */
export function partsOf(line: string): WrittenRow | null {
  if (!line.includes(':')) return null;
  const row: Record<string, number> = {};
  let named = 0;
  for (const text of line.trim().split(between)) {
    const [, key, value] = part.exec(text) ?? counter.exec(text) ?? [];
    if (key === undefined) return null;
    const isCounter = counter.test(text);
    row[isCounter ? key.toLowerCase() : key] = toNumber(value!);
    if (!isCounter) named += 1;
  }
  return named > 0 ? row : null;
}

export function toNumber(text: string): number {
  const word = text.toLowerCase().replace(/^[-+]/, '');
  if (word === 'nan') return NaN;
  if (word === 'inf' || word === 'infinity') return text.startsWith('-') ? -Infinity : Infinity;
  return Number(text);
}
