import { parquetWriteFile } from 'hyparquet-writer';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Turn } from '../../../../src/lab/environments/environment.js';
import { openEnvironment } from '../../../../src/lab/environments/open-environment.js';
import { characterTokenizer } from '../../../../src/lab/hugging-face/character-tokenizer.js';
import { rng } from '../../../../src/lab/rng.js';
import { tempDirectory } from '../../temp-directory.js';

const problems = [
  { question: 'Ann has 3 eggs and buys 1,200. How many?', answer: 'She has 3+1200=<<3+1200=1203>>1203.\n#### 1,203' },
  { question: 'Half of one?', answer: 'Half.\n#### 0.5' },
];

function files() {
  const directory = tempDirectory();
  const [lines, parquet] = [join(directory, 'train.jsonl'), join(directory, 'test.parquet')];
  writeFileSync(lines, problems.map((problem) => `${JSON.stringify(problem)}\n`).join('\n'));
  parquetWriteFile({
    filename: parquet,
    columnData: (['question', 'answer'] as const).map((name) => {
      return { name, data: problems.slice(1).map((problem) => problem[name]), type: 'STRING' };
    }),
  });
  return { directory, lines, parquet };
}

const open = (params: object) =>
  openEnvironment({ environment: 'gsm8k', environment_params: JSON.stringify(params) }, characterTokenizer);

const turn = (text: string, ended: Turn['ended'] = 'stop') =>
  ({ tokens: new Int32Array(1), logprobs: new Float32Array(1), text, ended }) satisfies Turn;

describe('word problems', () => {
  it('have the prompts of tinker-cookbook, with one example first', async () => {
    const { lines } = files();
    const environment = await open({ path: lines });
    expect([environment.name, environment.size]).toEqual(['gsm8k', 2]);
    const { text, gold, id } = environment.task(0, rng(0, 'task'));
    expect([gold, id]).toEqual(['1203', '0']);
    expect(text).toMatch(
      /^User: How many r's are in strawberry\? Write your answer in \\boxed\{\} format\.\n\nAssistant: Let's/,
    );
    expect(
      text.endsWith(
        'User: Ann has 3 eggs and buys 1,200. How many? Write your answer in \\boxed{} format.\n\nAssistant:',
      ),
    ).toBe(true);
    const bare = await open({ path: lines, include_fewshot: false, renderer_name: 'chatml' });
    expect(bare.task(1, rng(0, 'task')).text).toBe(
      '<|im_start|>user\nHalf of one? Write your answer in \\boxed{} format.<|im_end|>\n<|im_start|>assistant\n',
    );
    expect(bare.stop.strings).toEqual(['<|im_end|>']);
  });

  it.each([
    [' It is \\boxed{1203}', 'stop', 1, { correct: 1, format: 1 }],
    [' \\boxed{\\$1,203.00}', 'length', 0.9, { correct: 1, format: 0 }],
    [' First \\boxed{1203}, then \\boxed{7}', 'stop', 0, { correct: 0, format: 1 }],
    [' 1203', 'stop', -0.1, { correct: 0, format: 0 }],
    ['', 'length', -0.1, { correct: 0, format: 0 }],
  ] as const)('earn 1[correct] + 0.1 (1[format] − 1): %j ended by %s', async (said, ended, total, metrics) => {
    const environment = await open({ path: files().lines });
    const { reward, next } = await environment.respond(environment.task(0, rng(0, 'task')), [turn(said, ended)]);
    expect(reward.total).toBeCloseTo(total, 12);
    expect(reward.metrics).toEqual(metrics);
    expect(next).toBeNull();
  });

  it('are solved by their own solutions; another file is the test set', async () => {
    const { lines, parquet } = files();
    const environment = await open({ path: lines, test_path: parquet });
    expect(environment.test!.size).toBe(1);
    const task = environment.test!.task(0, rng(0, 'task'));
    expect(task.gold).toBe('0.5');
    const solution = environment.solution!(environment.task(0, rng(0, 'task')))!;
    const answer = characterTokenizer.decodePlain(solution.tokens.filter((_, at) => solution.answerWeights[at] === 1));
    expect(answer).toBe(' She has 3+1200=1203. \\boxed{1203}');
    expect((await environment.test!.respond(task, [turn(' \\boxed{1/2}')])).reward.total).toBe(1);
  });

  it.each([
    [{}, 'needs the parameter `path`'],
    [{ path: '/nowhere/train.jsonl' }, '/nowhere/train.jsonl cannot be read'],
    [{ path: '/nowhere/train.parquet' }, 'cannot be read as parquet'],
    [{ path: 'HERE/train.jsonl', renderer_name: 'x' }, 'no renderer `x`'],
    [{ path: 'HERE/broken.jsonl' }, 'broken.jsonl:2 is not a JSON object'],
    [{ path: 'HERE/other.jsonl' }, 'Row 1 of'],
    [{ path: 'HERE/empty.jsonl' }, 'holds no problem'],
  ])('are refused with a reason: %j', async (params, problem) => {
    const { directory } = files();
    writeFileSync(join(directory, 'broken.jsonl'), `${JSON.stringify(problems[0])}\nno\n`);
    writeFileSync(join(directory, 'other.jsonl'), '{"question": "a", "answer": "b"}\n');
    writeFileSync(join(directory, 'empty.jsonl'), '\n');
    await expect(open(JSON.parse(JSON.stringify(params).replaceAll('HERE', directory)) as object)).rejects.toThrow(
      problem,
    );
  });

  it('are refused in a small parquet file that expands to more rows than fit in memory', async () => {
    const file = join(tempDirectory(), 'many.parquet');
    const data = new Array<boolean>(2_000_001).fill(true);
    parquetWriteFile({ filename: file, columnData: [{ name: 'question', data, type: 'BOOLEAN' }] });
    await expect(open({ path: file })).rejects.toThrow(/has 2000001 rows .* at most 2000000 rows/);
  });
});
