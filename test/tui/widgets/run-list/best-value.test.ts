import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowStore } from '../../../../src/tui/app/window-store.js';
import { bestOf } from '../../../../src/tui/model/tally.js';
import { sorted } from '../../../../src/tui/model/tree/tree-grower.js';
import { initialColumns, sortWords, valueColumns, withValue } from '../../../../src/tui/state/list-choice.js';
import type { RunSummary } from '../../../../src/tui/state/port.js';
import { listHeading } from '../../../../src/tui/widgets/run-list/list-pane.js';
import { listLayout } from '../../../../src/tui/widgets/run-list/list-columns.js';
import { plainText } from '../../../../src/tui/surface/span.js';
import { varyingParametersOf } from '../../../../src/tui/model/varying-parameters.js';
import { aWindow, screenText } from '../../frames.js';
import { keysOf } from '../../situations.js';
import { aRun, aSweep, memorySweep, SimulatedFleet } from '../../simulated-fleet.js';

type Value = number | null;

/** A run whose loss was best at `best` and is now at `last`; null: no number. */
function measured(name: string, best: Value, last: Value, goal: 'minimize' | 'maximize' = 'minimize'): RunSummary {
  const parameters = { lr: name[0]!, seed: Number(name.at(-1)) };
  const told = { metrics: { 'eval/loss': last }, best: { metric: 'eval/loss', goal, value: best } };
  return aRun(name, { state: 'done', progress: 1, parameters, ...told });
}

const waiting = aRun('B_s2', { best: { metric: 'eval/loss', goal: 'minimize', value: null } });
const runs = [
  ...[measured('A_s0', 0.25, 0.5), measured('A_s1', 0.75, 4), measured('A_s2', null, null)],
  ...[measured('B_s0', 0.125, null), measured('B_s1', 0.125, 1), waiting],
  aRun('C_s0', { state: 'done', progress: 1, metrics: { 'eval/loss': 2 } }),
];

describe('the best value of a run', () => {
  it('is NaN where all it has written is none, and nothing where it has written nothing or has no objective', () => {
    expect([...runs, aRun('D')].map(bestOf)).toEqual([
      ...[0.25, 0.75, NaN, 0.125, 0.125, undefined, undefined, undefined],
    ]);
  });

  it.each<['minimize' | 'maximize', string]>([
    ['minimize', 'A_s1 A_s2 A_s0 A_s4 A_s3'],
    ['maximize', 'A_s0 A_s2 A_s1 A_s4 A_s3'],
  ])('orders runs, the best first as the objective has it: %s', (goal, order) => {
    const values = [3, 1, 2, null];
    const some = [
      ...values.map((value, seed) => measured(`A_s${seed}`, value, value, goal)),
      measured('A_s4', 4, null, goal),
    ];
    const names = sorted(some.slice(0, 4), { by: 'best', isReversed: false }, null, 0).map(({ name }) => name);
    expect(names).toEqual(order.split(' ').filter((name) => name !== 'A_s4'));
    const reversed = sorted(some.slice(0, 4), { by: 'best', isReversed: true }, null, 0).map(({ name }) => name);
    expect(reversed).toEqual([...names.slice(0, 3).reverse(), 'A_s3']);
    expect(sortWords({ by: 'best', isReversed: true }, 'loss')).toBe('best value of the objective, worst first');
  });
});

describe('the column of best values', () => {
  const varyingParameters = () => varyingParametersOf([]);
  const headingOf = (objective: string | null, isSorted = false) => {
    const layout = listLayout(60, { columns: ['best'], metric: 'x', objective, longest: 18, varyingParameters });
    const sort = { by: isSorted ? 'best' : 'name', isReversed: false } as const;
    return plainText(listHeading(layout, sort, null))
      .trim()
      .split(/ {2,}/)
      .at(-1);
  };

  it('says of which metric it is, also where it has the arrow or the name is long', () => {
    expect(headingOf('val_loss')).toBe('val_loss best');
    expect(headingOf('val_loss', true)).toBe('val_loss best↓');
    expect(headingOf('eval/bits_known_long', true)).toBe('bits_know… best↓');
    expect(headingOf(null)).toBe('best');
  });

  it.each<['last' | 'best' | 'both', readonly string[] | null]>([
    ['last', null],
    ['best', ['progress', 'left', 'trend', 'best', 'slot', 'time']],
    ['both', ['progress', 'left', 'trend', 'metric', 'best', 'slot', 'time']],
  ])('takes the place of the last value, or stands beside it: %s', (value, columns) => {
    for (const before of ['last', 'best', 'both'] as const)
      expect(withValue(withValue(null, valueColumns(before)!), valueColumns(value)!)).toEqual(columns);
    expect(withValue(['time'], valueColumns(value)!)).toEqual(
      value === 'both' ? ['time', 'metric', 'best'] : ['time', columns?.[3] ?? 'metric'],
    );
  });

  it('is none of the usual ones: nothing is worked out for it unless it is asked for', () => {
    expect(initialColumns).not.toContain('best');
  });
});

describe('the list on the screen', () => {
  let store: WindowStore;
  let fleet: SimulatedFleet;
  beforeEach(() => {
    vi.useFakeTimers();
    const { files, now } = memorySweep();
    const groups = ['A', 'B', 'C'].map((name) => ({ name, title: null, needs: [] }));
    const objective = { name: 'eval/loss', goal: 'minimize' as const };
    fleet = new SimulatedFleet([aSweep({ groups, show: ['eval/loss'], objective })], runs);
    store = aWindow({ fleet, files, now });
    store.resize(80, 24);
  });
  afterEach(() => {
    store.close();
    vi.useRealTimers();
  });

  const after = (...keys: string[]): string => {
    keys.flatMap(keysOf).forEach((key) => store.press(key));
    const rows = screenText(store);
    return `\n${rows.slice(1, 14).join('\n')}\n${rows.filter((row) => /^ Sorted|^ Value/.test(row)).join('\n')}\n`;
  };

  it('shows last values until the best are asked for', () => {
    expect(after()).toMatchSnapshot();
  });

  it('shows the best values, their mean and deviation over a group, and orders by them', () => {
    expect(after(':', '"value best', 'enter', 's', 's')).toMatchSnapshot();
  });

  it('shows both, each with its deviation where there is room', () => {
    expect(after(':', '"value both', 'enter')).toMatchSnapshot();
  });

  it('goes back to last values, and so does an order by the best', () => {
    after(':', '"value best', 'enter', 's', 's');
    expect(store.model().ui.sort.by).toBe('best');
    after(':', '"value last', 'enter');
    expect(store.model().ui).toMatchObject({ columns: null, sort: { by: 'metric' }, note: { text: 'Value: last.' } });
    after(':', '"value best', 'enter');
    expect(store.model().ui.sort.by).toBe('best');
  });

  it('refuses where no run has an objective, and says what names one', () => {
    for (const run of runs) fleet.change(run.id, { best: undefined });
    fleet.publish();
    vi.advanceTimersByTime(5000);
    after(':', '"value best', 'enter');
    expect(store.model().ui).toMatchObject({ columns: null });
    expect(store.model().ui.note?.text).toContain('name it in the sweep file');
  });
});
