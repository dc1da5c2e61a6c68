import { describe, expect, it } from 'vitest';
import { GraphicsFinder } from '../../../src/tui/terminal/capabilities.js';

const size = { width: 100, height: 30 };
const kittyYes = '\u001b_Gi=31;OK\u001b\\';
const kittyNo = '\u001b_Gi=31;ENOTSUPPORTED\u001b\\';
const cell = '\u001b[6;20;10t';
const all = '\u001b[4;605;1010t';
const registers = '\u001b[?1;0;1024S';
const ground = '\u001b]11;rgb:ffff/8080/0000\u001b\\';
const withSixels = '\u001b[?62;4;22c';
const without = '\u001b[?62;22c';

function found(
  choice: ConstructorParameters<typeof GraphicsFinder>[0],
  answers: readonly string[],
  environment: Record<string, string> = { TERM: 'xterm-256color' },
): ReturnType<GraphicsFinder['found']> {
  const finder = new GraphicsFinder(choice, environment);
  answers.forEach((answer) => finder.hear(answer, size));
  return finder.found();
}

describe('whether a terminal shows pictures', () => {
  it.each<{ of: string; answers: string[]; is: string | undefined }>([
    { of: 'says that it takes those of kitty', answers: [kittyYes, cell, without], is: 'kitty' },
    { of: 'takes both', answers: [kittyYes, cell, withSixels], is: 'kitty' },
    { of: 'has sixels', answers: [cell, registers, withSixels], is: 'sixel' },
    { of: 'refuses kitty and has sixels', answers: [kittyNo, cell, withSixels], is: 'sixel' },
    { of: 'has sixels, of an unknown size', answers: [withSixels], is: undefined },
    { of: 'answers nothing but what it is', answers: [without], is: undefined },
    { of: 'has said only how large its letters are', answers: [cell], is: undefined },
    { of: 'has not said all yet', answers: [kittyYes, cell], is: undefined },
    { of: 'answers nothing', answers: [], is: undefined },
  ])('is known of one that $of', ({ answers, is }) => {
    expect(found('auto', answers)?.protocol).toBe(is);
  });

  it('is asked by one picture, sizes, colours and what every terminal answers, in this order', () => {
    expect(new GraphicsFinder('auto', {}).questions).toMatch(
      /^\u001b_Gi=31[^\u001b]*\u001b\\\u001b\[16t\u001b\[14t\u001b\[\?1;1;0S\u001b\]11;\?\u001b\\\u001b\[c$/,
    );
    expect(new GraphicsFinder('sixel', {}).questions).not.toContain('\u001b_G');
  });

  it.each<[string, Record<string, string>]>([
    ['tmux', { TMUX: '/tmp/tmux-0/default,1,0' }],
    ['screen', { STY: '1.pts-0' }],
    ['zellij', { ZELLIJ: '0' }],
    ['tmux, over ssh', { TERM: 'tmux-256color' }],
  ])('is not asked inside of %s, unless sixels are wanted', (_, environment) => {
    for (const choice of ['auto', 'kitty', 'none'] as const) {
      expect(new GraphicsFinder(choice, environment).questions).toBe('');
      expect(found(choice, [kittyYes, cell, withSixels], environment)).toBeNull();
    }
    expect(found('sixel', [cell, without], environment)?.protocol).toBe('sixel');
  });

  it('is not asked by who wants none', () => {
    expect(new GraphicsFinder('none', {}).questions).toBe('');
    expect(found('none', [kittyYes, cell, withSixels])).toBeNull();
  });

  it('is taken on trust where one protocol is asked for', () => {
    expect(found('kitty', [without])).toMatchObject({ protocol: 'kitty', cell: { width: 10, height: 20 } });
    expect(found('sixel', [cell, without])?.protocol).toBe('sixel');
  });

  it('comes with the size of a character, its colours and the background', () => {
    expect(found('auto', [cell, registers, ground, withSixels])).toEqual({
      ...{ protocol: 'sixel', cell: { width: 10, height: 20 }, colours: 256, background: [255, 128, 0] },
    });
    expect(found('auto', [all, '\u001b[?1;2S', withSixels])).toEqual({
      ...{ protocol: 'sixel', cell: { width: 10, height: 20 }, colours: 16, background: null },
    });
  });

  it('knows the size of a character better than that of the screen, whichever comes first', () => {
    const larger = '\u001b[6;30;15t';
    expect(found('auto', [larger, all, withSixels])?.cell).toEqual({ width: 15, height: 30 });
    expect(found('auto', [all, larger, withSixels])?.cell).toEqual({ width: 15, height: 30 });
  });
});
