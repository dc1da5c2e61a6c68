import { describe, expect, it } from 'vitest';
import { ListMemory } from '../../../../src/tui/widgets/run-list/list-memory.js';
import { type ListLook, plainLook } from '../../../../src/tui/state/list-look.js';
import type { PreferencesPort, SweepPreferences } from '../../../../src/tui/state/preferences-port.js';
import { passingPreferences } from '../../../../src/tui/app/preferences.js';
import { initialUi } from '../../../../src/tui/state/ui-state.js';
import { aRun } from '../../simulated-fleet.js';

const runs = [aRun('A_1', { parameters: { N: 64 } }), aRun('B_1', { parameters: { N: 16 } })];

function memoryOf(kept: SweepPreferences, over: Partial<PreferencesPort> = {}) {
  const preferences = { ...passingPreferences(), ...over };
  void preferences.keepSweep('abcd', kept);
  const told: string[] = [];
  return { preferences, told, memory: new ListMemory(preferences, 'abcd', (problem) => told.push(problem)) };
}

const nothing: SweepPreferences = { views: [], last: null };
const byN: ListLook = { ...plainLook, grouping: [{ kind: 'parameter', key: 'N' }], columns: ['metric', 'parameter N'] };

describe('the list as the window was left', () => {
  it('comes back when the window opens again', () => {
    const { preferences, memory } = memoryOf(nothing);
    const left = { ...initialUi, ...byN, columns: ['metric', 'parameter N'] as const, filter: 'A' };
    memory.keepLook(left);
    const again = new ListMemory(preferences, 'abcd', () => undefined).restored(initialUi, runs, 0);
    expect(again).toMatchObject({ grouping: byN.grouping, columns: byN.columns, filter: 'A' });
  });

  it.each<{ what: string; last: Partial<ListLook>; restored: Partial<ListLook> }>([
    { what: 'a filter that would hide everything', last: { filter: 'zzz' }, restored: { filter: '' } },
    { what: 'a filter that is none any more', last: { filter: 'N>' }, restored: { filter: '' } },
    {
      what: 'a grouping by a parameter that is gone',
      last: { grouping: [{ kind: 'state' }, { kind: 'parameter', key: 'gone' }] },
      restored: { grouping: [{ kind: 'group' }] },
    },
    {
      what: 'the same level twice',
      last: { grouping: [{ kind: 'state' }, { kind: 'state' }] },
      restored: { grouping: [{ kind: 'group' }] },
    },
    {
      what: 'an order by a parameter that is gone',
      last: { sort: { by: 'parameter gone', isReversed: true } },
      restored: { sort: { by: 'file order', isReversed: false } },
    },
    {
      what: 'columns that are gone or unknown',
      last: { columns: ['time', 'parameter gone', 'a later one'] },
      restored: { columns: ['time'] },
    },
  ])('does not bring back $what', ({ last, restored }) => {
    const { memory } = memoryOf({ views: [], last: { ...plainLook, ...last } });
    expect(memory.restored(initialUi, runs, 0)).toMatchObject(restored);
  });

  it('is not kept where nothing has changed', () => {
    let kept = 0;
    const keepSweep = (): Promise<null> => {
      kept++;
      return Promise.resolve(null);
    };
    const memory = new ListMemory({ ...passingPreferences(), keepSweep }, 'abcd', () => undefined);
    memory.keepLook(initialUi);
    memory.keepViews(memory.restored(initialUi, runs, 0));
    expect(kept).toBe(0);
    memory.keepLook({ ...initialUi, filter: 'A' });
    expect(kept).toBe(1);
  });
});

describe('the views of a sweep', () => {
  it('are there in the next window of that sweep, and in no other', () => {
    const { preferences, memory } = memoryOf(nothing);
    memory.keepViews({ ...initialUi, views: [{ name: 'mine', ...byN }] });
    const viewsIn = (sweep: string | null) =>
      new ListMemory(preferences, sweep, () => undefined).restored(initialUi, runs, 0).views;
    expect(viewsIn('abcd')).toMatchObject([{ name: 'mine' }]);
    expect([viewsIn('other'), viewsIn(null)]).toEqual([[], []]);
  });

  it('that cannot be kept are told of', async () => {
    const { memory, told } = memoryOf(nothing, { keepSweep: () => Promise.resolve('the disk is full') });
    memory.keepViews({ ...initialUi, views: [{ name: 'mine', ...byN }] });
    await Promise.resolve();
    expect(told).toEqual(['the disk is full']);
  });
});
