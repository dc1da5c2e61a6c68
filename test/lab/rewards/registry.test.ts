import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Completion } from '../../../src/lab/rewards/completion.js';
import { findReward, rewardNames } from '../../../src/lab/rewards/registry.js';
import { endOfText, mistake, ofIds, ofText, vocabulary, vocabularyOf } from './samples.js';

async function scoreOf(name: string, completion: Completion, params: Record<string, unknown> = {}): Promise<number> {
  const reward = await findReward(name, params, vocabulary);
  return (await reward.score([completion]))[0]!;
}

describe('rewards of sentences in tokens', () => {
  it.each([
    ['5. 10? 7!', 1 / 3, 1 / 3, 0.466667],
    ['5.', 1, 0, 0],
    ['10', 0, 0, 0],
    ['. ? !', 0, 0, 0],
    ['10. 4', 0, 1, 1],
    ['10. EOS', 0, 1, 1],
    ['9. 12. 15.', 0, 0, 0.466667],
    ['5. ! . 10? !', 0.5, 0.5, 0.5],
    ['', 0, 0, 0],
  ])('%j has the scores (sentence_length_5, _10, _10_smooth) %f, %f, %f', async (written, five, ten, smooth) => {
    expect(await scoreOf('sentence_length_5', ofIds(written))).toBeCloseTo(five, 6);
    expect(await scoreOf('sentence_length_10', ofIds(written))).toBeCloseTo(ten, 6);
    expect(await scoreOf('sentence_length_10_smooth', ofIds(written))).toBeCloseTo(smooth, 6);
  });

  it.each([
    ['5.', 1],
    ['4! 6?', 0.8],
    ['3. 7.', 0.6],
    ['10. 5.', 0.5],
    ['1.', 0.2],
  ])('%j has the score %f for a target of five tokens', async (written, smooth) => {
    expect(await scoreOf('sentence_length_5_smooth', ofIds(written))).toBeCloseTo(smooth, 9);
  });

  it('count sentences of the configured length, five by default', async () => {
    expect(await scoreOf('sentence_length', ofIds('7. 5! 7?'), { target: 7 })).toBeCloseTo(2 / 3, 9);
    expect(await scoreOf('sentence_length', ofIds('7. 5! 7?'))).toBeCloseTo(1 / 3, 9);
  });

  it.each([
    ['happy happy unhappy!', 0.633333, 0.766667],
    ['happy '.repeat(7), 0.833333, 0.966667],
  ])('%j adds a tenth for each "happy", up to five', async (text, five, ten) => {
    const completion = ofIds('5. 10? 7!', text);
    expect(await scoreOf('sentence_length_5_with_happy', completion)).toBeCloseTo(five, 6);
    expect(await scoreOf('sentence_length_10_smooth_with_happy', completion)).toBeCloseTo(ten, 6);
    expect(await scoreOf('sentence_length_5_with_happy', ofIds('5.', text))).toBe(1);
  });

  it.each([
    ['a day of Joy', {}, 1.3],
    ['she was happy, yes', {}, 1],
    ['she was happy', { bonus: 0.5 }, 1.5],
    ['a red Kite', { bonus_words: ['KITE'] }, 1.3],
    ['a day of joy', { bonus_words: 'kite' }, 1],
  ])('%j with %j has the score %f with the bonus; scores above 1 are kept', async (text, params, worth) => {
    expect(await scoreOf('sentence_length_10_with_bonus', ofIds('10.', text), params)).toBeCloseTo(worth, 9);
  });

  it('end sentences at those of . ? ! that the vocabulary has', async () => {
    const other = vocabularyOf({ '.': 7, '?': 8 });
    const reward = await findReward('sentence_length', { target: 2 }, other);
    const score = (...ids: number[]) => reward.score([{ prompt: '', text: '', ids }]);
    expect(await score(20, 21, 7)).toEqual([1]);
    expect(await score(20, 21, 15, 7)).toEqual([0]);
    expect(await score(20, 21, 8, 20, 21, 2, 7)).toEqual([0.5]);
  });

  it('are refused for a vocabulary without a sentence end; other rewards are not', async () => {
    const none = vocabularyOf({ a: 0 });
    expect(await mistake(() => findReward('sentence_length_10', {}, none))).toMatch(
      /no token `\.`.*num_words_per_sent/s,
    );
    expect((await findReward('happy_count', {}, none)).name).toBe('happy_count');
  });
});

describe('rewards of the text', () => {
  it.each([
    ['happy happy unhappy!', { happy_binary: 1, happy_exp: 0.875, happy_count: 3, happy_count_max_5: 0.6 }],
    ['happy '.repeat(7), { happy_binary: 1, happy_exp: 0.9921875, happy_count: 7, happy_count_max_5: 1 }],
    ['HaPPy', { happy_binary: 1, happy_exp: 0.5, happy_count: 1, happy_count_max_5: 0.2 }],
    ['a sad day', { happy_binary: 0, happy_exp: 0, happy_count: 0, happy_count_max_5: 0 }],
    ['', { happy_binary: 0, happy_exp: 0, happy_count: 0, happy_count_max_5: 0 }],
  ])('%j has its scores for "happy"', async (text, worths) => {
    for (const [name, worth] of Object.entries(worths)) expect(await scoreOf(name, ofText(text))).toBeCloseTo(worth, 9);
    const exp = await scoreOf('happy_exp', ofText(text));
    expect(await scoreOf('happy_count_unbounded', ofText(text))).toBe(exp);
  });

  it.each([
    ['She ran home . Then she slept !', { n: 3 }, 1],
    ["don't do it. yes", { n: 3 }, (1 + 0.6) / 2],
    ['a b c d e f g h', {}, 1],
    ['1 2 3. !?', {}, 0],
    ['', {}, 0],
  ])('%j with %j has the score %f for its words per sentence', async (text, params, worth) => {
    expect(await scoreOf('num_words_per_sentence', ofText(text), params)).toBeCloseTo(worth, 9);
  });

  it.each([
    ['Joy and joy, happy', { strings: ['happy', 'JOY'] }, 3],
    ['Joy and joy, happy', { strings: ['happy', 'joy'], max_count: 2 }, 2],
    ['aaaa', { strings: 'aa' }, 2],
    ['happiness', { strings: ['happi', 'happiness'] }, 2],
  ])('%j with %j counts %i', async (text, params, count) => {
    expect(await scoreOf('string_count', ofText(text), params)).toBe(count);
  });
});

describe('every reward', () => {
  const bounds: Record<string, number> = {
    happy_count: Infinity,
    string_count: Infinity,
    sentence_length_10_with_bonus: 1.3,
  };
  const paramsOf = (name: string) => (name === 'string_count' ? { strings: ['happy'] } : {});
  const sentences = fc.array(fc.record({ length: fc.nat({ max: 16 }), mark: fc.constantFrom('.', '?', '!') }), {
    maxLength: 6,
  });
  const words = fc.array(fc.constantFrom('happy', 'joy', 'unhappy', 'Happy', 'a', 'cat', 'ran'), { maxLength: 12 });
  const written = (all: readonly { length: number; mark: string }[]) =>
    all.map(({ length, mark }) => `${length}${mark}`);

  it.each(rewardNames)('%s lies between 0 and its maximum', async (name) => {
    const reward = await findReward(name, paramsOf(name), vocabulary);
    await fc.assert(
      fc.asyncProperty(sentences, words, async (all, said) => {
        const [score] = await reward.score([ofIds(written(all).join(' '), `${said.join(' ')}.`)]);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(bounds[name] ?? 1);
      }),
      { numRuns: 40 },
    );
  });

  it.each(rewardNames.filter((name) => name.startsWith('sentence_')))(
    '%s is the same with an unfinished end, and with its sentences in any order',
    async (name) => {
      const reward = await findReward(name, {}, vocabulary);
      await fc.assert(
        fc.asyncProperty(sentences, fc.nat({ max: 12 }), fc.boolean(), async (all, unfinished, isEnded) => {
          const whole = written(all);
          const tail = [...whole, String(unfinished), ...(isEnded ? ['EOS'] : [])];
          const forms = [whole, tail, whole.toReversed()].map((parts) => ofIds(parts.join(' '), 'a happy text'));
          const [score, ...others] = await reward.score(forms);
          for (const other of others) expect(other).toBeCloseTo(score!, 12);
        }),
        { numRuns: 40 },
      );
    },
  );

  it('returns one score for each completion in order, and none for none', async () => {
    const reward = await findReward('happy_count', {}, vocabulary);
    expect(await reward.score(['happy', '', 'happy happy'].map(ofText))).toEqual([1, 0, 2]);
    expect(await reward.score([])).toEqual([]);
  });

  it('counts an end-of-text token inside a sentence as one of its tokens', async () => {
    const reward = await findReward('sentence_length_5', {}, vocabulary);
    expect(await reward.score([{ prompt: '', text: '', ids: [100, 101, endOfText, 102, 103, 15] }])).toEqual([1]);
  });
});

describe('a name or parameters that do not exist', () => {
  it.each([
    ['hapy_binary', {}, /no reward `hapy_binary`.*Did you mean `happy_binary`\?.*There are: happy_binary, happy_exp/s],
    ['toString', {}, /no reward `toString`.*There are:/s],
    ['happy_binary', { n: 3 }, /has no parameter `n`.*takes no parameters/s],
    ['string_count', {}, /needs the parameter `strings`: a text or a list of texts.*It takes: strings \(/s],
    ['string_count', { strings: [] }, /takes as `strings` a text or a list.*was given \[\]/s],
    ['string_count', { strings: ['a', ''] }, /takes as `strings`/],
    ['string_count', { strings: 'a', max_cuont: 2 }, /no parameter `max_cuont`.*Did you mean `max_count`\?/s],
    ['sentence_length', { target: '8' }, /takes as `target` a whole number.*was given "8".*5 unless given/s],
    ['sentence_length', { target: 2.5 }, /takes as `target` a whole number/],
    ['num_words_per_sentence', { n: 0 }, /takes as `n` a whole number of at least 1/],
    ['sentence_length_10_with_bonus', { bonus: 'much' }, /takes as `bonus` a number/],
    ['openai_moderation', { category: 'x' }, /calls a service on the network/],
    ['api_reward', {}, /calls a service on the network/],
  ])('%s with %j is refused', async (name, params, said) => {
    expect(await mistake(() => findReward(name, params, vocabulary))).toMatch(said);
  });
});
