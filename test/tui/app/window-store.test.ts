import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import { runFiles as contractFiles } from '../../../src/contract/files.js';
import { runFiles } from '../../../src/tui/app/open-window.js';
import { PassingNote, type WindowStore } from '../../../src/tui/app/window-store.js';
import type { RunFilesPort, SummaryPort } from '../../../src/tui/state/port.js';
import type { Note } from '../../../src/tui/state/ui-state.js';
import { plainText } from '../../../src/tui/surface/span.js';
import { listPane } from '../../../src/tui/widgets/run-list/list-pane.js';
import { LogInMemory } from '../../logs/log-bytes.js';
import { PATIENCE_MS } from '../../patience.js';
import { aWindow, frameOf, screenText } from '../frames.js';
import { knownSummary } from '../known-summary.js';
import { aRun, aSweep, memorySweep, SimulatedFleet } from '../simulated-fleet.js';

const NOW = 1_000_000;
const groups = ['A', 'B'].map((name) => ({ name, title: null, needs: [] }));
const noFiles: RunFilesPort = {
  metrics: () => ({
    refresh: () => false,
    keys: () => [],
    series: () => ({ x: new Float64Array(), y: new Float64Array() }),
  }),
  logTail: () => [],
  openLog: () => new LogInMemory(),
  runDetails: () => null,
};

let open: WindowStore[] = [];
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  open.forEach((store) => store.close());
  open = [];
  vi.useRealTimers();
});

function show(
  fleet: SimulatedFleet,
  options: Parameters<typeof aWindow>[1] & { files?: RunFilesPort; now?: () => number } = {},
): WindowStore {
  const store = aWindow({ fleet, files: options.files ?? noFiles, now: options.now ?? NOW }, options);
  store.resize(120, 40);
  open.push(store);
  return store;
}

function twoRuns(): SimulatedFleet {
  return new SimulatedFleet([aSweep({ groups })], [aRun('A_1', { state: 'running' }), aRun('B_1')]);
}

describe('the window', () => {
  it('asks no longer whether to kill runs that have all ended meanwhile', () => {
    const fleet = twoRuns();
    const store = show(fleet);
    ['end', 'k'].forEach((key) => store.press(key));
    fleet.change('abcd/B_1', { state: 'running' });
    fleet.publish();
    expect(store.model().ui.dialog.kind).toBe('confirm');
    fleet.change('abcd/B_1', { state: 'done' });
    fleet.publish();
    expect(store.model().ui.dialog.kind).toBe('none');
    expect(screenText(store).join('\n')).toContain('Nothing is left to kill: B_1 ended meanwhile.');
  });

  it('keeps to the run that was killed when the filter that hid it is gone', () => {
    const fleet = twoRuns();
    const store = show(fleet);
    ['end', '/', ...'status:running', 'enter', 'k', 'k'].forEach((key) => store.press(key));
    fleet.change(RunId.parse('abcd/A_1'), { state: 'killed' });
    store.press('escape');
    const { rows, index } = store.model();
    expect(rows[index]?.label).toBe('A_1');
  });

  it('sends an order and shows the answer', async () => {
    const fleet = twoRuns();
    const store = show(fleet);
    ['down', 'k', 'y'].forEach((key) => store.press(key));
    expect(screenText(store).join('\n')).toContain('Killing A_1 …');
    await vi.advanceTimersByTimeAsync(0);
    expect(fleet.asked).toEqual(['kill abcd/A_1']);
    expect(screenText(store).join('\n')).toContain('it will be done');
  });

  it('shows a refusal with what to do about it', async () => {
    const fleet = twoRuns();
    fleet.answer = { ok: false, message: 'the disk is full', fix: 'Free some space.' };
    const store = show(fleet);
    ['down', 'k', 'y'].forEach((key) => store.press(key));
    await vi.advanceTimersByTimeAsync(0);
    expect(screenText(store).join('\n')).toContain('the disk is full → Free some space.');
  });

  it('draws again on news, on keys and once a second, and not after it was closed', () => {
    const fleet = twoRuns();
    const store = show(fleet);
    let frames = 0;
    store.subscribe(() => frames++);
    fleet.publish();
    store.press('down');
    expect(frames).toBe(2);
    vi.advanceTimersByTime(2000);
    expect(frames).toBeGreaterThanOrEqual(4);
    store.close();
    const before = frames;
    fleet.publish();
    vi.advanceTimersByTime(5000);
    expect(frames).toBe(before);
  });

  it('computes only those rows anew that have changed', () => {
    const fleet = twoRuns();
    const store = show(fleet);
    store.press('home');
    const sign = () => listPane(store.model(), 100, 30).find((line) => plainText(line).includes('A_1'))![2]!;
    const before = sign();
    fleet.change('abcd/B_1', { state: 'failed' });
    fleet.publish();
    store.press('m');
    store.press('escape');
    expect(sign()).toBe(before);
    fleet.change([...fleet.runs.keys()][0]!, { state: 'failed' });
    fleet.publish();
    expect(sign()).toMatchObject({ text: '✗', tone: 'bad' });
  });

  it('keeps the selection on its run when the list changes under it', () => {
    const fleet = twoRuns();
    const store = show(fleet);
    ['end', 's'].forEach((key) => store.press(key));
    fleet.change('abcd/A_1', { state: 'failed' });
    fleet.publish();
    expect(screenText(store).join('\n')).toMatch(/│ ○ B_1/);
  });

  it('goes to a neighbour when the selected run is filtered away', () => {
    const store = show(twoRuns());
    ['end', '/', 'A', 'enter'].forEach((key) => store.press(key));
    expect(screenText(store).join('\n')).toMatch(/│ ● A_1/);
  });

  it('says what cannot be, in words', () => {
    const fleet = twoRuns();
    const store = show(fleet);
    ['/', 'zzz', 'enter'].forEach((key) => store.press(key));
    for (const letter of 'zzz') store.press(letter);
    fleet.connection = 'reconnecting';
    fleet.status = { ...fleet.status, problem: 'no space left on device: nothing new is started' };
    fleet.publish();
    ['/', 'ctrl-u', 'q', 'q', 'enter'].forEach((key) => store.press(key));
    const text = screenText(store).join('\n');
    expect(text).toContain('No run matches qq');
    expect(text).toContain('connection lost · reconnecting');
    expect(text).toContain('no space left on device');
  });

  it('tells the runs that were asked for from those that they need', () => {
    const known = [...groups, { name: 'W', title: null, needs: [], prerequisite: true }];
    const store = show(new SimulatedFleet([aSweep({ groups: known })], [aRun('A_1'), aRun('A_2'), aRun('W_1')]));
    expect(screenText(store)[0]).toContain('abcd  2 runs + 1 prerequisite   ○ 3 queued');
  });

  it('says how long the prerequisites still take while nobody can know more', () => {
    const known = [
      { name: 'A', title: null, needs: ['W'] },
      { name: 'W', title: null, needs: [], prerequisite: true },
    ];
    const warmup = aRun('W_1', { state: 'running', attempt: 1, startedAt: 0, progress: 0.5, etaSeconds: 20 });
    const store = show(new SimulatedFleet([aSweep({ groups: known })], [warmup, aRun('A_1')]));
    expect(screenText(store)[1]).toMatch(/25% · prerequisites ~20s left$/);
  });

  it('leaves the list on the screen when the last run ends, and says which key shows the results', () => {
    const fleet = new SimulatedFleet([aSweep({ groups })], [aRun('A_1', { state: 'running', startedAt: 0 })]);
    const store = show(fleet, { summary: knownSummary(() => ['bits per episode 0.012']) });
    fleet.change('abcd/A_1', { state: 'done', endedAt: 9000 });
    fleet.publish();
    const text = screenText(store).join('\n');
    expect(text).toContain('✓ all 1 runs done · S shows the results · q detaches');
    expect(text).not.toContain('bits per episode');
    store.press('S');
    expect(screenText(store).join('\n')).toContain('bits per episode 0.012');
  });

  it('takes a passing remark away after a while, and leaves a refusal', () => {
    const store = show(twoRuns());
    store.press('s');
    expect(screenText(store).join('\n')).toContain('Sorted by state');
    vi.advanceTimersByTime(6000);
    expect(screenText(store).join('\n')).not.toContain('Sorted by state');
    store.press('Q');
    vi.advanceTimersByTime(6000);
    expect(screenText(store).join('\n')).toContain('Q does nothing here');
  });

  it('asks for a table that fits, and again when the size changes under it', () => {
    const store = show(twoRuns(), { summary: knownSummary((width) => ['═'.repeat(width)]) });
    store.press('S');
    for (const width of [120, 84]) {
      store.resize(width, 30);
      expect(screenText(store)).toContain(` ${'═'.repeat(width - 2)}`);
    }
  });

  it('puts what varies in the group of the selection first', () => {
    const runs = [1, 2].map((seed) => aRun(`A_${seed}`, { parameters: { N: 64, seed } }));
    const store = show(new SimulatedFleet([aSweep({ groups })], [...runs, aRun('B_1', { parameters: { N: 16 } })]));
    expect(screenText(store).join('\n')).toContain('seed 1 2  N 64');
    store.press('2');
    expect(screenText(store).join('\n')).toContain('│ N 16');
  });

  it('shows why the table could not be made', async () => {
    const failing = { lines: null, refresh: () => Promise.reject(new Error('no metrics')) };
    const store = show(twoRuns(), { summary: failing });
    store.press('S');
    await vi.waitFor(
      () => expect(screenText(store).join('\n')).toContain('The table could not be made: no metrics'),
      PATIENCE_MS,
    );
  });

  it('says that the table is being read, and shows the one before while it is read anew', async () => {
    const done: (() => void)[] = [];
    const summary: { lines: SummaryPort['lines'] } & SummaryPort = {
      lines: null,
      refresh: () => new Promise((resolve) => done.push(resolve)),
    };
    const store = show(twoRuns(), { summary });
    store.press('S');
    expect(screenText(store).join('\n')).toContain('reading…');
    for (const [text, before] of [
      ['first', 'reading…'],
      ['second', 'first'],
    ] as const) {
      store.press('escape');
      store.press('S');
      expect(screenText(store).join('\n')).toContain(before);
      summary.lines = () => [text];
      done.splice(0).forEach((resolve) => resolve());
      await vi.waitFor(() => expect(screenText(store).join('\n')).toContain(text), PATIENCE_MS);
    }
  });

  it('shows studies above the table, and what has changed in them while it is shown', async () => {
    let text: string | null = 'a lower rate is better';
    const studies: { lines: SummaryPort['lines'] } & SummaryPort = {
      lines: null,
      refresh: () => {
        const said = text;
        studies.lines = () => (said === null ? [] : [said]);
        return Promise.resolve();
      },
    };
    let passed = 0;
    const summary = { ...knownSummary(() => ['the table']), studies };
    const store = show(twoRuns(), { summary, now: () => NOW + passed });
    const wait = (ms: number) => {
      passed += ms;
      vi.advanceTimersByTime(ms);
    };
    store.press('S');
    const shows = (what: RegExp) => vi.waitFor(() => expect(screenText(store).join('\n')).toMatch(what), PATIENCE_MS);
    await shows(/── studies ─+\n a lower rate is better[^]*the table/);
    // A row of a table may begin with spaces.
    text = '    no rate is better – by much';
    wait(4000);
    await shows(/── studies ─+\n {5}no rate is better – by much/);
    text = null;
    wait(4000);
    await vi.waitFor(() => expect(screenText(store).join('\n')).not.toContain('studies'), PATIENCE_MS);
  });

  it('shows one sweep of several, or all', () => {
    const other = aSweep({ name: 'other', groups: [{ name: 'X', title: null, needs: [] }] });
    const run = { ...aRun('X_1', { group: 'X' }), sweep: 'other' };
    const fleet = new SimulatedFleet([aSweep({ groups }), other], [aRun('A_1'), run]);
    expect(screenText(show(fleet)).join('\n')).not.toContain('X_1');
    const all = screenText(show(fleet, { sweep: null })).join('\n');
    expect(all).toContain('other/X');
    expect(all).toContain('abcd/A');
  });

  it('opens another sweep by its name, as it was left, or all of them', () => {
    const other = aSweep({ name: 'other', groups: [{ name: 'X', title: null, needs: [] }] });
    const run = { ...aRun('X_1', { group: 'X' }), sweep: 'other' };
    const store = show(new SimulatedFleet([aSweep({ groups }), other], [aRun('A_1'), run]));
    const text = (): string => screenText(store).join('\n');
    const type = (...keys: string[]): void => keys.forEach((key) => store.press(key));
    type('s', 'down', 'space', 'O');
    expect(text()).toMatch(/all sweeps +○2[^]*other +○1[^]*abcd +○1/);
    type(...'oth', 'enter');
    expect(text()).toMatch(/^ other /);
    expect(text()).toContain('X_1');
    expect(text()).not.toMatch(/A_1|marked|Sorted by/);
    type(':', ...'show', 'space', ...'abcd', 'enter');
    expect(text()).toMatch(/^ abcd /);
    expect(text()).toContain('run · state ↓');
    type(':', ...'show', 'space', ...'all', 'enter');
    expect(text()).toContain('other/X');
  });

  it('folds the groups of a large sweep at first', () => {
    const runs = Array.from({ length: 10_000 }, (_, index) => aRun(`A_${index}`));
    const store = show(new SimulatedFleet([aSweep({ groups })], runs));
    expect(screenText(store).join('\n')).toContain('▸ 1 A');
    ['right', 'down'].forEach((key) => store.press(key));
    expect(screenText(store).join('\n')).toContain('▸ ○ 10,000 queued');
    store.press('right');
    expect(screenText(store).join('\n')).toContain('A_17');
  });
});

describe('what is read for the selection', () => {
  it('reads log and curves of the selected run, siblings in the background, and goes on reading', () => {
    const sweep = memorySweep();
    const store = aWindow(sweep);
    open.push(store);
    store.resize(120, 40);
    ['down', 'down'].forEach((key) => store.press(key));
    frameOf(store);
    vi.advanceTimersByTime(200);
    const text = screenText(store).join('\n');
    expect(text).toContain('step 20000 | episodes 80000');
    expect(text).toMatch(/┤.*[\u2801-\u28ff]/);
  });

  it('reads nothing while the selection moves on', () => {
    const read: string[] = [];
    const files: RunFilesPort = { ...noFiles, logTail: (directory) => (read.push(directory), []) };
    const runs = Array.from({ length: 30 }, (_, index) => aRun(`A_${index}`, { state: 'running', attempt: 1 }));
    const store = show(new SimulatedFleet([aSweep({ groups })], runs), { files });
    for (let step = 0; step < 20; step++) {
      store.press('down');
      frameOf(store);
      vi.advanceTimersByTime(10);
    }
    expect(read).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(read).toEqual(['/runs/abcd/A_19']);
  });

  it('finds the files of a run directory by the names the contract gives them', () => {
    const directory = mkdtempSync(join(tmpdir(), 'memrl-window-'));
    try {
      mkdirSync(join(directory, 'run'));
      const reader = runFiles.metrics(join(directory, 'run'));
      expect([reader.refresh(), runFiles.logTail(join(directory, 'run'), 5)]).toEqual([false, []]);
      writeFileSync(
        join(directory, 'run', contractFiles.metrics),
        '{"step": 1, "loss": 2}\n{"step": 2, "loss": NaN}\n',
      );
      appendFileSync(join(directory, 'run', contractFiles.log), 'one\n\u001b[31mtwo\u001b[0m\n10%\r20%\n');
      expect(reader.refresh()).toBe(true);
      expect([...reader.series('loss').y]).toEqual([2, Number.NaN]);
      expect(runFiles.logTail(join(directory, 'run'), 2)).toEqual(['two', '20%']);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('a note', () => {
  const remark: Note = { text: 'Nothing was killed.', tone: 'dim' };

  it('that is a passing remark goes away by itself, however often the window is drawn meanwhile', () => {
    const forget = vi.fn();
    const passing = new PassingNote(forget);
    passing.hear(remark);
    vi.advanceTimersByTime(4000);
    passing.hear(remark);
    expect(forget).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(forget).toHaveBeenCalledTimes(1);
  });

  it.each<[string, Note | null]>([
    ['a refusal', { text: 'This is the last row.', tone: 'warn' }],
    ['an answer', { text: '1 run killed', tone: 'good' }],
    ['a failure', { text: 'The supervisor said no.', tone: 'bad' }],
    ['nothing', null],
  ])('stays until the next key, and takes the place of a remark: %s', (_, note) => {
    const forget = vi.fn();
    const passing = new PassingNote(forget);
    passing.hear(remark);
    passing.hear(note);
    vi.advanceTimersByTime(60_000);
    expect(forget).not.toHaveBeenCalled();
  });

  it('is not removed once the window is closed', () => {
    const forget = vi.fn();
    const passing = new PassingNote(forget);
    passing.hear(remark);
    passing.close();
    vi.advanceTimersByTime(60_000);
    expect(forget).not.toHaveBeenCalled();
  });
});
