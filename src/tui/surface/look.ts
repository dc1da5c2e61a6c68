import type { Theme } from './theme.js';
import { type Background, backgrounds, type Tone, tones } from './span.js';

/** A tone on a background, and where a click leads, as one number, so that cells are compared as numbers. */
export type Look = number;

/** How many looks there are for each link. */
const styles = tones.length * backgrounds.length;
/** The paths that links lead to, by their number; 0 is none. As many as there were runs to be seen. */
const paths = [''];
const pathNumbers = new Map([['', 0]]);

export function lookOf(tone: Tone, ground: Background = 'none', link = ''): Look {
  return pathNumber(link) * styles + groundNumbers[ground] * tones.length + toneNumbers[tone];
}

function pathNumber(path: string): number {
  let number = pathNumbers.get(path);
  if (number === undefined) pathNumbers.set(path, (number = paths.push(path) - 1));
  return number;
}

/** The tone and the background that a look stands for. */
export function partsOf(look: Look): { readonly tone: Tone; readonly ground: Background } {
  const style = styleOf(look);
  return { tone: tones[style % tones.length]!, ground: backgrounds[Math.floor(style / tones.length)]! };
}

/** A look on the terminal's own ground, without a link. */
export function withoutGround(look: Look): Look {
  return lookOf(partsOf(look).tone);
}

/** A look without its link. */
export function styleOf(look: Look): Look {
  return look % styles;
}

/** The path that a look's link leads to; empty without one. */
export function pathOf(look: Look): string {
  return paths[Math.floor(look / styles)]!;
}

/** The parameters of the escape code that turns a look on; empty for the terminal's own. */
export function sgrOf(look: Look, theme: Theme): string {
  const { tone, ground } = partsOf(look);
  return theme.sgr(tone, ground);
}

/** Ink's props are strings: a tone if it is one that a theme knows. `red` or `#fff` has no place in a themed window. */
export function toneNamed(name: string | undefined, otherwise: Tone): Tone {
  return name !== undefined && name in toneNumbers ? (name as Tone) : otherwise;
}

export function backgroundNamed(name: string | undefined, otherwise: Background): Background {
  return name !== undefined && name in groundNumbers ? (name as Background) : otherwise;
}

const toneNumbers = numbered(tones);
const groundNumbers = numbered(backgrounds);
export const plainLook = lookOf('plain');

function numbered<Word extends string>(words: readonly Word[]): Record<Word, number> {
  return Object.fromEntries(words.map((word, number) => [word, number])) as Record<Word, number>;
}
