import { type Ground, type Span, type Tone } from './view/span.js';
import { toAscii } from './ascii.js';

/** How many colours the terminal is trusted with. `none`: only bold, dim and reverse. */
export type ColourDepth = 'none' | 16 | 256;

export type Capabilities = { readonly colours: ColourDepth; readonly ascii: boolean };

/** The one place that turns meanings into escape codes. */
export type Theme = {
  /** Parameters of the SGR sequence (`1;38;5;39`); empty for the terminal's own look. */
  readonly sgr: (tone: Tone, ground: Ground) => string;
  /** The text in characters this terminal can show; as many columns as before. */
  readonly glyphs: (text: string) => string;
};

/** Foregrounds: 256 colours, 16 colours, none. Mid-tones that can be read on black and on white. */
const foregrounds: Record<Tone, readonly [string, string, string]> = {
  plain: ['', '', ''],
  strong: ['1', '1', '1'],
  dim: ['38;5;245', '90', ''],
  faint: ['38;5;240', '90', '2'],
  title: ['1;38;5;75', '1;36', '1'],
  accent: ['38;5;75', '36', ''],
  good: ['38;5;71', '32', ''],
  bad: ['1;38;5;203', '1;31', '1'],
  warn: ['38;5;214', '33', ''],
  busy: ['38;5;39', '36', ''],
  wait: ['38;5;245', '90', ''],
  value: ['38;5;180', '33', ''],
  spark: ['38;5;66', '36', ''],
  key: ['1', '1', '1'],
  // Okabe and Ito's order: told apart with any colour vision.
  curve0: ['38;5;39', '36', ''],
  curve1: ['38;5;214', '33', ''],
  curve2: ['38;5;36', '32', ''],
  curve3: ['38;5;175', '35', ''],
  curve4: ['38;5;203', '31', ''],
  curve5: ['38;5;179', '93', ''],
  curve6: ['38;5;105', '34', ''],
  curve7: ['38;5;248', '37', ''],
};

const backgrounds: Record<Ground, readonly [string, string, string]> = {
  none: ['', '', ''],
  selected: ['48;5;237', '7', '7'],
  raised: ['48;5;235', '', ''],
  alarm: ['1;38;5;231;48;5;124', '1;37;41', '1;7'],
  // As matplotlib's viridis: it grows lighter all the way, so that any colour vision sees its order.
  heat0: ['38;5;255;48;5;53', '97;44', ''],
  heat1: ['38;5;255;48;5;60', '97;44', ''],
  heat2: ['38;5;255;48;5;24', '30;46', ''],
  heat3: ['38;5;255;48;5;30', '30;46', ''],
  heat4: ['38;5;16;48;5;35', '30;42', ''],
  heat5: ['38;5;16;48;5;113', '30;43', ''],
  heat6: ['38;5;16;48;5;220', '30;43', ''],
};

/** On a dark ground the terminal's own foreground may be black, and greys need lifting. */
const onDark: Partial<Record<Tone, string>> = {
  plain: '38;5;255',
  strong: '1;38;5;255',
  key: '1;38;5;255',
  dim: '38;5;250',
  wait: '38;5;250',
  faint: '38;5;245',
};

export function themeFor({ colours, ascii }: Capabilities): Theme {
  const column = colours === 256 ? 0 : colours === 16 ? 1 : 2;
  return {
    sgr: (tone, ground) => {
      // These bring the colour of their text along.
      if (ground === 'alarm' || ground.startsWith('heat')) return backgrounds[ground][column];
      if (ground === 'selected' && column > 0) return '7';
      const front =
        ground !== 'none' && column === 0 ? (onDark[tone] ?? foregrounds[tone][0]) : foregrounds[tone][column];
      return [front, backgrounds[ground][column]].filter((code) => code !== '').join(';');
    },
    glyphs: ascii ? toAscii : (text) => text,
  };
}

/** A line as text with escape codes, for anything that is not the painter (one Ink `<Text>`, a plain print). */
export function toAnsi(line: readonly Span[], theme: Theme): string {
  return line
    .map(({ text, tone, ground = 'none' }) => {
      const codes = theme.sgr(tone, ground);
      return codes === '' ? theme.glyphs(text) : `\u001b[${codes}m${theme.glyphs(text)}\u001b[0m`;
    })
    .join('');
}
