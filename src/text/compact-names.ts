/**
 * Compact notation for names: common parts once, and differences in braces, as a shell expands them: `A_N1024_B{4,8}_s{0,1,2}`. If
 * that is wider than `width`: the first, the last and their number. Words and numbers are never split.
 */
export function compactNames(names: readonly string[], width: number): string {
  const [first, ...others] = names;
  if (first === undefined) return '';
  if (others.length === 0) return first;
  const words = names.map(wordsOf);
  const braced = asProduct(names, words) ?? inBraces(words);
  if (braced.length <= width) return braced;
  return `${first} … ${others.at(-1)!} (${names.length})`;
}

/** Splits a name into numbers with their decimals and exponents, words, and the characters between them. */
function wordsOf(name: string): string[] {
  return name.match(/\d+(?:\.\d+)?(?:[eE][-+]?\d+(?![\p{L}]))?|\p{L}+|./gsu) ?? [];
}

/** Each differing place in braces of its own, if the names are all combinations of the values; else null. */
function asProduct(names: readonly string[], words: readonly string[][]): string | null {
  const [first] = words;
  if (words.some(({ length }) => length !== first!.length)) return null;
  const choices = first!.map((_, place) => [...new Set(words.map((own) => own[place]!))]);
  const count = choices.reduce((product, { length }) => product * length, 1);
  if (count !== new Set(names).size || count !== names.length) return null;
  return choices.map((values) => (values.length === 1 ? values[0]! : `{${values.join(',')}}`)).join('');
}

/** Puts the words that all names begin or end with outside the braces. */
function inBraces(words: readonly string[][]): string {
  const start = sharedStart(words);
  const rest = words.map((own) => own.slice(start));
  const end = sharedStart(rest.map((own) => own.toReversed()));
  const middle = rest.map((own) => own.slice(0, own.length - end).join(''));
  const [first] = rest;
  return `${words[0]!.slice(0, start).join('')}{${middle.join(',')}}${first!.slice(first!.length - end).join('')}`;
}

function sharedStart(words: readonly string[][]): number {
  const [first, ...others] = words;
  let length = 0;
  while (length < first!.length && others.every((own) => own[length] === first![length])) length += 1;
  return length;
}
