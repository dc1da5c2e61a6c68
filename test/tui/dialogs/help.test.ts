import { describe, expect, it } from 'vitest';
import { keysOn } from '../../../src/tui/screens/key-map.js';
import { helpLines } from '../../../src/tui/dialogs/help.js';
import { initialUi, type UiState } from '../../../src/tui/state/ui-state.js';
import { lineWidth, plainText } from '../../../src/tui/surface/span.js';
import { play } from './play.js';

const textOf = (ui: UiState, typed = '', width = 76): string[] =>
  helpLines(ui, typed, width).map((line) => plainText(line).trimEnd());
const headings = (ui: UiState): string[] => textOf(ui).filter((line) => /^\w/.test(line));
const openAt = (pane: 'log' | 'charts' | 'config'): UiState => ({
  ...initialUi,
  screen: { kind: 'run', pane, offset: 0 },
});

describe('the help', () => {
  it.each<[string, UiState, string[]]>([
    ['the list', initialUi, ['runs', 'move', 'list', 'charts', 'log', 'window']],
    ['a log', openAt('log'), ['log', 'move', 'runs', 'list', 'charts', 'window']],
    ['charts', openAt('charts'), ['charts', 'move', 'runs', 'list', 'log', 'window']],
    ['a configuration', openAt('config'), ['runs', 'move', 'list', 'charts', 'log', 'window']],
  ])('goes on with what one can do on the screen that is open: %s', (_, ui, order) => {
    expect(headings(ui)).toEqual(['most used', 'symbols', ...order]);
  });

  it('has what matters on its first page, with the symbols of the rows', () => {
    const page = textOf(initialUi, '', 96).slice(0, 26);
    for (const key of ['Enter', 'k', 'r', '/', 'm', ':', '?', 'q'])
      expect(page.some((line) => line.startsWith(` ${key} `))).toBe(true);
    expect(page.join('\n')).toContain('• its curve is drawn');
  });

  it.each(['default', 'vim'] as const)('has every key of the screen once: %s', (keys) => {
    const words = textOf({ ...initialUi, keys }, '', 400);
    for (const { help } of keysOn('jobs', keys))
      expect(
        words.filter((line) => line.endsWith(` ${help}`)),
        help,
      ).toHaveLength(1);
  });

  it('breaks what is too long for a narrow screen, and cuts nothing', () => {
    const lines = helpLines(initialUi, '', 36);
    expect(Math.max(...lines.map(lineWidth))).toBeLessThanOrEqual(36);
    expect(textOf(initialUi, '', 36).join(' ')).not.toContain('…');
  });

  it('is searched by words, or by a key itself', () => {
    expect(textOf(initialUi, 'palette', 90)).toEqual([
      'window',
      ' :       command palette: any command, on the selection, the marks or a query',
    ]);
    expect(
      textOf(initialUi, 'k')
        .slice(1)
        .every((line) => line.startsWith(' k ')),
    ).toBe(true);
    expect(textOf(initialUi, 'error log')).toEqual(['log', ' !       jump to the first error in the log']);
    expect(textOf(initialUi, 'nothing like it')).toEqual([]);
  });

  it('takes letters as text, Esc clears them and then closes, ? and Enter close', () => {
    expect(play(0, ['?', '"log q']).ui.dialog).toMatchObject({ kind: 'help', typed: 'log q' });
    expect(play(0, ['?', '"log', 'escape']).ui.dialog).toEqual({ kind: 'help', typed: '', top: 0 });
    for (const key of ['escape', '?', 'enter']) expect(play(0, ['?', key]).ui.dialog).toEqual({ kind: 'none' });
  });

  it('scrolls no further than its end', () => {
    const end = play(0, ['?', 'end']).ui.dialog;
    expect(end).toMatchObject({ kind: 'help', top: helpLines(initialUi, '', 76).length - 5 });
    expect(play(0, ['?', 'end', 'down']).ui.dialog).toEqual(end);
  });
});
