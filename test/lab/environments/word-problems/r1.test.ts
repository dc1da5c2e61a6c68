import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Turn } from '../../../../src/lab/environments/environment.js';
import { openEnvironment } from '../../../../src/lab/environments/open-environment.js';
import { r1Parts } from '../../../../src/lab/environments/word-problems/r1.js';
import { characterTokenizer } from '../../../../src/lab/hugging-face/character-tokenizer.js';
import { rng } from '../../../../src/lab/rng.js';
import { tempDirectory } from '../../temp-directory.js';

const open = (environment: string, params: object) =>
  openEnvironment({ environment, environment_params: JSON.stringify(params) }, characterTokenizer);
const turn = (text: string): Turn => ({
  ...{ tokens: new Int32Array(1), logprobs: new Float32Array(1) },
  ...{ text, ended: 'stop' },
});
const taughtBy = (environment: Awaited<ReturnType<typeof open>>, index: number) => {
  const task = environment.task(index, rng(7, `task/${index}`));
  const { tokens, answerWeights } = environment.solution!(task)!;
  return { task, text: characterTokenizer.decodePlain(tokens.filter((_, at) => answerWeights[at] === 1)) };
};

describe('the template of R1', () => {
  it.each([
    ['3+4=7</think><answer> 7 </answer>', '7', true],
    ['3+4=7</think> \n<answer>7\n</answer>\n', '7', true],
    ['3+4=7<answer>7</answer>', '7', false],
    ['</think><answer>7</answer> indeed', '7', false],
    ['</think><answer>7</answer><answer>7</answer>', null, false],
    ['</think>7', null, false],
    ['</think><answer>7', null, false],
    ['', null, false],
  ])('%j answers %j', (text, answer, isFormed) => expect(r1Parts(text)).toEqual({ answer, isFormed }));

  it('rewards the right answer in the only block, and measures format and thought', async () => {
    const environment = await open('word_problems', { max: 9, steps: 1 });
    const task = environment.task(0, rng(0, 'task/0'));
    const { answer } = task.gold as { answer: number };
    const earned = async (text: string) => (await environment.respond(task, [turn(text)])).reward;
    const metrics = (correct: number, tag: number, tag_correct: number, think_len: number) => ({
      ...{ correct, tag, tag_correct, think_len },
    });
    expect(await earned(`abc</think><answer>${answer}.0</answer>`)).toEqual({
      total: 1,
      metrics: metrics(1, 1, 1, 3),
    });
    expect(await earned(`</think><answer>${answer + 1}</answer>`)).toEqual({ total: 0, metrics: metrics(0, 1, 1, 0) });
    expect(await earned(`<answer>${answer}</answer>`)).toEqual({ total: 1, metrics: metrics(1, 1, 0, 0) });
    expect(await earned(`a</think>${answer}`)).toEqual({ total: 0, metrics: metrics(0, 0, 0, 1) });
  });
});

describe('generated word problems', () => {
  it('depend on the random stream alone, and ask for the sum that their answer gives', async () => {
    const environment = await open('word_problems', { mistakes: 0 });
    for (let index = 0; index < 200; index++) {
      const { task, text } = taughtBy(environment, index);
      const { answer } = task.gold as { answer: number };
      expect(task.text).toMatch(/^Question: [A-Z][a-z]+ has \d+ [a-z]+(, [a-z]+ \d+)? and [a-z]+ \d+\. How many\?\nResponse: <think>$/); // prettier-ignore
      const [, a, sign, b, sum] = /(\d+)([+-])(\d+)=(\d+)<\/think>/.exec(text)!;
      expect(Number(a) + (sign === '+' ? 1 : -1) * Number(b)).toBe(Number(sum));
      expect([Number(sum), answer >= 0 && answer <= 20]).toEqual([answer, true]);
      expect((await environment.respond(task, [turn(text)])).reward.total).toBe(1);
      expect(taughtBy(environment, index).text).toBe(text);
    }
  });

  it('have the requested share of mistakes in the corpus, of two kinds', async () => {
    const environment = await open('word_problems', { mistakes: 0.5 });
    const rewards = Array.from({ length: 600 }, (_, index) => taughtBy(environment, index)).map(
      ({ task, text }) => environment.respond(task, [turn(text)]) as { reward: { metrics: Record<string, number> } },
    );
    const share = (name: string) => rewards.reduce((sum, { reward }) => sum + reward.metrics[name]!, 0) / 600;
    expect(Math.abs(share('correct') - 0.5)).toBeLessThan(0.07);
    expect(Math.abs(share('tag') - 0.75)).toBeLessThan(0.07);
  });
});

describe('problems of a file by the template of R1', () => {
  it('are read from rows of GSM8K and from whole texts', async () => {
    const path = join(tempDirectory(), 'problems.jsonl');
    const rows = [
      { question: 'Two and two?', answer: '2+2=<<2+2=4>>4\n#### 4' },
      { text: 'Half of one?\n<think>\nHalve it.\n</think>\n<answer>\n\\frac{1}{2}\n</answer>' },
    ];
    writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const environment = await open('gsm8k', { path, template: 'r1' });
    expect([environment.size, environment.task(1, rng(0, 'task')).gold]).toEqual([2, '\\frac{1}{2}']);
    for (const index of [0, 1]) {
      const { task, text } = taughtBy(environment, index);
      expect(task.text).toMatch(/<answer> your answer <\/answer>\n\nQuestion: .*\?\nResponse: <think>$/);
      expect((await environment.respond(task, [turn(text)])).reward).toMatchObject({
        total: 1,
        metrics: { tag_correct: 1 },
      });
    }
    writeFileSync(path, '{"text": "no thought"}\n');
    await expect(open('gsm8k', { path, template: 'r1' })).rejects.toThrow('Row 1 of');
    await expect(open('gsm8k', { path, template: 'r2' })).rejects.toThrow('boxed or r1');
  });
});
