import { toAscii } from '../../text/ascii.js';
import {
  colourBlind16,
  colourBlindDark,
  colourBlindLight,
  colourBlindLight16,
  dark,
  dark16,
  light,
  light16,
  mono,
  type Palette,
} from './palettes.js';
import type { Capabilities, ColourDepth, TerminalGround } from '../terminal/capabilities.js';
import type { ThemeName } from '../state/preferences-port.js';
import type { Background, Span, Tone } from './span.js';

/** Translates meanings into escape codes; nothing else does. */
export type Theme = {
  /** Whether curves can be distinguished by colour. */
  readonly hasColours: boolean;
  /** Parameters of the SGR sequence (`1;38;5;39`); empty for the terminal's own look. */
  readonly sgr: (tone: Tone, ground: Background) => string;
  /** The text in characters that the terminal can show, with the same number of columns. `tone`: for a curve, selects its mark. */
  readonly glyphs: (text: string, tone?: Tone) => string;
  /** The codes that start a link to a path on this machine (OSC 8), or end it for ''; empty if links are not supported. */
  readonly link: (path: string) => string;
};

/** `theme` null: one that suits the terminal's background, if that is known. */
export function themeFor({ colours, ascii, ground, linkHost }: Capabilities, theme: ThemeName | null = null): Theme {
  const palette = paletteFor(colours, theme ?? ground ?? 'dark', ground ?? 'dark');
  const { fronts, onGround, grounds } = palette;
  return {
    hasColours: palette !== mono,
    sgr: (tone, lies) => {
      // These include the colour of their text, and reversed text must not have a colour of its own.
      if (lies === 'alarm' || lies.startsWith('heat') || grounds[lies] === '7') return grounds[lies];
      const front = lies === 'none' ? fronts[tone] : (onGround[tone] ?? fronts[tone]);
      return [front, grounds[lies]].filter((code) => code !== '').join(';');
    },
    glyphs: ascii ? asciiOf : (text) => text,
    link: (path) => (linkHost === undefined ? '' : linkCodes(path, linkHost)),
  };
}

/** Control characters are escaped like anything else that is not allowed in a URL. */
function linkCodes(path: string, host: string): string {
  const url = path === '' ? '' : `file://${host}${path.split('/').map(encodeURIComponent).join('/')}`;
  return `\u001b]8;;${url}\u001b\\`;
}

/**
 * The text in ASCII. Curves, their lines in the legend and the dots of their rows use a mark, as colours or dashes may not be
 * visible.
 */
function asciiOf(text: string, tone: Tone = 'plain'): string {
  const mark = marks[tone];
  return toAscii(mark === undefined ? text : text.replace(/[\u2801-\u28ff━•]/g, mark));
}

const marks: Partial<Record<Tone, string>> = Object.fromEntries(
  ['*', 'o', 'x', '#', '@', '%', '&', '$'].map((mark, curve) => [`curve${curve}`, mark]),
);

type Shades = { readonly rich: Palette; readonly sixteen: Palette };

const palettes: Record<Exclude<ThemeName, 'mono'>, Record<TerminalGround, Shades>> = {
  dark: { dark: { rich: dark, sixteen: dark16 }, light: { rich: dark, sixteen: dark16 } },
  light: { dark: { rich: light, sixteen: light16 }, light: { rich: light, sixteen: light16 } },
  'colour-blind': {
    dark: { rich: colourBlindDark, sixteen: colourBlind16 },
    light: { rich: colourBlindLight, sixteen: colourBlindLight16 },
  },
};

function paletteFor(colours: ColourDepth, theme: ThemeName, ground: TerminalGround): Palette {
  if (colours === 'none' || theme === 'mono') return mono;
  const { rich, sixteen } = palettes[theme][ground];
  return colours === 256 ? rich : sixteen;
}

/** A line as text with escape codes, for use outside the painter (an Ink `<Text>`, plain printing). */
export function toAnsi(line: readonly Span[], theme: Theme): string {
  return line
    .map(({ text, tone, ground = 'none' }) => {
      const codes = theme.sgr(tone, ground);
      const glyphs = theme.glyphs(text, tone);
      return codes === '' ? glyphs : `\u001b[${codes}m${glyphs}\u001b[0m`;
    })
    .join('');
}
