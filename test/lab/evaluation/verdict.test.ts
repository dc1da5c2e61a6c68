import { describe, expect, it } from 'vitest';
import { collapseOf } from '../../../src/lab/evaluation/collapse.js';
import { diversityOf } from '../../../src/lab/evaluation/diversity.js';
import { rewardHistoryOf, verdictOf } from '../../../src/lab/evaluation/verdict.js';
import { questions, varied } from './story-samples.js';

const logged = (...rewards: number[]) => rewards.map((reward, at) => ({ step: 10 * (at + 1), reward }));
const good = rewardHistoryOf(logged(0.1, 0.9, 0.95, 0.95, 0.95, 0.95));
const judge = (texts: readonly string[], history = good, unmeasured: string | null = null) =>
  verdictOf(history, diversityOf(texts), collapseOf(texts).flags, unmeasured);

describe('the reward history', () => {
  it('averages the last five entries, and lists the last ten', () => {
    const history = rewardHistoryOf(logged(0, 0, 0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.91234567, 0.92, 0.93, 0.9))!;
    expect(history).toMatchObject({ finalAverage: 0.9125, finalMax: 0.93, stableAbove09: true });
    expect(history.last.map(({ step }) => step)).toEqual([30, 40, 50, 60, 70, 80, 90, 100, 110, 120]);
    expect(history.last[6]).toEqual({ step: 90, reward: 0.9123 });
  });

  it('averages fewer entries when fewer were logged, and is null without any', () => {
    expect(rewardHistoryOf(logged(0.5, 1))).toMatchObject({ finalAverage: 0.75, finalMax: 1, stableAbove09: false });
    expect(rewardHistoryOf([])).toBe(null);
  });

  it('is stable only if all of the last five rewards are at least 0.9, and not NaN', () => {
    const stable = (...rewards: number[]) => rewardHistoryOf(logged(...rewards))!.stableAbove09;
    expect(stable(0.1, 0.9, 0.9, 0.9, 0.9, 0.9)).toBe(true);
    expect(stable(0.95, 0.8999, 0.95, 0.95, 0.95)).toBe(false);
    expect(stable(0.95, 0.95, Number.NaN, 0.95, 0.95)).toBe(false);
  });
});

describe('the verdict', () => {
  it('is a success when the reward is stable and the texts are varied', () => {
    expect(judge(varied)).toEqual({ verdict: 'SUCCESS', reasons: [], upstream: 'SUCCESS' });
  });

  it('fails a collapse onto templates that small-rl’s rule would accept', () => {
    const { verdict, reasons, upstream } = judge(questions);
    expect([verdict, upstream]).toEqual(['FAIL', 'SUCCESS']);
    expect(reasons.join('\n')).toMatch(/^template: .*"is it"/m);
  });

  it('fails texts that have drifted, which small-rl’s rule accepts', () => {
    const drifted = [{ kind: 'drift', reason: 'KL 1.00 nats a token' }];
    expect(verdictOf(good, diversityOf(varied), drifted, null)).toEqual({
      ...{ verdict: 'FAIL', reasons: ['drift: KL 1.00 nats a token'], upstream: 'SUCCESS' },
    });
  });

  it('is undecided when only the unknown base stands against a success', () => {
    expect(judge(varied, good, 'the base is gone')).toEqual({
      ...{ verdict: 'UNDECIDED', reasons: ['drift was not measured: the base is gone'], upstream: 'SUCCESS' },
    });
    expect(judge(varied, null, 'the base is gone')).toEqual({
      ...{ verdict: 'FAIL', reasons: ['no reward was logged'], upstream: 'FAIL' },
    });
  });

  it('lists all reasons for a failure in words', () => {
    const same = Array<string>(8).fill('a b');
    expect(judge(same, rewardHistoryOf(logged(0.5, 0.7))).reasons.slice(0, 2)).toEqual([
      'the reward is not stable at 0.9 (0.6 on average at the end)',
      'the texts are degenerate (1 of 8 are distinct, Jaccard 1)',
    ]);
    expect(judge(varied, null)).toEqual({ verdict: 'FAIL', reasons: ['no reward was logged'], upstream: 'FAIL' });
  });
});
