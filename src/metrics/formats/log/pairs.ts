import type { WrittenRow } from '../format.js';

const number = String.raw`[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|NaN|inf|Infinity)`;
const name = String.raw`[A-Za-z_][\w./@%-]*`;

/** `key=value` anywhere in a line. After a dash it is an option of a command that is being told. */
const assignment = new RegExp(String.raw`(?<![\w./=?&-])(${name}) ?= ?(${number})(?=[\s,;|)\]%]|$)`, 'g');
/** One of the parts that a line of pairs consists of: `key: value`, `key value` for counters, `Epoch 3/10`. */
const part = new RegExp(String.raw`^(${name}(?: ${name}){0,3})(?:: *|=)(${number})(?: ?(?:s|ms|%|it/s))?$`);
const counter = new RegExp(String.raw`^(epoch|step|iter(?:ation)?|global_step)[ :#]*(\d+)(?:\/\d+)?$`, 'i');
/** What stands between them. Keras writes ` - `. */
const between = /\s*[,;|]\s*| - |\s{2,}|\t/;

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

/** `loss: 0.5 - accuracy: 0.9`: all of the line has to be such parts. */
function partsOf(line: string): WrittenRow | null {
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
