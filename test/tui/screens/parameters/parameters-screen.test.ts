import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toAscii } from '../../../../src/text/ascii.js';
import { textWidth } from '../../../../src/text/display-width.js';
import type { WindowStore } from '../../../../src/tui/app/window-store.js';
import { aWindow, frameOf, screenText } from '../../frames.js';
import { divergingSweep, largeSweep, smallSweep, worldOf } from './sweeps.js';

type World = ReturnType<typeof worldOf>;

let store: WindowStore;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  store.close();
  vi.useRealTimers();
});

/** The screen of the parameters once they have been worked out, and some keys later. */
function shown(world: World, [width, height]: readonly [number, number], ...keys: string[]): string {
  store = aWindow(world);
  store.resize(width, height);
  press('M', ...keys);
  return text();
}

/** Each key, and what it leads to. */
function press(...keys: string[]): void {
  for (const key of keys) {
    store.press(key);
    frameOf(store);
    vi.advanceTimersByTime(300);
  }
}

function text(): string {
  return `\n${screenText(store).join('\n')}\n`;
}

/** The rows between the header and the footer. */
function note(): string {
  return screenText(store).at(-2)!.trim();
}

const least = [40, 12] as const;
const usual = [80, 24] as const;
const large = [120, 40] as const;
const huge = [200, 60] as const;
const medium = [100, 30] as const;
const few = () => smallSweep((index) => (index % 15 === 2 ? 'done' : index < 6 ? 'running' : 'queued'));

describe('the parameters of a sweep of which a setting diverged', () => {
  it('are explained by the order of the runs; best is a value that was tried, and those that diverged lie beyond the axis', () => {
    const seen = shown(divergingSweep(), medium);
    expect(seen).toContain('what matters for the order by eval/loss');
    expect(seen).toContain('the values span decades');
    expect(seen).toContain('best 0.2 n=3');
    expect(seen).toMatchSnapshot();
  });

  it('are explained by its values on a key, and by its order again', () => {
    shown(divergingSweep(), medium, 'u');
    expect(text()).toContain('what matters for eval/loss');
    expect(text()).not.toContain('span decades');
    expect(text()).toContain('best 0.2 n=3');
    press('u');
    expect(text()).toContain('what matters for the order by eval/loss');
    expect(text()).not.toContain('span decades');
  });

  it('have an axis where half of the runs pass them', () => {
    const seen = shown(divergingSweep(), medium, 'tab');
    expect(seen).toContain('1 more without an axis');
    expect(seen).not.toMatch(/▸lr.*depth/);
    expect(seen).toMatchSnapshot();
  });
});

describe('the parameters that matter', () => {
  it.each([
    { size: least, name: '40 × 12' },
    { size: usual, name: '80 × 24' },
    { size: large, name: '120 × 40' },
    { size: huge, name: '200 × 60' },
  ])('on $name', ({ size }) => {
    expect(shown(smallSweep(), size)).toMatchSnapshot();
  });

  it.each([
    { view: 'parallel coordinates', keys: ['tab', 'right'] },
    { view: 'a scatter plot, the runs told apart', keys: ['tab', 'tab', 'down', 'g'] },
    { view: 'the best run beside the median one', keys: ['tab', 'tab', 'tab'] },
  ])('as $view', ({ keys }) => {
    expect(shown(smallSweep(), usual, ...keys)).toMatchSnapshot();
  });

  it('say how many runs are missing where there are too few, and show these', () => {
    expect(shown(few(), usual)).toMatchSnapshot();
  });

  it('say what they need where there is no metric', () => {
    const none = worldOf([{ name: 'A_1', parameters: { lr: 1 }, metrics: {} }]);
    const seen = shown(none, usual);
    expect(seen).toContain('No run has written a metric yet.');
    expect(seen).toContain('All runs have ended; e extends the sweep by more of them.');
  });

  it.each([
    { what: 'no run is done', state: 'running', metrics: { loss: 1 }, words: 'No run is done yet' },
    { what: 'no value is a number', state: 'done', metrics: { loss: null }, words: 'has no finite loss' },
  ] as const)('say so where $what', ({ state, metrics, words }) => {
    expect(shown(worldOf([{ name: 'A_1', parameters: { lr: 1 }, metrics, state }], null), usual)).toContain(words);
  });

  it('of thousands of runs, those that diverged below the axes', () => {
    const seen = shown(largeSweep(5000), usual);
    expect(seen).toMatch(/▸optimizer +━+.*57 %/);
    expect(seen).toContain('runs left out: 133 NaN');
    press('tab');
    expect(text()).toContain('5000 runs, 133 without a value');
    expect(text()).toContain('╌no value');
  });

  it('have a stand-in for every sign where only ASCII can be shown, in every view', () => {
    shown(largeSweep(60), large);
    for (const view of ['importance', 'parallel', 'scatter', 'best']) {
      for (const line of screenText(store)) {
        expect(toAscii(line), view).toMatch(/^[ -~]*$/);
        expect(toAscii(line), view).not.toContain('?'.repeat(line.includes('?') ? 2 : 1));
        expect(textWidth(line)).toBeLessThanOrEqual(large[0]);
      }
      press('tab', 'g');
    }
  });

  it('are those of the runs that the filter lets through', () => {
    shown(smallSweep(), large, '/', ...'width=64', 'enter', 'M');
    expect(text()).toContain('filter width=64 · 30 runs');
    expect(text()).not.toMatch(/^.width/m);
  });

  it('are worked out again as runs end', () => {
    const { fleet, ...world } = smallSweep((index) => (index < 30 ? 'done' : 'running'));
    shown({ fleet, ...world }, large);
    expect(text()).toContain('30 of 60 runs done');
    expect(text()).toContain('of 30 runs (out-of-bag R²)');
    for (const { id, state } of fleet.runs.values()) if (state === 'running') fleet.change(id, { state: 'done' });
    fleet.publish();
    frameOf(store);
    vi.advanceTimersByTime(1000);
    expect(text()).toContain('of 60 runs (out-of-bag R²)');
  });
});

describe('the keys of the parameters', () => {
  beforeEach(() => void shown(smallSweep(), large));
  const chosen = () => /^▸(\w+)/m.exec(text())?.[1];

  it('↑ and ↓ choose the parameter, of which the scatter plot is', () => {
    expect(chosen()).toBe('lr');
    press('down');
    const next = chosen()!;
    expect(next).not.toBe('lr');
    expect(text()).toContain(`eval/loss over ${next}`);
    press('home', 'up');
    expect(note()).toBe('This is the first parameter.');
    press('end', 'down');
    expect(note()).toBe('This is the last parameter.');
  });

  it('Tab goes through the views, and Enter from the importance of a parameter to its scatter plot', () => {
    const isMarked = (view: string) =>
      frameOf(store).some((line) => line.some((part) => part.ground === 'selected' && part.text.trim() === view));
    for (const view of ['parallel', 'scatter', 'best', 'importance']) {
      press('tab');
      expect(isMarked(view), view).toBe(true);
    }
    press('enter');
    expect(isMarked('scatter')).toBe(true);
  });

  it('← and → choose the other column of the scatter plot: another metric, a parameter, the metric again', () => {
    press('enter', 'right');
    expect(text()).toContain('accuracy over lr');
    press('right');
    expect(text()).toMatch(/(width|warmup) over lr/);
    press('left', 'left');
    expect(text()).toContain('eval/loss over lr');
    press('left');
    expect(text()).toMatch(/(width|warmup) over lr/);
  });

  it('← and → choose the axis of the parallel coordinates', () => {
    press('tab', 'right');
    expect(text()).toMatch(/lr +▸\w+/);
    press('left', 'left');
    expect(note()).toBe('This is the first parameter.');
  });

  it('g tells the runs of the scatter plot apart by one parameter after the other', () => {
    press('enter', 'g');
    expect(text()).toMatch(/lr o 0.0001 +x 0.001 +\+ 0.01/);
    press('g', 'g', 'g');
    expect(text()).not.toMatch(/ o \w+ +x \w+/);
    press('tab', 'g');
    expect(note()).toBe('Runs are told apart in the scatter plot; Tab leads to it.');
  });

  it('→ goes on to the second best run, b pins it, and Enter opens it', () => {
    press('tab', 'tab', 'tab');
    expect(text()).toContain('best against median run');
    press('right');
    expect(text()).toContain('no. 2 of 60 against median run');
    press('b');
    expect(note()).toMatch(/^Baseline: A_lr0.001_\w+; b again unpins it/);
    press('left');
    expect(text()).toMatch(/best against baseline/);
    press('left');
    expect(note()).toBe('This is the first run.');
    const best = /best (A_\S+)/.exec(text())![1]!;
    press('enter');
    expect(screenText(store).join('\n')).toContain(`── ${best}`.slice(3));
    expect(text()).toContain('log │ charts │ config │ attempts');
  });

  it('u explains the order of the runs, which outliers do not rule', () => {
    press('u');
    expect(text()).toContain('what matters for the order by eval/loss');
    press('u');
    expect(text()).toContain('what matters for eval/loss');
  });

  it('m chooses the metric; where the sweep does not say which end is best, none is', () => {
    press('m', ...'accuracy', 'enter');
    expect(text()).toContain('what matters for accuracy');
    press('tab', 'tab', 'tab');
    expect(text()).toContain('highest against median run');
    expect(text()).toContain('Nobody says whether a high or a low accuracy is better');
  });

  it('Esc goes back to the list, and the sweep screen leads here as well', () => {
    press('escape');
    expect(text()).not.toContain('importance │');
    press('S', 'M');
    expect(text()).toContain('importance │');
    press('M');
    expect(note()).toBe('These are the parameters; Esc goes back.');
  });

  it('a key of the list says where it acts', () => {
    press('k');
    expect(note()).toBe('k acts on the list of runs; Esc goes back to it.');
  });

  it('the palette knows it by its name', () => {
    press('escape', ':', ...'parameters', 'enter');
    expect(text()).toContain('importance │');
  });
});
