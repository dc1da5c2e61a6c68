import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Draft } from '../../../src/tui/state/editor-port.js';
import { lineOf } from '../../../src/tui/state/line-editor.js';
import { paletteView } from '../../../src/tui/dialogs/palette.js';
import { initialUi } from '../../../src/tui/state/ui-state.js';
import { draftBox, offered } from '../../../src/tui/dialogs/dialogs.js';
import { paletteBox } from '../../../src/tui/dialogs/palette-box.js';
import { type Line, lineWidth, plainText } from '../../../src/tui/widgets/span.js';
import { aSituation } from '../a-situation.js';

const textOf = (lines: readonly Line[]): string[] => lines.map((line) => plainText(line).trimEnd());

function palette(typed: string, index = 0, room = { width: 80, rows: 14 }, isRefused = false) {
  const line = lineOf(typed);
  const dialog = { kind: 'palette' as const, line, index, isRefused };
  return paletteBox(dialog, paletteView(line, index, initialUi, aSituation()), initialUi, room);
}

describe('the palette', () => {
  it('shows commands with what they take, what they do and their key', () => {
    expect(`\n${textOf(palette('ki').lines).join('\n')}\n`).toMatchInlineSnapshot(`
      "
      : ki▏
        kill 1 run: A_1

      ────────────────────────────────────────────────────────────────────────────
       kill [runs]        stop runs: SIGTERM first, SIGKILL after the gra… k
       kill-group         kill the group of the selection (press twice)    K






      "
    `);
  });

  it('keeps its height and width while one types', () => {
    const typed = ['', 'k', 'kill', 'kill ', 'kill status:', 'nothing is called like this', 'theme '];
    const boxes = typed.map((text) => palette(text));
    expect(new Set(boxes.map(({ lines }) => lines.length)).size).toBe(1);
    boxes.forEach(({ lines }) => expect(Math.max(...lines.map(lineWidth))).toBeLessThanOrEqual(76));
  });

  it('keeps the chosen row in sight, and counts those below', () => {
    const all = palette('').below + 8;
    for (const index of [0, 5, 20]) {
      const { lines, below } = palette('', index);
      expect(lines.filter((line) => line.some(({ ground }) => ground === 'selected')).length).toBe(1);
      expect(below).toBeLessThanOrEqual(all);
    }
    expect(palette('', 1000).below).toBe(0);
  });

  it('says when no command is called so, and when Enter was of no use', () => {
    expect(textOf(palette('xyzzyx').lines)).toContain('  No such command.');
    const toneOfSaid = (isRefused: boolean) => palette('theme nothing', -1, undefined, isRefused).lines[1]![0]!.tone;
    expect([toneOfSaid(false), toneOfSaid(true)]).toEqual(['warn', 'bad']);
  });
});

describe('what a prompt can go on with', () => {
  const size = { width: 40, height: 10 };
  const offer = (candidates: string[], chosen: number | null = null) => ({ from: 0, candidates, chosen });

  it('stands right above the prompt, at the word it belongs to', () => {
    const list = offered(offer(['status', 'state'], 1), size, { column: 5, below: 2 })!;
    expect({ left: list.left, top: list.top }).toEqual({ left: 4, top: 6 });
    expect(textOf(list.lines)).toEqual([' status', ' state']);
  });

  it('moves to the left where it would leave the screen, and counts what it has no room for', () => {
    const many = Array.from({ length: 30 }, (_, at) => `candidate ${at}`);
    const list = offered(offer(many, 29), size, { column: 39, below: 1 })!;
    expect(textOf(list.lines).at(-1)).toMatch(/candidate 29 \+22$/);
    expect(list.lines).toHaveLength(8);
    expect(list.left + list.width).toBe(40);
  });

  it('stays on the screen, whatever the words are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 90 }), { maxLength: 20 }),
        fc.nat(60),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(19),
        (candidates, column, below, chosen) => {
          const at = candidates.length === 0 ? null : chosen % candidates.length;
          const list = offered(offer(candidates, at), size, { column, below });
          if (list === null) return;
          expect(list.lines.map(lineWidth)).toEqual(list.lines.map(() => list.width));
          expect(list.left >= 0 && list.left + list.width <= 40 && list.top >= 0).toBe(true);
          expect(list.top + list.lines.length).toBe(10 - below);
        },
      ),
    );
  });
});

describe('a draft', () => {
  const draft: Draft = {
    title: 'extend abcd',
    path: '/home/ada/drafts/abcd.yaml',
    verdict: { kind: 'ready', summary: '3 new runs', lines: ['+ E_1', '+ E_2', '+ E_3', '= 48 that are there'] },
  };
  const refused: Draft = {
    ...draft,
    verdict: { kind: 'refused', lines: ['nam is no key of a sweep file.', '3 | nam: abcd', '  | ^', '→ Write name.'] },
  };

  it('that is ready says what it comes to, and what the keys do', () => {
    const { title, lines, below } = draftBox(draft, 0, { width: 60, rows: 20 });
    expect({ title, below, text: textOf(lines) }).toEqual({
      title: 'extend abcd',
      below: 0,
      text: [
        '3 new runs',
        '',
        '+ E_1',
        '+ E_2',
        '+ E_3',
        '= 48 that are there',
        '',
        'Enter submit   e edit again   Esc cancel',
        '/home/ada/drafts/abcd.yaml',
      ],
    });
  });

  it('that is refused shows the place with its mark, and no way to submit it', () => {
    const text = textOf(draftBox(refused, 0, { width: 60, rows: 20 }).lines);
    expect(text.slice(1, 4)).toEqual(['3 | nam: abcd', '  | ^', '→ Write name.']);
    expect(text.join('\n')).not.toContain('submit');
  });

  it('keeps its keys in sight where it is long, and scrolls no further than its end', () => {
    const lines = Array.from({ length: 50 }, (_, at) => `+ E_${at}`);
    const long: Draft = { ...draft, verdict: { kind: 'ready', summary: '50 new runs', lines } };
    const first = draftBox(long, 0, { width: 60, rows: 12 });
    const last = draftBox(long, 999, { width: 60, rows: 12 });
    expect([first.lines.length, first.below, last.below]).toEqual([12, 43, 0]);
    expect(textOf(last.lines)).toContain('+ E_49');
    expect(textOf(first.lines)).toContain('Enter submit   e edit again   Esc cancel');
  });
});
