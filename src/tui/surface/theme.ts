import { toAscii } from '../../text/ascii.js';
import type { ThemeName } from '../state/preferences-port.js';
import type { Capabilities, ColourDepth, TerminalGround } from '../terminal/capabilities.js';
import { type Background, bandNames, type Span, type Tone } from './span.js';

/** Parameters of SGR sequences. An empty one means the terminal's own look. */
type Palette = {
  readonly fronts: Readonly<Record<Tone, string>>;
  /** Replacements on a background of the window's own, on which the terminal's foreground may be unreadable. */
  readonly onGround: Readonly<Partial<Record<Tone, string>>>;
  readonly grounds: Readonly<Record<Background, string>>;
};

type Fronts = Readonly<Record<Tone, string>>;

/** Colours like matplotlib's viridis: brightness always increases, so the order is visible with any colour vision. */
const heat = {
  heat0: '38;5;255;48;5;53',
  heat1: '38;5;231;48;5;55',
  heat2: '38;5;231;48;5;25',
  heat3: '38;5;16;48;5;30',
  heat4: '38;5;16;48;5;35',
  heat5: '38;5;16;48;5;113',
  heat6: '38;5;16;48;5;220',
};
const alarm = '1;38;5;231;48;5;124';

type Bands = Readonly<Record<(typeof bandNames)[number], string>>;

function bands(code: (index: number) => string): Bands {
  return Object.fromEntries(bandNames.map((name, index) => [name, code(index)])) as Bands;
}

/** Looks of bands. A band is filled with a glyph in its own colour; with a matching background the area is uniform. */
function bandLooks(shades: readonly number[]): { readonly fronts: Bands; readonly grounds: Bands } {
  return { fronts: bands((index) => `38;5;${shades[index]!}`), grounds: bands((index) => `48;5;${shades[index]!}`) };
}

/** Close to the background, so that curves stand out against bands, and in the hue of the curve if there is one that dark. */
const darkBands = bandLooks([17, 237, 236, 53, 52, 238, 54, 238, 235]);
const lightBands = bandLooks([153, 223, 194, 225, 224, 230, 189, 253, 254]);
/** Without shades of a hue, only the glyph fills the band. */
const plainBands = { fronts: bands((index) => (index === 8 ? '90' : '')), grounds: bands(() => '') };

/**
 * For black or nearly black backgrounds. Curves in the order of Okabe and Ito, which can be distinguished with any colour vision.
 */
const darkFronts: Fronts = {
  plain: '',
  strong: '1',
  dim: '38;5;248',
  faint: '38;5;243',
  title: '1;38;5;75',
  accent: '38;5;75',
  good: '38;5;71',
  bad: '1;38;5;203',
  warn: '38;5;214',
  busy: '38;5;39',
  wait: '38;5;247',
  value: '38;5;180',
  spark: '38;5;66',
  key: '1',
  curve0: '38;5;39',
  curve1: '38;5;214',
  curve2: '38;5;36',
  curve3: '38;5;175',
  curve4: '38;5;203',
  curve5: '38;5;179',
  curve6: '38;5;105',
  curve7: '38;5;248',
  ...darkBands.fronts,
};
const dark: Palette = {
  fronts: darkFronts,
  onGround: {
    ...{ plain: '38;5;255', strong: '1;38;5;255', key: '1;38;5;255', dim: '38;5;250', wait: '38;5;250' },
    ...{ faint: '38;5;248', good: '38;5;114', bad: '1;38;5;210', spark: '38;5;73', curve6: '38;5;141' },
  },
  grounds: { none: '', selected: '48;5;237', raised: '48;5;235', alarm, ...heat, ...darkBands.grounds },
};

/** For white or nearly white backgrounds. */
const lightFronts: Fronts = {
  plain: '',
  strong: '1',
  dim: '38;5;239',
  faint: '38;5;242',
  title: '1;38;5;25',
  accent: '38;5;25',
  good: '38;5;28',
  bad: '1;38;5;160',
  warn: '38;5;94',
  busy: '38;5;26',
  wait: '38;5;240',
  value: '38;5;58',
  spark: '38;5;66',
  key: '1',
  curve0: '38;5;26',
  curve1: '38;5;130',
  curve2: '38;5;29',
  curve3: '38;5;127',
  curve4: '38;5;160',
  curve5: '38;5;94',
  curve6: '38;5;61',
  curve7: '38;5;240',
  ...lightBands.fronts,
};
const light: Palette = {
  fronts: lightFronts,
  onGround: {
    ...{ plain: '38;5;16', strong: '1;38;5;16', key: '1;38;5;16', dim: '38;5;237', wait: '38;5;237' },
    ...{ faint: '38;5;239', title: '1;38;5;24', accent: '38;5;24', busy: '38;5;24', good: '38;5;22' },
    ...{ bad: '1;38;5;124', warn: '38;5;58', spark: '38;5;24' },
  },
  grounds: { none: '', selected: '48;5;253', raised: '48;5;255', alarm, ...heat, ...lightBands.grounds },
};

/** Uses Okabe and Ito's bluish green for good and vermilion for bad, which can be distinguished with any colour vision. */
const colourBlindDark: Palette = {
  ...dark,
  fronts: {
    ...darkFronts,
    ...{ title: '1;38;5;74', accent: '38;5;74', good: '38;5;36', bad: '1;38;5;208', warn: '38;5;221', busy: '38;5;74' },
    ...{ value: '38;5;252', curve0: '38;5;74', curve4: '38;5;166', curve5: '38;5;227', curve6: '38;5;33' },
  },
  onGround: { ...dark.onGround, good: '38;5;43', bad: '1;38;5;208', curve4: '38;5;208', curve6: '38;5;75' },
};
const colourBlindLight: Palette = {
  ...light,
  fronts: {
    ...lightFronts,
    ...{ good: '38;5;23', bad: '1;38;5;130', warn: '38;5;58', busy: '38;5;25', value: '38;5;236' },
    ...{ curve0: '38;5;25', curve3: '38;5;162', curve4: '38;5;166', curve5: '38;5;58', curve6: '38;5;18' },
  },
  onGround: { ...light.onGround, good: '38;5;23', bad: '1;38;5;88', curve4: '38;5;130' },
};

/** For the sixteen colours, whose shades each terminal chooses itself; the selected row is in reverse. */
const heat16 = {
  ...{ heat0: '97;44', heat1: '97;44', heat2: '30;46', heat3: '30;46', heat4: '30;42', heat5: '30;43', heat6: '30;43' },
};
const dark16: Palette = {
  fronts: {
    ...{ plain: '', strong: '1', dim: '90', faint: '90', title: '1;36', accent: '36', good: '32', bad: '1;31' },
    ...{ warn: '33', busy: '36', wait: '90', value: '33', spark: '36', key: '1' },
    ...{
      curve0: '36',
      curve1: '33',
      curve2: '32',
      curve3: '35',
      curve4: '31',
      curve5: '93',
      curve6: '34',
      curve7: '37',
    },
    ...plainBands.fronts,
    ...{ band0: '36', band1: '33', band2: '32', band3: '35', band4: '31', band5: '93', band6: '34', band7: '37' },
  },
  onGround: {},
  grounds: { none: '', selected: '7', raised: '', alarm: '1;37;41', ...heat16, ...plainBands.grounds },
};
/** Avoids yellow and cyan, which are unreadable on white. */
const light16: Palette = {
  ...dark16,
  fronts: {
    ...dark16.fronts,
    ...{ title: '1;34', accent: '34', warn: '35', busy: '34', value: '35', spark: '34' },
    ...{ curve0: '34', curve1: '31', curve5: '90', curve6: '94', curve7: '30' },
    ...{ band0: '34', band1: '31', band5: '90', band6: '94', band7: '30' },
  },
};
/** Avoids distinguishing green from red. */
const colourBlind16: Palette = {
  ...dark16,
  fronts: { ...dark16.fronts, good: '36', bad: '1;33', busy: '94', warn: '35' },
};
const colourBlindLight16: Palette = {
  ...light16,
  fronts: { ...light16.fronts, good: '34', bad: '1;31', busy: '36', warn: '35' },
};

/** Uses only bold, dim and reverse. */
const mono: Palette = {
  fronts: {
    ...{ plain: '', strong: '1', dim: '', faint: '2', title: '1', accent: '', good: '', bad: '1', warn: '', busy: '' },
    ...{ wait: '', value: '', spark: '', key: '1', curve0: '', curve1: '', curve2: '', curve3: '', curve4: '' },
    ...{ curve5: '', curve6: '', curve7: '' },
    ...bands(() => '2'),
  },
  onGround: {},
  grounds: {
    ...{ none: '', selected: '7', raised: '', alarm: '1;7' },
    ...{ heat0: '', heat1: '', heat2: '', heat3: '', heat4: '', heat5: '', heat6: '' },
    ...plainBands.grounds,
  },
};

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
