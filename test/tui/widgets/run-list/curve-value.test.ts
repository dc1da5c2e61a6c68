import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowStore } from '../../../../src/tui/app/window-store.js';
import { sorted } from '../../../../src/tui/model/tree/tree-grower.js';
import { isColumnId, sortsFor, sortWords, valueColumns, withValue } from '../../../../src/tui/state/list-choice.js';
import type { MetricReader, RunFilesPort, RunSummary } from '../../../../src/tui/state/port.js';
import { varyingParametersOf } from '../../../../src/tui/model/varying-parameters.js';
import { listLayout } from '../../../../src/tui/widgets/run-list/list-columns.js';
import { aWindow, screenText } from '../../frames.js';
import { keysOf } from '../../situations.js';
import { aRun, aSweep, memorySweep, SimulatedFleet } from '../../simulated-fleet.js';

const valuesAnd = (column: 'trend') => ['progress', column, 'value mean=10', 'time'] as const;

describe('which value the list shows', () => {
  it.each([
    ['last', ['metric']],
    ['best', ['best']],
    ['both', ['metric', 'best']],
    ['min', ['value min']],
    ['auc', ['value auc']],
    ['mean=20', ['value mean=20']],
    ['mean 20', ['value mean=20']],
    ['at=1e3', ['value at=1000']],
    ['at -5', ['value at=-5']],
    ...['', 'at', 'at=', 'mean=0', 'mean=1.5', 'median', 'value auc'].map((word) => [word, null] as const),
  ] as const)('is chosen in the words of report --value: "%s"', (word, columns) => {
    expect(valueColumns(word)).toEqual(columns);
    if (columns !== null) expect(columns.every(isColumnId)).toBe(true);
  });

  it('is one after the other, in one place', () => {
    const at = withValue(null, ['value at=1000']);
    expect(at).toEqual(['progress', 'left', 'trend', 'value at=1000', 'slot', 'time']);
    expect(withValue(at, ['value auc'])).toEqual(['progress', 'left', 'trend', 'value auc', 'slot', 'time']);
    expect(withValue(at, ['metric'])).toBeNull();
  });

  it('is what the runs are ordered by, the highest first, those without it last', () => {
    const of = (name: string, values: Record<string, number>) => aRun(name, { curveValues: values });
    const runs = [of('a', { auc: 1 }), of('b', {}), of('c', { auc: 3 }), of('d', { auc: NaN }), of('e', { auc: 2 })];
    const namesBy = (isReversed: boolean) =>
      sorted(runs, { by: 'value auc', isReversed }, 'loss', 0)
        .map(({ name }) => name)
        .join('');
    expect(namesBy(false)).toBe('ceabd');
    expect(namesBy(true)).toBe('aecbd');
    expect(sortsFor(['value auc', 'time'])).toContain('value auc');
    expect(sortWords({ by: 'value mean=10', isReversed: false }, 'loss')).toBe('loss mean 10, highest first');
  });
});

describe('the heading of such a value', () => {
  const headingAt = (width: number): string | undefined => {
    const wishes = { columns: valuesAnd('trend'), metric: 'eval/accuracy', longest: 18 };
    const { columns } = listLayout(width, { ...wishes, varyingParameters: () => varyingParametersOf([]) });
    return columns.find(({ id }) => id === 'value mean=10')?.heading;
  };

  it('leaves the metric to the footer where there is no room for all columns', () => {
    expect(headingAt(90)).toBe('accuracy mean 10');
    expect(headingAt(48)).toBe('mean 10');
  });
});

describe('the list on the screen', () => {
  let store: WindowStore;
  beforeEach(() => {
    vi.useFakeTimers();
    const { now, files } = memorySweep();
    const runs = [...run('A', 4), ...run('B', 2)];
    const groups = ['A', 'B'].map((name) => ({ name, title: null, needs: [] }));
    const fleet = new SimulatedFleet([aSweep({ groups, show: ['loss'], x: 'episodes' })], runs);
    store = aWindow({ fleet, files: { ...files, ...readers(runs) }, now });
    store.resize(90, 24);
  });
  afterEach(() => {
    store.close();
    vi.useRealTimers();
  });

  const after = (...keys: string[]): string => {
    keys.flatMap(keysOf).forEach((key) => store.press(key));
    // Who looks is who asks.
    screenText(store);
    vi.advanceTimersByTime(500);
    const rows = screenText(store);
    return `\n${rows.slice(1, 10).join('\n')}\n${rows.filter((row) => /^ Sorted|^ Value/.test(row)).join('\n')}\n`;
  };

  it('shows the trend of the metric that is chosen, for runs and for groups', () => {
    expect(after()).toMatchSnapshot('the usual metric');
    expect(after('m', '"accuracy', 'enter')).toMatchSnapshot('another one');
  });

  it('shows values at a place of the x axis, over seeds, and orders by them', () => {
    expect(after(':', '"value at=20', 'enter', 's', 's')).toMatchSnapshot();
  });

  it('shows the mean of the last values and the area under the curve', () => {
    expect(after(':', '"value mean 2', 'enter')).toMatchSnapshot('mean');
    expect(after(':', '"value auc', 'enter')).toMatchSnapshot('auc');
  });

  it.each<{ values: (number | null)[]; group: string; run: string }>([
    { values: [null, null], group: '2 NaN', run: 'NaN' },
    { values: [Infinity, Infinity], group: '2 inf', run: 'inf' },
    { values: [-Infinity, 1], group: '1 · 1 inf', run: '-inf' },
    { values: [Infinity, 1, null, 3], group: '2 1 NaN, 1 inf', run: 'inf' },
    { values: [Infinity, null], group: 'NaN/inf', run: 'inf' },
  ])('of a group of $values is $group, and of its first run $run', ({ values, group, run }) => {
    store.close();
    const { now, files } = memorySweep();
    const runs = values.map((loss, seed) =>
      aRun(`A_s${seed}`, { state: 'done', attempt: 1, endedAt: 1, parameters: { seed }, metrics: { loss } }),
    );
    store = aWindow({ fleet: new SimulatedFleet([aSweep({ show: ['loss'] })], runs), files, now });
    store.resize(200, 24);
    const spaceless = (text: string) => text.replaceAll(' ', '');
    const rows = screenText(store).map((row) => spaceless(row));
    expect(rows.find((row) => row.includes('▾1A'))).toContain(spaceless(group));
    expect(rows.find((row) => row.includes('✓s0done'))).toContain(run);
  });

  it('never cuts the deviation of a group: with little room it has one digit', () => {
    store.close();
    const { now, files } = memorySweep();
    const runs = [1e16, 4e16, 1e17].map((loss, seed) =>
      aRun(`A_s${seed}`, {
        state: 'done',
        attempt: 1,
        progress: 1,
        endedAt: 1,
        parameters: { seed },
        metrics: { loss },
      }),
    );
    const fleet = new SimulatedFleet([aSweep({ show: ['loss'] })], runs);
    store = aWindow({ fleet, files, now });
    const shown = [60, 70, 80, 90, 100, 110, 120, 130, 140, 160].map((width) => {
      store.resize(width, 24);
      const group = screenText(store).find((row) => row.includes(' 1 A'))!;
      return /±\S*/.exec(group)?.[0] ?? '';
    });
    expect([...new Set(shown)].sort()).toEqual(['±4.6e16', '±5e16']);
  });

  it('says what has to follow a word that is only begun', () => {
    ':,"value at='
      .split(',')
      .flatMap(keysOf)
      .forEach((key) => store.press(key));
    expect(screenText(store).join('\n')).toContain('value at=1000: the value at that place of the x axis');
  });

  /** Three seeds whose loss falls from `height`, while accuracy rises and falls again; one of them is NaN at the end. */
  function run(group: string, height: number): RunSummary[] {
    return [0, 1, 2].map((seed) =>
      aRun(`${group}_s${seed}`, {
        ...{ state: 'done', attempt: 1, progress: 1, endedAt: 1, parameters: { group, seed } },
        metrics: { loss: seed === 2 ? null : height / 4, accuracy: 0.5 },
        spark: [4, 3, 2, 1],
      }),
    );
  }

  function readers(runs: readonly RunSummary[]): Pick<RunFilesPort, 'metrics'> {
    const metrics = (directory: string): MetricReader => {
      const { name, parameters } = runs.find((one) => one.directory === directory)!;
      const height = (name.startsWith('A') ? 4 : 2) + Number(parameters['seed']) / 4;
      const loss = [1, 0.75, 0.5, name.endsWith('s2') ? NaN : 0.25].map((part) => part * height);
      return {
        refresh: () => false,
        keys: () => ['loss', 'accuracy'],
        series: (key, x) => ({
          x: Float64Array.from([0, 1, 2, 3], (step) => (x === 'episodes' ? 10 * step : step)),
          y: Float64Array.from(key === 'loss' ? loss : [0, 1, 1, 0.5]),
        }),
      };
    };
    return { metrics };
  }
});
