import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowStore } from '../../../src/tui/app/window-store.js';
import type { Draft } from '../../../src/tui/state/port.js';
import { aWindow, frameOf, screenText } from '../frames.js';
import { knownSummary } from '../known-summary.js';
import { memorySweep } from '../simulated-fleet.js';
import { keysOf } from '../situations.js';

let store: WindowStore;
beforeEach(() => {
  vi.useFakeTimers();
  const wide = 'setting'.padEnd(40) + 'bits/episode'.padStart(30);
  store = aWindow(memorySweep(), { summary: knownSummary(() => [wide, '-'.repeat(wide.length)]) });
});
afterEach(() => {
  store.close();
  vi.useRealTimers();
});

/** The screen after some keys. */
function shown(width: number, height: number, ...keys: string[]): string[] {
  store.resize(width, height);
  frameOf(store);
  keys.flatMap(keysOf).forEach((key) => store.press(key));
  return screenText(store);
}

/** What is in the frame of the dialog, row by row. */
function boxed(rows: readonly string[]): string[] {
  const top = rows.find((row) => row.includes('╭'))!;
  const [left, right] = [top.indexOf('╭'), top.indexOf('╮')];
  const inside = rows.filter((row) => row[left] === '│' && row[right] === '│');
  return inside.map((row) => row.slice(left + 2, right - 1).trimEnd());
}

const ready: Draft = {
  title: 'extend abcd',
  path: '/home/ada/drafts/abcd.yaml',
  verdict: { kind: 'ready', summary: '3 new runs', lines: ['+ E_1', '+ E_2', '+ E_3', '= 48 that are there'] },
};
const refused: Draft = {
  ...ready,
  verdict: { kind: 'refused', lines: ['nam is no key of a sweep file.', '3 | nam: abcd', '  | ^', '→ Write name.'] },
};

describe('a dialog', () => {
  it.each(['?', 'm', ':', 'a', 'C', 'g'])('opened by %s has its background beside its texts, too', (key) => {
    const rows = shown(100, 30, key);
    const top = rows.findIndex((row) => row.includes('╭'));
    const [left, right] = [rows[top]!.indexOf('╭'), rows[top]!.indexOf('╮')];
    const bottom = rows.findIndex((row) => row[left] === '╰');
    expect(bottom).toBeGreaterThan(top + 1);
    const grounds = frameOf(store)
      .slice(top, bottom)
      .flatMap((line) => line.flatMap(({ text, ground }) => Array<string | undefined>([...text].length).fill(ground)).slice(left, right + 1)); // prettier-ignore
    expect(grounds.filter((ground) => ground === undefined || ground === 'none')).toEqual([]);
  });
});

describe('a menu', () => {
  it('shows what was typed in its frame, keeps its size, and says so when nothing matches', () => {
    const all = shown(100, 30, 'm');
    const found = shown(100, 30, '"ent');
    expect(found.join('\n')).toContain('╭─ metric › ent▏ ─');
    expect(boxed(found).length).toBe(boxed(all).length);
    expect(boxed(found)[0]).toContain('optim/entropy');
    expect(boxed(shown(100, 30, '"xyz')).join('')).toContain('Nothing matches.');
  });

  it('takes the row that was clicked, of those that are seen', () => {
    shown(100, 30, 'm', '"o');
    store.chooseRow(1, 'enter');
    expect(store.model().ui).toMatchObject({ dialog: { kind: 'none' } });
    expect(store.model().metric).not.toBe('test/bits_known');
  });

  it('is moved by the wheel, and a paste finds a row', () => {
    shown(100, 30, 'C');
    store.turn('down');
    expect(store.model().ui.dialog).toMatchObject({ kind: 'columns', index: 3 });
    store.paste('gpu mem');
    expect(store.model().ui).toMatchObject({ columns: null, dialog: { kind: 'columns', typed: 'gpumem' } });
    expect(boxed(screenText(store))[0]).toContain('gpu memory');
  });
});

describe('the palette', () => {
  it('shows commands with what they take, what they do and their key', () => {
    expect(`\n${boxed(shown(80, 24, '3', ':', '"ki')).join('\n')}\n`).toMatchInlineSnapshot(`
      "
      : ki▏
        kill 13 runs: C_dense_multi_N16_s2, C_dense_multi_N64_s0,
        C_dense_multi_N64_s1 and 10 more · 2 others stay as they are
      ────────────────────────────────────────────────────────────────────────────
       kill [runs]        stop runs, or a whole sweep: SIGTERM first, SIG… k
       kill-group         kill the group of the selection (asks first)     K










      "
    `);
  });

  it('keeps its size while one types', () => {
    const typed = ['', 'k', 'kill', 'kill ', 'kill status:', 'nothing is called like this', 'theme '];
    const frames = typed.map((text) => {
      const rows = shown(80, 24, ':', `"${text}`);
      store.press('escape');
      return [
        rows.findIndex((row) => row.includes('╭')),
        boxed(rows).length,
        rows.find((row) => row.includes('╭'))!.trim().length,
      ];
    });
    expect(new Set(frames.map((frame) => frame.join())).size).toBe(1);
  });

  it('keeps the chosen row in sight, and counts those below', () => {
    const rows = shown(80, 24, ':', ...Array<string>(20).fill('down'));
    expect(frameOf(store).filter((line) => line.some(({ ground }) => ground === 'selected'))).toHaveLength(1);
    expect(rows.join('\n')).toMatch(/\d+ more ↓/);
    expect(shown(80, 24, ...Array<string>(90).fill('down')).join('\n')).not.toMatch(/more ↓/);
  });

  it('says when no command is called so, and when Enter was of no use', () => {
    expect(boxed(shown(80, 24, ':', '"xyzzyx'))).toContain('  No such command.');
    store.press('escape');
    const toneOf = (): string | undefined =>
      frameOf(store)
        .flat()
        .find(({ text }) => text.includes('there is no nothing'))?.tone;
    shown(80, 24, ':', '"theme nothing');
    expect(toneOf()).toBe('warn');
    store.press('enter');
    expect(toneOf()).toBe('bad');
  });
});

describe('a draft', () => {
  it('that is ready says what it comes to, and its keys in the words of the footer', () => {
    store.review(ready);
    const rows = shown(80, 24);
    expect(boxed(rows)).toEqual([
      ...['3 new runs', '', '+ E_1', '+ E_2', '+ E_3', '= 48 that are there', ''],
      ...[' Enter submit  e edit again  Esc cancel', ' /home/ada/drafts/abcd.yaml'],
    ]);
    expect(rows.at(-1)).toBe(' Enter submit  e edit again  Esc cancel');
  });

  it('that is refused shows the place with its mark, and no way to submit it', () => {
    store.review(refused);
    const rows = shown(80, 24);
    expect(boxed(rows).slice(1, 4)).toEqual(['3 | nam: abcd', '  | ^', '→ Write name.']);
    expect(rows.join('\n')).not.toContain('submit');
  });

  it.each([
    { asks: true, footer: ' Enter write the file  Esc leave it as it is' },
    { asks: false, footer: ' Esc close' },
  ])('that was submitted offers the file only where it can be written: $asks', ({ asks, footer }) => {
    store.review({
      ...ready,
      verdict: { kind: 'submitted', asks, lines: ['Submitted: 3 new runs.', 'And the file?'] },
    });
    const rows = shown(80, 24);
    expect(boxed(rows).slice(0, 2)).toEqual(['Submitted: 3 new runs.', 'And the file?']);
    expect(rows.at(-1)).toBe(footer);
    expect(rows.join('\n')).not.toContain('/home/ada/drafts');
  });

  it('keeps its keys in sight where it is long, and scrolls no further than its end', () => {
    const lines = Array.from({ length: 50 }, (_, at) => `+ E_${at}`);
    store.review({ ...ready, verdict: { kind: 'ready', summary: '50 new runs', lines } });
    for (const [width, height] of [
      [80, 24],
      [40, 10],
    ] as const) {
      expect(shown(width, height, 'home').join('\n')).toMatch(/\d+ more ↓/);
      const last = shown(width, height, 'end');
      expect(boxed(last).join('\n')).toContain('+ E_49');
      expect(last.join('\n')).not.toMatch(/more ↓/);
      expect(last.at(-1)).toContain('Enter submit  e edit again  Esc cancel');
    }
  });
});

describe('the question before a kill', () => {
  it.each([
    [100, 30],
    [40, 10],
  ] as const)('stands above the footer, which says the keys, at %i × %i', (width, height) => {
    const rows = shown(width, height, '3', 'K');
    expect(boxed(rows)[0]).toBe('Kill 13 runs of C?');
    expect(rows.at(-1)).toBe(' y or Enter yes  any other key no');
    expect(
      frameOf(store)
        .flat()
        .some(({ text, ground }) => text.includes('Kill 13 runs') && ground === 'alarm'),
    ).toBe(true);
  });
});
