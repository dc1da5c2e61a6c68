/**
 * A text in ASCII letters that stays recognisable: accents are dropped (`café` as `cafe`), other alphabets are transliterated
 * (`шум` as `shum`), and single Greek letters are spelt out (`β1` as `beta1`). Other characters are given by their Unicode numbers
 * (`模型` as `u6a21-u578b`): the same text always gives the same result, and different texts mostly differ.
 */
export function romanized(text: string): string {
  if (isAscii(text)) return text;
  const letters = text
    .normalize('NFC')
    .replace(loneGreek, (letter) => greekNames.get(letter.normalize('NFKD').toLowerCase()) ?? letter);
  const parts = [...letters.normalize('NFKD')].filter((letter) => !/\p{M}/u.test(letter)).map(partOf);
  return parts.join('').replace(/-{2,}/g, '-').replace(/^-|-$/g, '');
}

/** A text as a part of a folder name that is safe on every file system. */
export function folderText(text: string): string {
  return romanized(text).replace(/[^A-Za-z0-9._=+,@-]+/g, '-');
}

function isAscii(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text);
}

function partOf(letter: string): string {
  if (isAscii(letter)) return letter;
  const lower = letter.toLowerCase();
  const known = sounds.get(lower);
  if (known !== undefined) return lower === letter ? known : known.charAt(0).toUpperCase() + known.slice(1);
  if (/[\p{L}\p{N}\p{S}]/u.test(letter)) return `-u${letter.codePointAt(0)!.toString(16)}-`;
  return '-';
}

/** A Greek letter that is not part of a word. */
const loneGreek = /(?<![\p{L}\p{M}])\p{Script=Greek}(?![\p{L}\p{M}])|µ(?!\p{L})/gu;

const greek: readonly (readonly [letter: string, sound: string, name: string])[] = [
  ['α', 'a', 'alpha'],
  ['β', 'v', 'beta'],
  ['γ', 'g', 'gamma'],
  ['δ', 'd', 'delta'],
  ['ε', 'e', 'epsilon'],
  ['ζ', 'z', 'zeta'],
  ['η', 'i', 'eta'],
  ['θ', 'th', 'theta'],
  ['ι', 'i', 'iota'],
  ['κ', 'k', 'kappa'],
  ['λ', 'l', 'lambda'],
  ['μ', 'm', 'mu'],
  ['ν', 'n', 'nu'],
  ['ξ', 'x', 'xi'],
  ['ο', 'o', 'omicron'],
  ['π', 'p', 'pi'],
  ['ρ', 'r', 'rho'],
  ['σ', 's', 'sigma'],
  ['ς', 's', 'sigma'],
  ['τ', 't', 'tau'],
  ['υ', 'y', 'upsilon'],
  ['φ', 'f', 'phi'],
  ['χ', 'ch', 'chi'],
  ['ψ', 'ps', 'psi'],
  ['ω', 'o', 'omega'],
];
const greekNames: ReadonlyMap<string, string> = new Map(greek.map(([letter, , name]) => [letter, name]));

/** Lower-case letters; й and ё are equal to и and е once their marks are removed. */
const cyrillic =
  'а a б b в v г g ґ g д d е e є ye ж zh з z и i і i к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh щ shch ъ - ы y ь - э e ю yu я ya';
const latin = 'ß ss æ ae œ oe ø o ł l đ d ð d þ th ı i ŋ ng';
const signs = '× x ÷ / ∞ inf − - – - — - ≤ le ≥ ge ≠ ne';

const sounds: ReadonlyMap<string, string> = new Map([
  ...greek.map(([letter, sound]) => [letter, sound] as const),
  ...[cyrillic, latin, signs].flatMap(pairs),
]);

function pairs(table: string): [letter: string, sound: string][] {
  const words = table.split(' ');
  return words.flatMap((letter, at): [string, string][] => (at % 2 === 0 ? [[letter, words[at + 1]!]] : []));
}
