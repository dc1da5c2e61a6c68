/**
 * Short names for the items of one list: words that all names share are left out, and where space is short those that most names
 * share, so that the rest still tells the names apart.
 */
import { columnsOfText, fit, textWidth } from './display-width.js';

/** A word of a name, with the separators before it. */
type Word = { readonly before: string; readonly text: string };

/** Words are separated by blanks and `_ - / \ = , :`. A point is part of a word: `0.1`, `model.pt`. */
const words = /([\s_\-/\\=,:]*)([^\s_\-/\\=,:]*)/g;
/** A value that is meaningless without the word before it, as in `b1=0.9` or `amp-true`. */
const bare = /^(?:[\d.]+(?:e[+-]?\d+)?|true|false|none|null|yes|no|on|off)$/i;
/** A hash of the parameters at the end of a name. */
const hash = /_(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{8}$/;

function wordsOf(name: string): Word[] {
  const found: Word[] = [];
  for (const [whole, before = '', text = ''] of name.matchAll(words)) {
    if (whole === '') break;
    const last = found.at(-1);
    if (last !== undefined && bare.test(text)) found[found.length - 1] = { ...last, text: last.text + whole };
    else found.push({ before, text });
  }
  return found;
}

/**
 * The names without the words that occur in all of them, and without needless hashes: `s0_model-a_final`, `s1_model-b_final` become
 * `s0_a`, `s1_b`. In the same order; different names stay different, and a single name stays whole.
 */
export function distinctNames(names: readonly string[]): readonly string[] {
  if (names.length < 2) return names;
  const plain = names.map((name) => name.replace(hash, ''));
  const whole = areDistinct(plain) ? plain : names;
  const split = whole.map(wordsOf);
  const shared = sharedWords(split);
  if (shared.size === 0) return whole;
  const short = split.map((own) => withoutShared(own, shared));
  return areDistinct(short) ? short : whole;
}

function areDistinct(names: readonly string[]): boolean {
  const known = new Set(names);
  return known.size === names.length && !known.has('');
}

/** Words that every name has once, and in the same order; none where the order differs. */
function sharedWords(names: readonly (readonly Word[])[]): ReadonlySet<string> {
  let shared = new Set(names[0]!.map(({ text }) => text));
  for (const own of names) {
    const counts = new Map<string, number>();
    for (const { text } of own) counts.set(text, (counts.get(text) ?? 0) + 1);
    shared = new Set([...shared].filter((text) => counts.get(text) === 1));
    if (shared.size === 0) return shared;
  }
  const order = [...shared].join('\0');
  const hasOrder = (own: readonly Word[]): boolean =>
    own.flatMap(({ text }) => (shared.has(text) ? [text] : [])).join('\0') === order;
  return names.every(hasOrder) ? shared : new Set();
}

/** The other words, each gap with the separators of its first word. */
function withoutShared(own: readonly Word[], shared: ReadonlySet<string>): string {
  let label = '';
  let gap: string | null = null;
  for (const { before, text } of own) {
    if (shared.has(text)) gap ??= before;
    else {
      label += (label === '' ? '' : (gap ?? before)) + text;
      gap = null;
    }
  }
  return label;
}

/**
 * A name in exactly `width` columns. A name that is too long keeps the words that the fewest other names have:
 * `s0_data/models/Llama-3.2-1B-Instruct` becomes `s0…3.2-1B…`.
 *
 * @param among All names of the list: pass the same array for the same list, as its words are cached.
 */
export function fitDistinct(name: string, width: number, among: readonly string[]): string {
  if (textWidth(name) <= width) return fit(name, width);
  const own = wordsOf(name);
  const shares = sharesIn(among);
  const shareOf = (index: number): number => shares.get(own[index]!.text) ?? 0;
  const most = Math.max(...[...own.keys()].map(shareOf));
  const rest = new Set(own.keys());
  const kept = new Set<number>();
  while (rest.size > 0) {
    const next = mostTelling(rest, kept, shareOf);
    rest.delete(next);
    const isCommon = kept.size > 0 && shareOf(next) === most;
    // A word that is as common as any other and has no kept neighbour is not worth its gap.
    if (isCommon && !isBeside(next, kept)) continue;
    kept.add(next);
    if (textWidth(withGaps(own, kept)) <= width) continue;
    kept.delete(next);
    // Without its most distinctive word, the name could be confused with another one.
    if (kept.size === 0) return cutInTheMiddle(name, width);
    if (isCommon) break;
  }
  return fit(withGaps(own, kept), width);
}

/** The word that the fewest names have; of equal ones one beside a kept word, then the last, as names differ more at their end. */
function mostTelling(rest: ReadonlySet<number>, kept: ReadonlySet<number>, shareOf: (index: number) => number): number {
  return [...rest].reduce((best, index) => {
    const gain = shareOf(best) - shareOf(index) || Number(isBeside(index, kept)) - Number(isBeside(best, kept));
    return gain >= 0 ? index : best;
  });
}

function isBeside(index: number, kept: ReadonlySet<number>): boolean {
  return kept.has(index - 1) || kept.has(index + 1);
}

/** For each word, how many of the names have it. */
function sharesIn(names: readonly string[]): ReadonlyMap<string, number> {
  let shares = known.get(names);
  if (shares === undefined) {
    shares = new Map();
    for (const name of names)
      for (const text of new Set(wordsOf(name).map((word) => word.text))) shares.set(text, (shares.get(text) ?? 0) + 1);
    known.set(names, shares);
  }
  return shares;
}

const known = new WeakMap<readonly string[], Map<string, number>>();

function withGaps(own: readonly Word[], kept: ReadonlySet<number>): string {
  let text = '';
  own.forEach((word, index) => {
    if (kept.has(index)) text += (text === '' || text.endsWith('…') ? '' : word.before) + word.text;
    else if (!text.endsWith('…')) text += '…';
  });
  return text;
}

function cutInTheMiddle(name: string, width: number): string {
  const tail = Math.max(0, width - 1) >> 1;
  const columns = textWidth(name);
  return width < 4
    ? fit(name, width)
    : fit(`${columnsOfText(name, 0, width - 1 - tail)}…${columnsOfText(name, columns - tail, columns)}`, width);
}
