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

/** The one place that turns meanings into escape codes. */
export type Theme = {
  /** Whether curves have colours to be told apart by. */
  readonly hasColours: boolean;
  /** Parameters of the SGR sequence (`1;38;5;39`); empty for the terminal's own look. */
  readonly sgr: (tone: Tone, ground: Background) => string;
  /** The text in characters this terminal can show; as many columns as before. `tone`: of a curve, it is told by its mark. */
  readonly glyphs: (text: string, tone?: Tone) => string;
  /** The codes after which text leads to a path of this machine (OSC 8), or to nothing for ''; empty without links. */
  readonly link: (path: string) => string;
};

/** `theme` null: what suits the terminal's ground, as far as that is known. */
export function themeFor({ colours, ascii, ground, linkHost }: Capabilities, theme: ThemeName | null = null): Theme {
  const palette = paletteFor(colours, theme ?? ground ?? 'dark', ground ?? 'dark');
  const { fronts, onGround, grounds } = palette;
  return {
    hasColours: palette !== mono,
    sgr: (tone, lies) => {
      // These bring the colour of their text along, and what is turned round must not have a colour of its own.
      if (lies === 'alarm' || lies.startsWith('heat') || grounds[lies] === '7') return grounds[lies];
      const front = lies === 'none' ? fronts[tone] : (onGround[tone] ?? fronts[tone]);
      return [front, grounds[lies]].filter((code) => code !== '').join(';');
    },
    glyphs: ascii ? asciiOf : (text) => text,
    link: (path) => (linkHost === undefined ? '' : linkCodes(path, linkHost)),
  };
}

/** Control characters are escaped with all else that a URL may not hold. */
function linkCodes(path: string, host: string): string {
  const url = path === '' ? '' : `file://${host}${path.split('/').map(encodeURIComponent).join('/')}`;
  return `\u001b]8;;${url}\u001b\\`;
}

/** A curve, the line of its legend and the dot of its row are drawn with its mark: colours alone may not be seen, nor dashes drawn. */
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

/** A line as text with escape codes, for anything that is not the painter (one Ink `<Text>`, a plain print). */
export function toAnsi(line: readonly Span[], theme: Theme): string {
  return line
    .map(({ text, tone, ground = 'none' }) => {
      const codes = theme.sgr(tone, ground);
      const glyphs = theme.glyphs(text, tone);
      return codes === '' ? glyphs : `\u001b[${codes}m${glyphs}\u001b[0m`;
    })
    .join('');
}
