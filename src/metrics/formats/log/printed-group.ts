import { numberText, toNumber, unitText } from './printed-number.js';

/** `end`: the place behind the closing bracket. */
type PrintedGroup = { pairs: readonly (readonly [string, number])[]; end: number };

/** Limit on the length of a group, characters. */
const LONGEST = 600;
const openAt = /[[{](?=[A-Za-z])|(?:(?<= is)|:) ?\((?=[\w ]{1,40}: )/y;
const closing: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')' };
/** Pairs are separated by commas or, where names have no spaces, by these. */
const between = /,|\s+(?=[\w./-]{1,60}[=:])/;
const pair = new RegExp(String.raw`^\s*([\w#./ -]{1,60}?)\s*[:=]\s*(${numberText})(${unitText})?\s*$`);

/**
 * Names and values in the brackets that open behind a label: `[loss=0.25, over 100 frames]`, `: (min: 0.0, avg: 0.5)`. Null: there
 * are none.
 */
export function groupIn(text: string, at: number): PrintedGroup | null {
  openAt.lastIndex = at;
  const open = openAt.exec(text)?.[0];
  if (open === undefined) return null;
  const from = at + open.length;
  const inside = text.slice(from, from + LONGEST);
  const length = inside.indexOf(closing[open.at(-1)!]!);
  if (length < 0) return null;
  const pairs = inside
    .slice(0, length)
    .split(open.endsWith('(') ? ',' : between)
    .flatMap((part) => {
      const [, name, number, unit = ''] = pair.exec(part) ?? [];
      return name === undefined ? [] : [[name, toNumber(number!, unit.trim())] as const];
    });
  return pairs.length === 0 ? null : { pairs, end: from + length + 1 };
}
