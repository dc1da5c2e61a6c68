import type { Theme } from '../terminal/theme.js';
import { type Background, backgrounds, type Tone, tones } from '../widgets/span.js';

/** A tone on a background as one number, so that cells are compared as numbers. */
export type Look = number;

export function lookOf(tone: Tone, ground: Background = 'none'): Look {
  return groundNumbers[ground] * tones.length + toneNumbers[tone];
}

/** The tone and the background that a look stands for. */
export function partsOf(look: Look): { readonly tone: Tone; readonly ground: Background } {
  return { tone: tones[look % tones.length]!, ground: backgrounds[Math.floor(look / tones.length)]! };
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
