import { describe, expect, it } from 'vitest';
import type { MetricReader } from '../../../../src/tui/state/port.js';
import { seriesOver, xAxisOf, xChoicesOf } from '../../../../src/tui/widgets/chart/x-axis.js';

/** A run whose columns are given by row; the step is the number of the row. */
function reader(columns: Record<string, readonly number[]>): MetricReader {
  const known = new Map<string, { x: Float64Array; y: Float64Array }>();
  const empty = { x: new Float64Array(), y: new Float64Array() };
  const read = (key: string, xKey: string) => {
    const y = columns[key];
    if (y === undefined) return empty;
    const x = xKey === 'step' ? y.map((_, row) => row) : columns[xKey];
    return x === undefined ? empty : { x: Float64Array.from(x), y: Float64Array.from(y) };
  };
  return {
    refresh: () => false,
    keys: () => Object.keys(columns),
    series: (key, xKey = 'step') => {
      const name = `${key} ${xKey}`;
      known.set(name, known.get(name) ?? read(key, xKey));
      return known.get(name)!;
    },
  };
}

const loss = [3, 2, 1];
const noon = 1_767_614_400;

describe('the x axis', () => {
  it('is what the sweep says, and the steps of a run that has no such column', () => {
    const axis = xAxisOf(null, 'episodes', []);
    expect([...seriesOver(axis, reader({ loss, episodes: [4, 8, 12] }), 'loss').x]).toEqual([4, 8, 12]);
    expect([...seriesOver(axis, reader({ loss }), 'loss').x]).toEqual([0, 1, 2]);
  });

  it('leaves a run out that lacks the axis a person chose', () => {
    const axis = xAxisOf('tokens', 'episodes', []);
    expect(seriesOver(axis, reader({ loss, episodes: [4, 8, 12] }), 'loss').y).toHaveLength(0);
  });

  it.each<{ column: string; values: number[] }>([
    { column: '_timestamp', values: [noon, noon + 30, noon + 90] },
    { column: 'timestamp', values: [noon * 1000, (noon + 30) * 1000, (noon + 90) * 1000] },
    { column: '_runtime', values: [0, 30, 90] },
  ])('is the seconds since the beginning by $column', ({ column, values }) => {
    const run = reader({ loss, [column]: values });
    const axis = xAxisOf('relative', 'step', [run]);
    expect(axis.unit).toBe('seconds');
    expect([...seriesOver(axis, run, 'loss').x]).toEqual([0, 30, 90]);
    expect(seriesOver(axis, run, 'loss')).toBe(seriesOver(axis, run, 'loss'));
  });

  it('is the time of the day where rows tell it', () => {
    const run = reader({ loss, time: [noon * 1000, (noon + 30) * 1000, (noon + 90) * 1000] });
    const axis = xAxisOf('time', 'step', [run]);
    expect(axis.unit).toBe('clock');
    expect([...seriesOver(axis, run, 'loss').x]).toEqual([noon, noon + 30, noon + 90]);
  });
});

describe('what the x axis can be', () => {
  const run = reader({ loss, tokens: [10, 20, 30], constant: [1, 1, 1], _timestamp: [noon, noon + 1, noon + 2] });

  it('is offered the likely first: the usual, steps, time, what rises, then the others', () => {
    expect(xChoicesOf('episodes', [run]).map(({ label }) => label)).toEqual([
      ...['episodes', 'step', 'relative', 'time', 'tokens', '_timestamp', 'loss', 'constant'],
    ]);
  });

  it('offers steps once where they are the usual', () => {
    expect(xChoicesOf('step', [run]).filter(({ label }) => label === 'step')).toHaveLength(1);
  });

  it('says what is needed for an axis of time', () => {
    const refusals = (of: MetricReader) =>
      Object.fromEntries(xChoicesOf('step', [of]).map(({ label, refusal }) => [label, refusal]));
    const timeless = refusals(reader({ loss }));
    expect(timeless['relative']).toContain('a column _timestamp, time or _runtime is needed');
    expect(timeless['time']).toContain('in Unix seconds is needed');
    expect(timeless['loss']).toBeNull();
    const started = refusals(reader({ loss, _runtime: [0, 1, 2] }));
    expect(started['relative']).toBeNull();
    expect(started['time']).toContain('in Unix seconds is needed');
    expect(refusals(run)).toMatchObject({ relative: null, time: null });
  });
});
