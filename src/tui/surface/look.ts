import type { Theme } from './theme.js';
import { type Background, backgrounds, type Tone, tones } from './span.js';

/** A tone, a background and a link as one number, so that cells can be compared as numbers. */
export type Look = number;

/** Number of looks per link. */
const styles = tones.length * backgrounds.length;
/** The paths of links by number; 0 means no link. There are as many as links to runs have been shown. */
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

/** The tone and the background of a look. */
export function partsOf(look: Look): { readonly tone: Tone; readonly ground: Background } {
  const style = styleOf(look);
  return { tone: tones[style % tones.length]!, ground: backgrounds[Math.floor(style / tones.length)]! };
}

/** The look on the terminal's own background, without a link. */
export function withoutGround(look: Look): Look {
  return lookOf(partsOf(look).tone);
}

/** A look without its link. */
export function styleOf(look: Look): Look {
  return look % styles;
}

/** The path of a look's link; empty if it has none. */
export function pathOf(look: Look): string {
  return paths[Math.floor(look / styles)]!;
}

/** Parameters of the escape code for a look; empty for the terminal's own. */
export function sgrOf(look: Look, theme: Theme): string {
  const { tone, ground } = partsOf(look);
  return theme.sgr(tone, ground);
}

/**
 * The tone with this name, since Ink's properties are strings; otherwise `otherwise`. Colours such as `red` or `#fff` are not
 * allowed in a themed window.
 */
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
