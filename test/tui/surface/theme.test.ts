import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toAscii } from '../../../src/text/ascii.js';
import { capabilitiesOf } from '../../../src/tui/terminal/capabilities.js';
import { themeNames } from '../../../src/tui/state/preferences-port.js';
import { themeFor, toAnsi } from '../../../src/tui/surface/theme.js';
import { textWidth } from '../../../src/text/display-width.js';
import { backgrounds, onBackground, span, tones } from '../../../src/tui/surface/span.js';
import { stateLook } from '../../../src/tui/model/state-look.js';
import { aWindow, frameOf } from '../frames.js';
import { knownSummary } from '../known-summary.js';
import { memorySweep } from '../simulated-fleet.js';

describe('what a terminal is trusted with', () => {
  it.each<[string, Record<string, string>, object]>([
    ['a modern one', { TERM: 'xterm-256color', LANG: 'en_US.UTF-8' }, { colours: 256, ascii: false }],
    ['tmux', { TERM: 'tmux-256color', LC_ALL: 'C.utf8' }, { colours: 256, ascii: false }],
    ['an old one', { TERM: 'xterm', LANG: 'C.UTF-8' }, { colours: 16, ascii: false }],
    ['one that tells by COLORTERM', { TERM: 'xterm', COLORTERM: 'truecolor' }, { colours: 256, ascii: false }],
    ['the Linux console', { TERM: 'linux', LANG: 'en_US.UTF-8' }, { colours: 16, ascii: true }],
    ['NO_COLOR', { TERM: 'xterm-256color', NO_COLOR: '1' }, { colours: 'none', ascii: false }],
    ['an empty NO_COLOR', { TERM: 'xterm-256color', NO_COLOR: '' }, { colours: 256, ascii: false }],
    ['another character set', { TERM: 'xterm-256color', LANG: 'de_DE.ISO-8859-1' }, { colours: 256, ascii: true }],
    ['LC_ALL before LANG', { TERM: 'xterm-256color', LC_ALL: 'C', LANG: 'C.UTF-8' }, { colours: 256, ascii: true }],
    ['black on white', { TERM: 'xterm', COLORFGBG: '0;15' }, { colours: 16, ascii: false, ground: 'light' }],
    ['grey on black', { TERM: 'xterm', COLORFGBG: '7;default;0' }, { colours: 16, ascii: false, ground: 'dark' }],
    ['a ground that is not told', { TERM: 'xterm', COLORFGBG: '7;default' }, { colours: 16, ascii: false }],
    ['no locale at all', { TERM: 'xterm-256color' }, { colours: 256, ascii: false }],
  ])('%s', (_, environment, expected) => {
    expect(capabilitiesOf(environment, false)).toEqual(expected);
  });

  it('draws ASCII on demand', () => {
    expect(capabilitiesOf({ TERM: 'xterm-256color', LANG: 'C.UTF-8' }, true).ascii).toBe(true);
  });
});

describe('the theme', () => {
  it('uses no colour where none is wanted, only bold, dim and reverse', () => {
    const { sgr } = themeFor({ colours: 'none', ascii: false });
    const codes = tones.flatMap((tone) => backgrounds.map((ground) => sgr(tone, ground)));
    expect(codes.flatMap((code) => code.split(';')).filter((code) => !['', '1', '2', '7'].includes(code))).toEqual([]);
    expect(sgr('plain', 'selected')).toBe('7');
  });

  it('never asks for more than 256 colours', () => {
    const { sgr } = themeFor({ colours: 256, ascii: false });
    for (const tone of tones) for (const ground of backgrounds) expect(sgr(tone, ground)).not.toMatch(/[34]8;2;/);
  });

  it('writes a line for programs that print', () => {
    const theme = themeFor({ colours: 16, ascii: false });
    expect(toAnsi([span('a', 'good'), span('b')], theme)).toBe('\u001b[32ma\u001b[0mb');
    expect(toAnsi(onBackground([span('a', 'good')], 'selected'), theme)).toBe('\u001b[7ma\u001b[0m');
  });
});

describe('the palettes', () => {
  const places = [
    { name: 'dark', theme: 'dark', ground: 'dark', behind: 16 },
    { name: 'light', theme: 'light', ground: 'light', behind: 231 },
    { name: 'colour-blind on a dark terminal', theme: 'colour-blind', ground: 'dark', behind: 16 },
    { name: 'colour-blind on a light terminal', theme: 'colour-blind', ground: 'light', behind: 231 },
  ] as const;

  it.each(places)('let every word be read, and every curve be seen: $name', ({ theme, ground, behind }) => {
    const { sgr } = themeFor({ colours: 256, ascii: false, ground }, theme);
    // A band is an area behind curves: no word lies on it, and nobody reads it.
    const poor = tones.flatMap((tone) =>
      backgrounds.map((lies) => {
        if (tone.startsWith('band') || (lies.startsWith('band') && !tone.startsWith('curve'))) return null;
        const codes = sgr(tone, lies);
        const front = colourIn(codes, 38) ?? (behind === 16 ? 255 : 16);
        const ratio = contrast(front, colourIn(codes, 48) ?? behind);
        const least = /^(curve|spark)/.test(tone) ? 3 : 4.5;
        return ratio < least ? `${tone} on ${lies}: ${ratio.toFixed(2)}` : null;
      }),
    );
    expect(poor.filter((each) => each !== null)).toEqual([]);
  });

  it('have eight curves of different colours, and four states nobody mixes up', () => {
    for (const { theme, ground } of places) {
      const { sgr } = themeFor({ colours: 256, ascii: false, ground }, theme);
      const curves = tones.filter((tone) => tone.startsWith('curve')).map((tone) => sgr(tone, 'none'));
      expect(new Set(curves).size).toBe(8);
      expect(new Set((['good', 'bad', 'warn', 'busy'] as const).map((tone) => sgr(tone, 'none'))).size).toBe(4);
    }
  });

  it('choose by what is preferred, else by the ground of the terminal', () => {
    const code = (ground: 'dark' | 'light' | undefined, theme: Parameters<typeof themeFor>[1]) =>
      themeFor({ colours: 256, ascii: false, ...(ground === undefined ? {} : { ground }) }, theme).sgr('busy', 'none');
    expect(code('light', null)).toBe(code(undefined, 'light'));
    expect(code(undefined, null)).toBe(code('light', 'dark'));
    expect(code('light', 'colour-blind')).not.toBe(code('dark', 'colour-blind'));
    expect(code('dark', 'mono')).toBe('');
  });

  it('use the sixteen colours alone where there are no more', () => {
    for (const theme of themeNames) {
      for (const ground of ['dark', 'light'] as const) {
        const { sgr } = themeFor({ colours: 16, ascii: false, ground }, theme);
        for (const tone of tones) for (const lies of backgrounds) expect(sgr(tone, lies)).not.toMatch(/[34]8;/);
      }
    }
  });
});

/** The number after `38;5` (text) or `48;5` (ground). */
function colourIn(codes: string, layer: 38 | 48): number | null {
  const [, number] = new RegExp(`(?:^|;)${layer};5;(\\d+)`).exec(codes) ?? [];
  return number === undefined ? null : Number(number);
}

/** WCAG 2.1, success criterion 1.4.3: from 1 (the same) to 21 (black and white). */
function contrast(a: number, b: number): number {
  const [darker, lighter] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

/** Of one of the colours 16–255: a cube of 6 × 6 × 6, and a ramp of greys. */
function luminance(colour: number): number {
  const levels = [0, 95, 135, 175, 215, 255];
  const cube = colour - 16;
  const rgb =
    colour >= 232
      ? Array<number>(3).fill(8 + 10 * (colour - 232))
      : [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => levels[level]!);
  const [red, green, blue] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe('ASCII', () => {
  it('has a sign of its own for every state', () => {
    const signs = Object.values(stateLook).map(({ glyph }) => toAscii(glyph));
    expect(new Set(signs).size).toBe(signs.length);
  });

  it('knows every character the screens draw themselves, column for column', () => {
    const store = aWindow(memorySweep(), { summary: knownSummary(() => ['x']) });
    store.resize(160, 50);
    const frames = ['2', '?', 'escape', 'm', 'escape', 'enter'].flatMap((key) => {
      store.press(key);
      return frameOf(store);
    });
    store.close();
    for (const { text } of frames.flat()) {
      const plain = toAscii(text);
      expect(textWidth(plain)).toBe(textWidth(text));
      expect(plain).toMatch(/^[ -~]*$/);
      // A question mark would be a character nobody thought of: the screens have one only in the help.
      if (!text.includes('?')) expect(plain).not.toContain('?');
    }
  });

  it('has a stand-in for every character in the source of the window', () => {
    const sources = readdirSync('src/tui', { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.tsx?$/.test(path),
    );
    const unknown = sources.flatMap((path) => {
      const code = readFileSync(`src/tui/${path}`, 'utf8').replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
      return [...(code.match(/[^\u0000-\u007f]/gu) ?? [])].filter((glyph) => toAscii(glyph).includes('?'));
    });
    expect(new Set(unknown)).toEqual(new Set());
  });

  it('keeps the height of a curve', () => {
    expect([...'⠁⠂⠄⡀⣿⠀'].map(toAscii)).toEqual(["'", '-', '-', '_', '|', ' ']);
  });
});
