import { count, flag, texts } from '../../rewards/params.js';
import type { TextEnvironment } from '../../own-modules.js';

/**
 * Coefficient of the format term, as in tinker-cookbook: an answer without an ending loses a tenth of the reward for a
 * right one.
 */
const formatCoefficient = 0.1;

export const arithmeticParams = {
  max: count.default(100),
  include_fewshot: flag.default(true),
  ending: texts.optional(),
};

type ArithmeticParams = {
  readonly max: number;
  readonly include_fewshot: boolean;
  /**
   * Texts that end an answer; a right answer has the first of them. Without any, an answer ends where the model ends
   * it.
   */
  readonly ending?: readonly string[] | undefined;
};

/** Sums of two numbers, with the prompts and rewards of tinker-cookbook's `arithmetic`. */
export function arithmetic({ max, include_fewshot: hasExample, ending }: ArithmeticParams): TextEnvironment {
  const example = hasExample ? 'User: What is 4 + 5?\n\nAssistant: 9\n\n' : '';
  return {
    name: 'arithmetic',
    stop: ending ?? ['\n\n'],
    task: (_, random) => {
      const [x, y] = [random.below(max + 1), random.below(max + 1)];
      return { id: `${x}+${y}`, prompt: `${example}User: What is ${x} + ${y}?\n\nAssistant:`, gold: x + y };
    },
    respond: ({ gold }, [turn]) => {
      const [first = ''] = turn!.text.trim().split(/\s+/);
      const correct = Number(/^[+-]?\d+$/.test(first) && Number(first) === gold);
      const format = Number(turn!.ended === 'stop');
      return { reward: correct + formatCoefficient * (format - 1), metrics: { correct, format } };
    },
    answer: ({ gold }) => ` ${String(gold)}${ending?.[0] ?? ''}`,
  };
}
