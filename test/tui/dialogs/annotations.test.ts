import { describe, expect, it } from 'vitest';
import { paletteView } from '../../../src/tui/dialogs/palette/palette-view.js';
import { initialUi } from '../../../src/tui/state/ui-state.js';
import { aSituation } from '../situations.js';
import { play, runs } from './play.js';

const order = (from: number, ...keys: string[]) => play(from, keys).order;
const ids = (...indexes: number[]) => indexes.map((index) => runs[index]!.id);

describe('what a person notes in the window', () => {
  it.each<[string, number, string[], object]>([
    ['stars the selected run', 1, ['B'], { ids: ids(0), change: { starred: true } }],
    ['stars a group', 0, ['B'], { ids: ids(0, 1), change: { starred: true } }],
    [
      'stars the marked runs',
      4,
      ['space', 'home', 'down', 'space', 'B'],
      { ids: ids(0, 2), change: { starred: true } },
    ],
    ['unstars by command', 1, [':', '"unstar', 'enter'], { ids: ids(0), change: { starred: false } }],
    [
      'tags the runs of a query',
      1,
      [':', '"tag +good -bad N=16', 'enter'],
      { ids: ids(0, 1), change: { add: ['good'], remove: ['bad'] } },
    ],
    ['writes a note', 2, [':', '"note lr +too high', 'enter'], { ids: ids(1), change: { note: 'lr +too high' } }],
    ['removes notes', 2, [':', '"remove-note all', 'enter'], { ids: ids(0, 1, 2), change: { note: null } }],
  ])('%s', (_, from, keys, expected) => {
    expect(order(from, ...keys)).toMatchObject({ type: 'annotate', ...expected });
  });

  it('takes the star away where all have one', () => {
    const starred = runs.map((run) => ({ ...run, annotation: { starred: true, tags: [], note: null } }));
    const at = aSituation(starred, initialUi);
    expect(play(1, ['B'], { rows: at.rows, runs: starred }).order).toMatchObject({ change: { starred: false } });
  });

  it.each<[string, RegExp]>([
    ['tag ', /which tags, for example \+good -bad/],
    ['tag +', /is not a tag: it is empty/],
    ['tag +a,b', /one word/],
    ['tag +a nothing', /No run matches nothing/],
    ['note ', /the text\. For 1 run \(the selected one\); none yet/],
  ])('is not done yet, and says why: %s', (text, said) => {
    const ui = { ...initialUi, selected: runs[0]!.id };
    const view = paletteView({ text, at: text.length }, 0, ui, { ...aSituation(runs, ui), index: 1 });
    expect(order(1, ':', `"${text}`, 'enter')).toBeUndefined();
    expect(view.reading?.said).toMatch(said);
  });
});
