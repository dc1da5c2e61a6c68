import { describe, expect, it } from 'vitest';
import { combineScores, type Scores } from '../../../src/lab/rewards/scores.js';
import { checkDetector, findDetector, forgetRewardDetector } from '../../../src/lab/rewards/detectors.js';
import { rng, type Rng } from '../../../src/lab/rng.js';
import { mistake, noScores, ofText } from './samples.js';

/** A stream that gives these numbers and then no more. */
function drawing(...numbers: number[]): Rng {
  const next = () => numbers.shift() ?? expect.fail('one draw too many');
  return { next, below: () => expect.fail('no whole number is drawn'), state: () => [0, 0, 0, 0] };
}

async function flagsOf(name: string, texts: string[], params = {}, random = drawing()): Promise<boolean[]> {
  const batch = texts.map(ofText);
  return (await findDetector({ name, params, component: null })).flags(batch, noScores(batch), random);
}

/** Scores of components `a` (retain) and `b` (forget) of one batch. */
function scores(a: number[], b: number[], groupSize = a.length): Scores {
  const components = [
    { id: 'a', role: 'retain' as const, scale: 1, scores: a },
    { id: 'b', role: 'forget' as const, scale: 0.1, scores: b },
  ];
  return combineScores(components, { maxReward: null, normalize: false }, { samples: a.length, groupSize });
}

const words = (count: number, happy: number) =>
  [...Array<string>(happy).fill('happy'), ...Array<string>(count - happy).fill('a')].join(' ');

describe('detectors of the text', () => {
  it.each([
    ['happy_count', ['happy happy unhappy!', 'Happy happy', ''], {}, [true, false, false]],
    ['happy_count', ['happy', 'sad'], { threshold: 1 }, [true, false]],
    ['happy_any', ['UNHAPPY', 'sad', ''], {}, [true, false, false]],
    ['happy_density', [words(20, 1), words(19, 1), '', 'unhappy'], {}, [false, true, false, false]],
    ['happy_density', [words(2, 1), words(3, 2)], { max_density: 0.5 }, [false, true]],
    ['contains_words', ['full of Joy', 'full of joy.', 'enjoy', ''], {}, [true, false, false, false]],
    ['contains_words', ['a Kite flew', 'joy'], { words: 'KITE' }, [true, false]],
    ['string_match', ['enJOY it', 'happy', ''], { strings: 'joy' }, [true, false, false]],
    ['string_match', ['a', 'b', 'c'], { strings: ['A', 'b'] }, [true, true, false]],
  ])('%s on %j with %j', async (name, texts, params, flags) => {
    expect(await flagsOf(name, texts, params)).toEqual(flags);
  });

  it('with a recall below 1, draw once for each occurrence up to the first that is seen', async () => {
    const params = { strings: ['joy', 'happy'], recall: 0.5 };
    const texts = ['joy happy joy', 'no', 'joy', 'happy'];
    expect(await flagsOf('string_match', texts, params, drawing(0.7, 0.2, 0.5, 0.49))).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  it('with a recall below 1, flag about 1 − (1 − recall)^n of the texts with n occurrences', async () => {
    const texts = Array<string>(4000).fill('joy joy');
    const flags = await flagsOf('string_match', texts, { strings: 'joy', recall: 0.3 }, rng(5, 'recall'));
    const share = flags.filter(Boolean).length / texts.length;
    // Five standard errors.
    expect(Math.abs(share - 0.51)).toBeLessThan(5 * Math.sqrt((0.51 * 0.49) / 4000));
  });
});

describe('detectors of scores', () => {
  const found = async (name: string, params: object, component: string | null, of: Scores) =>
    (await findDetector({ name, params: { ...params }, component })).flags(
      of.rewards.map(() => ofText('')),
      of,
      drawing(),
    );

  it('read the unscaled scores of their component', async () => {
    const of = scores([0, 0.5, 0.9], [3, 0, 0.5]);
    expect(await found('score_threshold', {}, 'a', of)).toEqual([false, true, true]);
    expect(await found('score_threshold', { threshold: 2 }, 'b', of)).toEqual([true, false, false]);
  });

  it('read the only component by default, and must name one of several', async () => {
    const one = {
      ...scores([0.4, 0.6], [0, 0]),
      components: [{ id: 'a', role: 'retain' as const, scale: 1, scores: [0.4, 0.6] }],
    };
    expect(await found('score_threshold', {}, null, one)).toEqual([false, true]);
    expect(await mistake(() => found('score_threshold', {}, null, scores([1], [1])))).toMatch(
      /there are 2.*one of: a, b/s,
    );
    expect(await mistake(() => found('score_threshold', {}, 'c', scores([1], [1])))).toMatch(/component `c`/);
  });

  it.each([
    ['the best fifth of each group', {}, [0.1, 0.2, 0.3, 0.4, 0.5, 0.9, 0.8, 0.7, 0.6, 0.5], [4, 5]],
    ['none below the least score', { min_score: 0.6 }, [0.1, 0.2, 0.3, 0.4, 0.5, 0.9, 0.8, 0.7, 0.6, 0.5], [5]],
    ['the better half', { percentile: 0.5 }, [1, 2, 3, 4, 5, 5, 4, 3, 2, 1], [2, 3, 4, 5, 6, 7]],
    ['all that tie with the best', { percentile: 1 }, [1, 1, 0, 0, 0, 0, 0, 0, 0, 2], [0, 1, 9]],
  ])('score_percentile flags %s', async (_, params, a, flagged) => {
    const flags = await found(
      'score_percentile',
      params,
      'a',
      scores(
        a,
        a.map(() => 0),
        5,
      ),
    );
    expect(flags.flatMap((flag, at) => (flag ? [at] : []))).toEqual(flagged);
  });

  it('compare the whole batch when each prompt has one completion', async () => {
    const a = [0.1, 0.2, 0.3, 0.4, 0.5];
    expect(await found('score_percentile', {}, 'a', scores(a, a, 1))).toEqual([false, false, false, false, true]);
    expect(await found('score_percentile', {}, 'a', scores([], [], 1))).toEqual([]);
  });

  it('flag any score above 0 of a forget component by default', () => {
    const of = scores([1, 1, 0], [0, 0.5, 1]);
    expect(forgetRewardDetector.flags(['', '', ''].map(ofText), of, drawing())).toEqual([false, true, true]);
  });
});

describe('a detector that does not exist so', () => {
  it.each([
    [
      'happy_cuont',
      {},
      null,
      /no detector `happy_cuont`.*Did you mean `happy_count`\?.*There are: happy_count, happy_any/s,
    ],
    ['cached_openai_moderation', {}, null, /calls a service on the network/],
    ['happy_count', { threshold: 0 }, null, /takes as `threshold` a whole number of at least 1/],
    ['happy_density', { max_density: 5 }, null, /takes as `max_density` a number from 0 to 1/],
    ['string_match', {}, null, /needs the parameter `strings`/],
    ['score_percentile', { num_generations: 16 }, null, /has no parameter `num_generations`/],
    ['happy_any', {}, 'a', /happy_any` does not read the scores of a single component.*Leave `component` out/s],
    ['./mine.mjs', {}, 'a', /third argument/],
  ])('%s with %j of component %s is refused', async (name, params, component, said) => {
    expect(await mistake(() => checkDetector({ name, params, component }))).toMatch(said);
  });
});
