import { describe, expect, it } from 'vitest';
import { relativeTime, wallTime } from '../../../../src/metrics/line.js';
import type { MetricReader } from '../../../../src/tui/state/port.js';
import { seriesOver, xAxisOf, xChoicesOf } from '../../../../src/tui/model/chart-data.js';

/** A run whose columns are given by row; the step is the number of the row. */
function reader(columns: Record<string, readonly number[]>, clock: MetricReader['clock'] = null): MetricReader {
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
    keys: () => Object.keys(columns).filter((key) => key !== wallTime && key !== relativeTime),
    clock,
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
    const axis = xAxisOf(null, 'episodes');
    expect([...seriesOver(axis, reader({ loss, episodes: [4, 8, 12] }), 'loss').x]).toEqual([4, 8, 12]);
    expect([...seriesOver(axis, reader({ loss }), 'loss').x]).toEqual([0, 1, 2]);
  });

  it('leaves a run out that lacks the axis a person chose', () => {
    const axis = xAxisOf('tokens', 'episodes');
    expect(seriesOver(axis, reader({ loss, episodes: [4, 8, 12] }), 'loss').y).toHaveLength(0);
  });

  it.each<{ column: string; values: number[] }>([
    { column: '_timestamp', values: [noon, noon + 30, noon + 90] },
    { column: 'timestamp', values: [noon * 1000, (noon + 30) * 1000, (noon + 90) * 1000] },
    { column: '_runtime', values: [0, 30, 90] },
  ])('is the seconds since the beginning by $column', ({ column, values }) => {
    const run = reader({ loss, [column]: values });
    const axis = xAxisOf('relative', 'step');
    expect(axis.unit).toBe('seconds');
    expect([...seriesOver(axis, run, 'loss').x]).toEqual([0, 30, 90]);
    expect(seriesOver(axis, run, 'loss')).toBe(seriesOver(axis, run, 'loss'));
  });

  it('is the time of the day where rows tell it', () => {
    const run = reader({ loss, time: [noon * 1000, (noon + 30) * 1000, (noon + 90) * 1000] });
    const axis = xAxisOf('time', 'step');
    expect(axis.unit).toBe('clock');
    expect([...seriesOver(axis, run, 'loss').x]).toEqual([noon, noon + 30, noon + 90]);
  });

  it.each<{ kind: 'relative' | 'time'; x: number[] }>([
    { kind: 'relative', x: [0, 30, 90] },
    { kind: 'time', x: [noon, noon + 30, noon + 90] },
  ])('is $kind by what the file says of each value, where no column does', ({ kind, x }) => {
    const run = reader({ loss, [wallTime]: [noon, noon + 30, noon + 90], [relativeTime]: [0, 30, 90] }, 'values');
    expect([...seriesOver(xAxisOf(kind, 'step'), run, 'loss').x]).toEqual(x);
  });

  it('leaves a run out of which nobody knows when its values were written', () => {
    expect(seriesOver(xAxisOf('relative', 'step'), reader({ loss, [relativeTime]: [0, 0, 0] }), 'loss').y).toHaveLength(
      0,
    );
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

  const timesOf = (of: MetricReader) => {
    const choices = new Map(xChoicesOf('step', [of]).map((choice) => [choice.label, choice]));
    return { relative: choices.get('relative')!, time: choices.get('time')! };
  };

  it('says why there is no axis of time where nothing is known', () => {
    const { relative, time } = timesOf(reader({ loss }));
    expect(relative).toMatchObject({ about: 'nothing says when values were written' });
    expect(relative.refusal).toContain('no column _timestamp, time or _runtime');
    expect(time.refusal).toContain('no column _timestamp or time in Unix seconds');
    expect(timesOf(reader({})).time.refusal).toBe('These runs have written no values yet.');
  });

  it.each<{ what: string; of: MetricReader; relative: string; time: string | null }>([
    {
      what: 'a column tells the time',
      of: run,
      relative: 'time since the run began',
      time: 'time of the day',
    },
    {
      what: 'the format does',
      of: reader({ loss }, 'values'),
      relative: 'time since the run began',
      time: 'time of the day',
    },
    {
      what: 'only the files do',
      of: reader({ loss }, 'files'),
      relative: 'time since the run began, from its files',
      time: 'time of the day, from its files',
    },
    {
      what: 'rows count from their start',
      of: reader({ loss, _runtime: [0, 1, 2] }),
      relative: 'time since the run began',
      time: null,
    },
  ])('offers time where $what', ({ of, relative, time }) => {
    const offered = timesOf(of);
    expect(offered.relative).toMatchObject({ about: relative, refusal: null });
    if (time === null) expect(offered.time.refusal).toContain('Nothing says when');
    else expect(offered.time).toMatchObject({ about: time, refusal: null });
  });
});
