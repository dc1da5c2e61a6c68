import { describe, expect, it } from 'vitest';
import { timesAsMuch } from '../times-as-much.js';
import { alikeMetrics } from '../../src/analysis/alike-metrics.js';
import { seededRandom } from '../../src/analysis/parameters/seeded-random.js';

const steps = Array.from({ length: 200 }, (_, step) => step);
const curve = (y: readonly number[], x = y.map((_, index) => index)) => ({ x, y });
const random = seededRandom(7);
const noise = steps.map(() => random() - 0.5);
const loss = steps.map((step) => 3 * Math.exp(-step / 50) + 0.1 * noise[step]!);

function firstsOf(metrics: Record<string, readonly ReturnType<typeof curve>[]>): Record<string, string> {
  return Object.fromEntries(alikeMetrics(Object.keys(metrics), (metric) => metrics[metric]!));
}

describe('metrics that show the same', () => {
  it.each<{ what: string; one: readonly number[]; other: readonly number[]; isAlike: boolean }>([
    { what: 'the same twice', one: loss, other: loss, isAlike: true },
    { what: 'less than a percent apart', one: loss, other: loss.map((y, at) => y + 0.01 * noise[at]!), isAlike: true },
    { what: 'several percent apart', one: loss, other: loss.map((y, at) => y + 0.2 * noise[at]!), isAlike: false },
    { what: 'one the multiple of the other', one: loss, other: loss.map((y) => 1000 * y), isAlike: true },
    { what: 'a reward and the entropy that falls as it rises', one: loss, other: loss.map((y) => 1 - y / 4), isAlike: false }, // prettier-ignore
    { what: 'counters', one: steps, other: steps.map((step) => 64 * step + 64), isAlike: true },
    { what: 'a curve and its logarithm', one: loss, other: loss.map((y) => Math.log(y + 0.2)), isAlike: false },
    { what: 'a curve and its square', one: loss, other: loss.map((y) => y * y), isAlike: false },
    { what: 'equal constants', one: steps.map(() => 0.1), other: steps.map(() => 0.1), isAlike: true },
    { what: 'constants that differ', one: steps.map(() => 0.1), other: steps.map(() => 0.2), isAlike: false },
    { what: 'a constant and a curve', one: steps.map(() => 0.1), other: loss, isAlike: false },
    {
      what: 'one spike in both, and nothing else in common',
      one: steps.map((step) => (step === 199 ? 1e20 : loss[step]!)),
      other: steps.map((step) => (step === 199 ? 3e20 : noise[step]!)),
      isAlike: false,
    },
    { what: 'huge values', one: loss.map((y) => y * 1e250), other: loss.map((y) => y * 1e-250), isAlike: true },
    { what: 'too few points', one: [1, 2, 3], other: [5, 7, 9], isAlike: false },
    { what: 'too few points, but the same', one: [0, 0], other: [0, 0], isAlike: true },
    { what: 'NaN at other places', one: loss, other: loss.map((y, at) => (at === 199 ? NaN : y)), isAlike: false },
    { what: 'NaN at the same', one: [NaN, ...loss], other: [NaN, ...loss], isAlike: true },
    { what: 'nothing at all', one: [], other: [], isAlike: false },
  ])('$what: $isAlike', ({ one, other, isAlike }) => {
    expect(firstsOf({ one: [curve(one)], other: [curve(other)] })).toEqual({
      one: 'one',
      other: isAlike ? 'one' : 'other',
    });
  });

  it('are alike in all runs by the same rule', () => {
    const halved = loss.map((y) => y / 2);
    expect(firstsOf({ a: [curve(loss), curve(loss)], b: [curve(halved), curve(halved)] })).toMatchObject({ b: 'a' });
    const doubled = loss.map((y) => 2 * y);
    expect(firstsOf({ a: [curve(loss), curve(loss)], b: [curve(halved), curve(doubled)] })).toMatchObject({ b: 'b' });
    expect(firstsOf({ a: [curve(loss), curve(loss)], b: [curve(loss), curve(noise)] })).toMatchObject({ b: 'b' });
  });

  it('were measured at the same places', () => {
    const half = steps.filter((step) => step % 2 === 0);
    expect(
      firstsOf({
        a: [curve(loss)],
        b: [
          curve(
            half.map((step) => loss[step]!),
            half,
          ),
        ],
      }),
    ).toMatchObject({ b: 'b' });
  });

  it('are told by the first of them, and never across kinds', () => {
    const all: Record<string, readonly number[]> = { reward: steps, step: steps, episodes: steps, loss, error: loss };
    const found = alikeMetrics(
      Object.keys(all),
      (metric) => [curve(all[metric]!)],
      (metric) => ['step', 'episodes'].includes(metric),
    );
    expect(Object.fromEntries(found)).toEqual({
      ...{ reward: 'reward', step: 'step', episodes: 'step' },
      ...{ loss: 'loss', error: 'loss' },
    });
  });

  it('are found among hundreds by asking once for each, and at the cost of one product a pair', () => {
    const names = Array.from({ length: 400 }, (_, at) => `m${at}`);
    const curves = new Map(names.map((name) => [name, [curve(steps.map(() => random()))]]));
    const asked: string[] = [];
    const alike = () => alikeMetrics(names, (name) => (asked.push(name), curves.get(name)!));
    expect(new Set(alike().values()).size).toBe(400);
    expect(asked).toEqual(names);
    const values = names.map((name) => Float64Array.from(curves.get(name)![0]!.y.slice(0, 64)));
    const products = () =>
      values.map((one, at) =>
        values.slice(0, at).map((other) => one.reduce((sum, value, index) => sum + value * other[index]!, 0)),
      );
    expect(timesAsMuch(alike, products)).toBeLessThan(5);
  });
});
