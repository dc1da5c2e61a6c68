import { describe, expect, it } from 'vitest';
import { toAscii } from '../../src/tui/ascii.js';
import { capabilitiesOf } from '../../src/tui/capabilities.js';
import { themeFor, toAnsi } from '../../src/tui/theme.js';
import { textWidth } from '../../src/tui/view/display-width.js';
import { grounds, onGround, span, tones } from '../../src/tui/view/span.js';
import { stateLook } from '../../src/tui/view/state-look.js';
import { aController } from './frames.js';
import { memorySweep } from './simulated-fleet.js';

describe('what a terminal is trusted with', () => {
  it.each<[string, Record<string, string>, { colours: unknown; ascii: boolean }]>([
    ['a modern one', { TERM: 'xterm-256color', LANG: 'en_US.UTF-8' }, { colours: 256, ascii: false }],
    ['tmux', { TERM: 'tmux-256color', LC_ALL: 'C.utf8' }, { colours: 256, ascii: false }],
    ['an old one', { TERM: 'xterm', LANG: 'C.UTF-8' }, { colours: 16, ascii: false }],
    ['one that tells by COLORTERM', { TERM: 'xterm', COLORTERM: 'truecolor' }, { colours: 256, ascii: false }],
    ['the Linux console', { TERM: 'linux', LANG: 'en_US.UTF-8' }, { colours: 16, ascii: true }],
    ['NO_COLOR', { TERM: 'xterm-256color', NO_COLOR: '1' }, { colours: 'none', ascii: false }],
    ['an empty NO_COLOR', { TERM: 'xterm-256color', NO_COLOR: '' }, { colours: 256, ascii: false }],
    ['another character set', { TERM: 'xterm-256color', LANG: 'de_DE.ISO-8859-1' }, { colours: 256, ascii: true }],
    ['LC_ALL before LANG', { TERM: 'xterm-256color', LC_ALL: 'C', LANG: 'C.UTF-8' }, { colours: 256, ascii: true }],
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
    const codes = tones.flatMap((tone) => grounds.map((ground) => sgr(tone, ground)));
    expect(codes.flatMap((code) => code.split(';')).filter((code) => !['', '1', '2', '7'].includes(code))).toEqual([]);
    expect(sgr('plain', 'selected')).toBe('7');
  });

  it('never asks for more than 256 colours', () => {
    const { sgr } = themeFor({ colours: 256, ascii: false });
    for (const tone of tones) for (const ground of grounds) expect(sgr(tone, ground)).not.toMatch(/[34]8;2;/);
  });

  it('writes a line for programs that print', () => {
    const theme = themeFor({ colours: 16, ascii: false });
    expect(toAnsi([span('a', 'good'), span('b')], theme)).toBe('\u001b[32ma\u001b[0mb');
    expect(toAnsi(onGround([span('a', 'good')], 'selected'), theme)).toBe('\u001b[7ma\u001b[0m');
  });
});

describe('ASCII', () => {
  it('has a sign of its own for every state', () => {
    const signs = Object.values(stateLook).map(({ glyph }) => toAscii(glyph));
    expect(new Set(signs).size).toBe(signs.length);
  });

  it('knows every character the screens draw themselves, column for column', () => {
    const controller = aController(memorySweep(), { summary: () => ['x'] });
    controller.resize(160, 50);
    const frames = ['2', '?', 'escape', 'm', 'escape', 'enter'].flatMap((key) => {
      controller.press(key);
      return controller.frame();
    });
    controller.close();
    for (const { text } of frames.flat()) {
      const plain = toAscii(text);
      expect(textWidth(plain)).toBe(textWidth(text));
      expect(plain).toMatch(/^[ -~]*$/);
      // A question mark would be a character nobody thought of: the screens have one only in the help.
      if (!text.includes('?')) expect(plain).not.toContain('?');
    }
  });

  it('keeps the height of a curve', () => {
    expect([...'⠁⠂⠄⡀⣿⠀'].map(toAscii)).toEqual(["'", '-', '-', '_', '|', ' ']);
  });
});
