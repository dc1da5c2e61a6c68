import * as z from 'zod';
import { UserError } from '../../../base/user-error.js';
import type { TextEnvironment } from '../../own-modules.js';
import { flag } from '../../rewards/params.js';
import type { Message } from '../../text/conversation.js';
import { openRenderer } from '../../text/renderers.js';
import type { Tokenizer } from '../../text/tokenizer.js';
import { lastBoxed, sameAnswer } from './answers.js';
import { r1Answer, r1Prompt, r1Response } from './r1.js';
import { readRecords } from './records.js';

/**
 * Coefficient of the format term, as in tinker-cookbook: an answer without an ending or a box loses a tenth of the
 * reward for a right one.
 */
const formatCoefficient = 0.1;

const path = (description: string) => z.string(description).min(1, description).meta({ description });
export const gsm8kParams = {
  path: path('the path of the problems, JSON lines or parquet with the columns question and answer'),
  test_path: path('the path of the problems for evaluations').optional(),
  template: z
    .enum(['boxed', 'r1'], 'boxed or r1')
    .default('boxed')
    .meta({ description: 'how they are asked and answered: boxed or r1' }),
  include_fewshot: flag.default(true),
  renderer_name: path('the name of a renderer').nullable().default(null),
};
type Gsm8kParams = z.infer<z.ZodObject<typeof gsm8kParams>>;

const suffix = ' Write your answer in \\boxed{} format.';
const fewshot: readonly Message[] = [
  { role: 'user', content: `How many r's are in strawberry?${suffix}` },
  {
    role: 'assistant',
    content:
      "Let's spell the word out and number all the letters: 1) s 2) t 3) r 4) a 5) w 6) b 7) e 8) r 9) r 10) y. We have r's at positions 3, 8, and 9. \\boxed{3}",
  },
];

/** Instruction that `rl_loop` appends to a question. */
export const numericalSuffix = ' Provide a numerical answer without units, written inside \\boxed{}.';

/** `solution`: the steps to the right answer, `gold`. */
export type Problem = { readonly question: string; readonly solution: string; readonly gold: string };

/**
 * Word problems in the form of GSM8K. `boxed`: prompts and rewards of tinker-cookbook's `math_rl`, 1[correct] +
 * 0.1·(1[format] − 1), where the format is an answer that was ended and has a `\boxed{}`. `r1`: as RL_Practice does,
 * by the template of R1.
 *
 * @throws UserError when a file cannot be read, or a row of it is not a problem.
 */
export async function gsm8k(params: Gsm8kParams, tokenizer: Tokenizer): Promise<TextEnvironment> {
  const { path: train, test_path: test } = params;
  const environment = (problems: readonly Problem[]) =>
    params.template === 'r1' ? r1Environment(problems, tokenizer) : boxedEnvironment(problems, params, tokenizer);
  const problems = environment(await readProblems(train));
  return test === undefined ? problems : { ...problems, test: environment(await readProblems(test)) };
}

function r1Environment(problems: readonly Problem[], tokenizer: Tokenizer): TextEnvironment {
  return {
    name: 'gsm8k',
    size: problems.length,
    task: (index) => {
      const { question, gold } = problems[index]!;
      return { id: String(index), prompt: r1Prompt(question, true), gold };
    },
    respond: r1Response(tokenizer),
    answer: ({ id }) => {
      const { solution, gold } = problems[Number(id)]!;
      return r1Answer(` ${solution} `, gold);
    },
  };
}

function boxedEnvironment(
  problems: readonly Problem[],
  { include_fewshot: hasExample, renderer_name: name }: Gsm8kParams,
  tokenizer: Tokenizer,
): TextEnvironment {
  const renderer = openRenderer(name, tokenizer);
  const before = hasExample ? fewshot : [];
  return {
    name: 'gsm8k',
    size: problems.length,
    stop: renderer.stop,
    task: (index) => {
      const { question, gold } = problems[index]!;
      const prompt = renderer.prompt([...before, { role: 'user', content: question + suffix }]);
      return { id: String(index), prompt, gold };
    },
    respond: ({ gold }, [turn]) => {
      const { correct, hasBox } = scoreAnswer(turn!.text, gold as string);
      const format = Number(turn!.ended === 'stop' && hasBox);
      return { reward: correct + formatCoefficient * (format - 1), metrics: { correct, format } };
    },
    answer: ({ id }) => {
      const { solution, gold } = problems[Number(id)]!;
      return ` ${`${solution} \\boxed{${gold}}`.trim()}`;
    },
  };
}

/** Whether the last box of an answer holds the right number; 1 or 0. */
export function scoreAnswer(text: string, gold: string): { readonly correct: number; readonly hasBox: boolean } {
  const boxed = lastBoxed(text);
  return { correct: Number(boxed !== null && sameAnswer(gold, boxed)), hasBox: boxed !== null };
}

const Row = z.looseObject({ question: z.string().min(1), answer: z.string() });
/** A whole conversation of RL_Practice: the question, `<think>…</think>` and `<answer>…</answer>`. */
const TextRow = z.looseObject({ text: z.string() });

/**
 * Problems of a file. In GSM8K the text after `####` is the right answer; marks of a calculator are removed from the
 * solution before it.
 *
 * @throws UserError when the file cannot be read or is empty, or a row is not a problem.
 */
export async function readProblems(file: string): Promise<Problem[]> {
  const rows = await readRecords(file);
  if (rows.length === 0) throw new UserError(`${file} holds no problem.`, 'Give a file with at least one.');
  return rows.map((row, index) => {
    const problem = problemOf(row) ?? problemOfText(row);
    if (problem !== null) return problem;
    throw new UserError(
      `Row ${index + 1} of ${file} is not a problem of GSM8K.`,
      'Each row must have a `question`, and an `answer` that ends with #### and the number; or a `text` with the question, <think>…</think> and <answer>…</answer>.',
    );
  });
}

function problemOf(row: object): Problem | null {
  const parsed = Row.safeParse(row);
  const [solution, gold] = parsed.data?.answer.split(/####(?!.*####)/s) ?? [];
  if (!parsed.success || gold === undefined) return null;
  const steps = solution!.replace(/<<.*?>>/g, '').trim();
  return { question: parsed.data.question, solution: steps, gold: gold.trim().replaceAll(',', '') };
}

function problemOfText(row: object): Problem | null {
  const text = TextRow.safeParse(row).data?.text ?? '';
  const [, question, solution] = /^(.+?)<think>(.*?)<\/think>/s.exec(text) ?? [];
  const gold = /.*<answer>(.*?)<\/answer>/s.exec(text)?.[1]?.trim() ?? '';
  if (question === undefined || question.trim() === '' || gold === '') return null;
  return { question: question.trim(), solution: solution!.trim(), gold };
}
