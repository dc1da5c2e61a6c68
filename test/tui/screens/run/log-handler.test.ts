import { describe, expect, it } from 'vitest';
import { LogSearch, readLogPattern } from '../../../../src/logs/log-search.js';
import type { KeyContext } from '../../../../src/tui/keys/key-context.js';
import { press } from '../../../../src/tui/dialogs/key-stack.js';
import { withFound } from '../../../../src/tui/screens/run/log-handler.js';
import { LogWindow } from '../../../../src/tui/widgets/log/log-viewer.js';
import { initialUi, type UiState } from '../../../../src/tui/state/ui-state.js';
import { logRoom } from '../../../../src/tui/widgets/log/log-pane.js';
import { topOf } from '../../../../src/tui/widgets/log/log-scroll.js';
import { LogInMemory } from '../../../logs/log-bytes.js';
import { aSituation } from '../../a-situation.js';

/** A hundred lines; every tenth is red, the forty-second broke. */
const lines = Array.from({ length: 100 }, (_, at) =>
  at === 42 ? 'ValueError: no' : at % 10 === 0 ? `line ${at} red` : `line ${at}`,
);
const source = new LogInMemory(lines.map((line) => `${line}\n`).join(''));

/** An open run of which ten lines of log are seen. */
class Reader {
  readonly #window = new LogWindow(source);
  ui: UiState = { ...initialUi, screen: { kind: 'run', pane: 'log', offset: 0 } };

  constructor() {
    while (this.#window.improve(this.ui.log.place, false));
  }

  get situation(): KeyContext {
    return aSituation({ own: { focus: { width: 62, height: 11, length: 0 }, log: this.#window.page } });
  }

  press(...keys: string[]): this {
    for (const key of keys) this.ui = press(this.ui, key, this.situation).ui;
    return this;
  }

  /** Ends the search that is under way. */
  search(): this {
    const { seek } = this.ui.log;
    if (seek === null) throw new Error('nothing is searched for');
    const pattern = readLogPattern(seek.of === 'error' ? 'error' : seek.pattern);
    if (pattern.kind === 'problem') throw new Error(pattern.problem);
    const search = new LogSearch(
      this.#window.file,
      { matches: (text) => text.search(pattern.regexp) >= 0, hint: pattern.hint },
      seek.from,
      seek.direction,
    );
    let step = search.step();
    while (step.kind === 'searching') step = search.step();
    this.ui = withFound(this.ui, seek, step.kind === 'found' ? step.offset : null);
    return this;
  }

  get top(): string {
    const page = this.#window.page!;
    return page.lines[topOf(page, this.ui.log.place, logRoom({ width: 62, height: 11 }, true))!.index]!.text;
  }

  get hit(): string | null {
    const { hit } = this.ui.log;
    return hit === null ? null : this.#window.page!.lines.find(({ offset }) => offset === hit.offset)!.text;
  }
}

const read = (...keys: string[]): Reader => new Reader().press(...keys);

describe('a log that is read', () => {
  it.each<{ keys: string[]; top: string }>([
    { keys: [], top: 'line 90 red' },
    { keys: ['up'], top: 'line 89' },
    { keys: ['pageup'], top: 'line 81' },
    { keys: ['home'], top: 'line 0 red' },
    { keys: ['home', 'pagedown', 'down'], top: 'line 10 red' },
    { keys: ['home', 'end'], top: 'line 90 red' },
    { keys: ['up', 'up', 'down'], top: 'line 89' },
  ])('is at $top after $keys', ({ keys, top }) => {
    expect(read(...keys).top).toBe(top);
  });

  it('follows again when one has come down to its end', () => {
    expect(read('up').ui.log.place.kind).toBe('top');
    expect(read('up', 'down').ui.log.place).toEqual({ kind: 'end' });
  });

  it('says where it ends', () => {
    expect(read('end', 'end').ui.note?.text).toBe('This is the end; new output appears here by itself.');
    expect(read('down', 'down').ui.note?.text).toBe('This is the end; new output appears here by itself.');
    expect(read('home', 'up').ui.note?.text).toBe('This is the first line.');
  });

  it('is wrapped or cut', () => {
    expect(read('w').ui).toMatchObject({ log: { wraps: false }, note: { text: 'Long lines are cut.' } });
    expect(read('w', 'w').ui.log.wraps).toBe(true);
  });
});

describe('a search in a log', () => {
  it('goes on from the screen to the next match and the one before', () => {
    const reader = read('home', '/', ...'red', 'enter').search();
    expect(reader.hit).toBe('line 0 red');
    expect([reader.press('n').search().hit, reader.press('n').search().hit]).toEqual(['line 10 red', 'line 20 red']);
    expect(reader.top).toBe('line 17');
    expect(reader.press('N').search().hit).toBe('line 10 red');
  });

  it('goes on at the other end, and says so', () => {
    const reader = read('/', ...'line 9 ?$', 'enter').search();
    expect([reader.hit, reader.ui.note?.text]).toEqual([
      'line 9',
      'No more matches below; continuing from the first line.',
    ]);
    const back = read('home', '/', ...'red', 'enter')
      .search()
      .press('N')
      .search();
    expect([back.hit, back.ui.note?.text]).toEqual(['line 90 red', 'No more matches above; continuing from the end.']);
  });

  it('says when there is nothing', () => {
    expect(read('/', ...'blue', 'enter').search().ui).toMatchObject({
      log: { hit: null, seek: null },
      note: { text: 'No line of the log matches blue.' },
    });
  });

  it('shows matches while one types, and Esc brings back what was there', () => {
    const reader = read('/', ...'red', 'enter')
      .search()
      .press('/', 'x');
    expect(reader.ui.log.search).toBe('redx');
    expect(reader.press('escape').ui).toMatchObject({ log: { search: 'red' }, dialog: { kind: 'none' } });
  });

  it('refuses what is no pattern, and keeps the prompt', () => {
    const { ui } = read('/', ...'(a', 'enter');
    expect(ui).toMatchObject({ dialog: { kind: 'search' }, log: { seek: null } });
    expect(ui.dialog.kind === 'search' && ui.dialog.problem).toContain('“(a” is not a regular expression');
    expect(read('/', ...'(a', 'enter', 'backspace').ui).toMatchObject({ dialog: { problem: null } });
  });

  it('is stopped by Esc, which goes back only then', () => {
    const reader = read('/', ...'red', 'enter', 'escape');
    expect(reader.ui).toMatchObject({ log: { seek: null }, screen: { kind: 'run' } });
    expect(reader.ui.note?.text).toBe('The search was stopped.');
    expect(reader.press('escape').ui.screen.kind).toBe('jobs');
  });

  it('forgets nothing of an answer that comes too late', () => {
    const reader = read('/', ...'red', 'enter');
    const late = reader.ui.log.seek!;
    reader.press('escape');
    expect(withFound(reader.ui, late, 0)).toBe(reader.ui);
  });

  it('that was given up says what to type instead', () => {
    const reader = read('/', ...'(a+)+$', 'enter');
    const { log, note } = withFound(reader.ui, reader.ui.log.seek!, 'too long');
    expect(log.seek).toBeNull();
    expect(note?.text).toBe(
      '(a+)+$ takes too long; write it without a repetition of a repetition: a+ instead of (a+)+.',
    );
  });

  it('is forgotten with an empty pattern', () => {
    expect(
      read('/', ...'red', 'enter')
        .search()
        .press('/', 'ctrl-u', 'enter').ui.log.search,
    ).toBe('');
  });

  it.each<[string[], string]>([
    [['n'], 'Search for something first: /.'],
    [['escape', 'N'], 'Open a run and search its log first: Enter, then /.'],
  ])('is refused after %j', (keys, note) => {
    expect(read(...keys).ui.note?.text).toBe(note);
  });
});

describe('the first error', () => {
  it('is found wherever one is, in any pane', () => {
    expect(read('!').search().hit).toBe('ValueError: no');
    const elsewhere = read('tab', '!').search();
    expect([elsewhere.hit, elsewhere.ui.screen]).toEqual(['ValueError: no', { kind: 'run', pane: 'log', offset: 0 }]);
  });

  it('opens the run from the list', () => {
    const reader = read('escape', '!');
    expect(reader.ui.screen).toMatchObject({ kind: 'run', pane: 'log' });
    expect(reader.search().hit).toBe('ValueError: no');
  });

  it('is the next one when pressed again', () => {
    const again = read('!').search().press('!');
    expect(again.ui.log.seek?.from).toBe(source.read(0, 1e6).indexOf('ValueError') + 'ValueError: no\n'.length);
  });
});
