import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSamples, samplesAt, stepsOf } from '../../src/logs/samples.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'samples-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(place: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(directory, place)), { recursive: true });
  writeFileSync(join(directory, place), content);
}
const jsonLines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

describe('samples of a run', () => {
  it('are read from a file for each step, whose name has it', async () => {
    const row = (completion: string, reward: number) => ({ prompt: '2 + 2 =', completion, reward });
    write('rollouts/step_2.jsonl', jsonLines([row('5', 0), row('4', 1)]));
    write('rollouts/step_10.jsonl', jsonLines([row('four', 1)]));
    const samples = await readSamples(directory);
    expect(stepsOf(samples)).toEqual([2, 10]);
    expect(samples.all[1]).toEqual({ step: 2, prompt: '2 + 2 =', completion: '4', reward: 1, length: 1 });
    expect(samples.files).toEqual(['rollouts/step_2.jsonl', 'rollouts/step_10.jsonl']);
  });

  it('have the names that programs use, and conversations as texts', async () => {
    const chat = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ];
    write('samples.jsonl', jsonLines([{ global_step: 3, question: chat, response: 'Hello', score: 0.5, n_tokens: 2 }]));
    const { all } = await readSamples(directory);
    expect(all).toEqual([{ step: 3, prompt: 'Be brief.\nHi', completion: 'Hello', reward: 0.5, length: 2 }]);
  });

  it('are read from the rollout summaries of the tinker-cookbook, which have lengths and no texts', async () => {
    const steps = [{ ac_len: 10 }, { ac_len: 4 }];
    const row = { iteration: 7, group_idx: 1, traj_idx: 3, total_reward: 0.25, steps };
    write('iteration_000007/train_rollout_summaries.jsonl', jsonLines([row]));
    const { all } = await readSamples(directory);
    expect(all).toEqual([
      { step: 7, prompt: 'group 1', completion: 'rollout 3: 2 turns, 14 tokens', reward: 0.25, length: 14 },
    ]);
  });

  it('are read from TRL’s tables of completions, with the sum of its reward functions', async () => {
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'step', data: [5, 5], type: 'INT32' },
        { name: 'prompt', data: ['a', 'b'], type: 'STRING' },
        { name: 'completion', data: ['x', 'yy'], type: 'STRING' },
        { name: 'accuracy_reward', data: [1, 0], type: 'DOUBLE' },
        { name: 'format_reward', data: [0.5, 0.5], type: 'DOUBLE' },
        { name: 'advantage', data: [9, 9], type: 'DOUBLE' },
      ],
    });
    write('completions/completions_00005.parquet', new Uint8Array(bytes));
    const { all } = await readSamples(directory);
    expect(all.map(({ step, prompt, completion, reward }) => [step, prompt, completion, reward])).toEqual([
      [5, 'a', 'x', 1.5],
      [5, 'b', 'yy', 0.5],
    ]);
  });

  it('are read from a file that TRL itself has written; a reward function that says nothing does not count', async () => {
    const { all, files } = await readSamples(join(import.meta.dirname, '../fixtures/samples'));
    expect(files).toEqual(['completions/completions_00002.parquet']);
    expect(all.map(({ step, prompt, completion, reward }) => [step, prompt, completion, reward]))
      .toMatchInlineSnapshot(`
      [
        [
          2,
          "1 + 1 =",
          "h96=mby",
          0.21571429818868637,
        ],
        [
          2,
          "1 + 1 =",
          "ys2xfspp",
          0.04500000178813934,
        ],
        [
          2,
          "0 + 0 =",
          "?",
          -0.009999999776482582,
        ],
        [
          2,
          "0 + 0 =",
          "grjs",
          0,
        ],
      ]
    `);
  });

  it('are read from the lines of a log', async () => {
    write('output.log', 'step 1 loss 2\n[Sample @ step 10] Say hi ||| hi there\n[Sample @ 20] Say bye ||| bye\n');
    const { all } = await readSamples(directory);
    expect(all.map(({ step, prompt, completion }) => [step, prompt, completion])).toEqual([
      [10, 'Say hi', 'hi there'],
      [20, 'Say bye', 'bye'],
    ]);
  });

  it('are bounded, and a damaged file does not keep others from being read', async () => {
    const row = jsonLines([{ step: 1, prompt: 'p', completion: 'c'.repeat(1000), reward: 1 }]);
    write('rollouts/step_1.jsonl', row.repeat(10_000));
    write('rollouts/step_2.jsonl', `{"prompt": "torn`);
    write('completions/completions_00003.parquet', 'no table');
    symlinkSync('/', join(directory, 'samples'));
    const { all, isCut } = await readSamples(directory);
    expect(isCut).toBe(true);
    expect(all.length).toBeGreaterThan(1000);
    expect(all.length).toBeLessThan(5000);
  });

  it('have the pictures of the run beside them, with the steps in their names', async () => {
    write('media/images/plot_12_0a1b2c3d4e5f.png', 'picture');
    write('media/images/plot_3_ffffffffffff.png', 'picture');
    write('figures/confusion-7.svg', 'picture');
    write('loss.png', 'picture');
    write('.git/logo.png', 'not of the run');
    const { images } = await readSamples(directory);
    expect(images).toEqual([
      { path: 'figures/confusion-7.svg', step: 7 },
      { path: 'loss.png', step: null },
      { path: 'media/images/plot_3_ffffffffffff.png', step: 3 },
      { path: 'media/images/plot_12_0a1b2c3d4e5f.png', step: 12 },
    ]);
  });

  it('are none where rows have neither texts nor rewards', async () => {
    write(
      'rollouts.jsonl',
      jsonLines([
        { step: 1, text: 'alone' },
        { step: 2, guesses: [1, 2] },
      ]),
    );
    expect((await readSamples(directory)).all).toEqual([]);
  });
});

describe('the samples of a step', () => {
  const sample = (completion: string, reward: number | null) => ({
    step: 1,
    prompt: 'p',
    completion,
    reward,
    length: completion.length,
  });
  const samples = {
    all: [sample('bb', 1), sample('a', 3), sample('cccc', null), sample('ddd', 2)],
    ...{ files: [], isCut: false, images: [] },
  };
  const shown = (order: Parameters<typeof samplesAt>[1]['order']) =>
    samplesAt(samples, { step: 1, order }).map(({ completion }) => completion);

  it.each([
    ['best first', ['a', 'ddd', 'bb', 'cccc']],
    ['worst first', ['bb', 'ddd', 'a', 'cccc']],
    ['longest first', ['cccc', 'ddd', 'bb', 'a']],
    ['as written', ['bb', 'a', 'cccc', 'ddd']],
  ] as const)('are in order: %s', (order, expected) => {
    expect(shown(order)).toEqual(expected);
  });
});

it('leaves out a Parquet file of a few KB whose rows would fill the memory, and says that something is left out', async () => {
  const data = new Array<string>(600_000).fill('a');
  const columns = ['prompt', 'completion'].map((name) => ({ name, data, type: 'STRING' as const }));
  write('completions_1.parquet', new Uint8Array(parquetWriteBuffer({ columnData: columns })));
  expect(await readSamples(directory)).toMatchObject({ all: [], isCut: true });
});
