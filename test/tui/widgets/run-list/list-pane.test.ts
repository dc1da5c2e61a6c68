import { describe, expect, it } from 'vitest';
import { edgeAt, listLayout, widened } from '../../../../src/tui/widgets/run-list/list-columns.js';
import { listHeading, sortAt } from '../../../../src/tui/widgets/run-list/list-pane.js';
import type { Sort } from '../../../../src/tui/state/list-choice.js';
import { varyingParametersOf } from '../../../../src/tui/model/varying-parameters.js';
import { lineWidth, plainText } from '../../../../src/tui/surface/span.js';

const varyingParameters = () => varyingParametersOf([]);
const wishes = { columns: null, metric: 'test/bits_known', longest: 18, varyingParameters };

describe('the heading of the list', () => {
  it.each<Sort['by']>(['name', 'state', 'metric', 'progress', 'left', 'slot', 'time', 'parameter N', 'exit'])(
    'shows the arrow of the order by %s at every width',
    (by) => {
      for (let width = 40; width <= 220; width += 7) {
        const line = listHeading(listLayout(width, wishes), { by, isReversed: true }, null);
        expect(plainText(line)).toMatch(/↑/);
        expect(lineWidth(line)).toBe(width);
      }
    },
  );

  it('has no arrow in the order of the file, and the place of the selection where rows are out of sight', () => {
    const layout = listLayout(80, wishes);
    const sort = { by: 'file order', isReversed: false } as const;
    expect(plainText(listHeading(layout, sort, null))).not.toMatch(/[↑↓]/);
    expect(plainText(listHeading(layout, sort, { at: 1234, of: 5000 }))).toContain(' 1,234/5,000 progress');
  });

  it('is clicked where a word stands to order by it', () => {
    const layout = listLayout(80, wishes);
    const text = plainText(listHeading(layout, { by: 'file order', isReversed: false }, null));
    const at = (word: string) => sortAt(layout, text.indexOf(word));
    expect(['run', 'progress', 'left', 'trend', 'bits_known', 'slot', 'time'].map(at)).toEqual([
      ...['name', 'progress', 'left', null, 'metric', 'slot', 'time'],
    ]);
    expect(sortAt(layout, 80)).toBeNull();
  });

  it('has left edges of columns that are dragged: the names give or get the width, the other columns stay', () => {
    const before = listLayout(120, wishes);
    const heading = plainText(listHeading(before, { by: 'file order', isReversed: false }, null));
    const edge = heading.indexOf('progress') - 1;
    expect([edgeAt(before, edge), edgeAt(before, edge + 1), sortAt(before, edge)]).toEqual(['progress', null, null]);
    for (const by of [3, -3]) {
      const after = listLayout(120, { ...wishes, widths: widened(before, 'progress', by) });
      expect(after.name).toBe(before.name - by);
      expect(after.columns.map(({ id, width }) => [id, width])).toEqual(
        before.columns.map(({ id, width }) => [id, id === 'progress' ? width + by : width]),
      );
      expect(edgeAt(after, edge - by)).toBe('progress');
    }
  });

  it('has columns that neither vanish nor take the room of the names', () => {
    const before = listLayout(120, wishes);
    const widest = listLayout(120, { ...wishes, widths: widened(before, 'metric', 500) });
    expect([widest.columns.length, widest.name >= 18]).toEqual([before.columns.length, true]);
    expect(widened(before, 'metric', -500)['metric']).toBe(4);
  });
});
