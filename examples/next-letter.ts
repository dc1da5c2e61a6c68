/**
 * An environment of one turn in TypeScript (Node.js 22.18 or later), told by a parameter how far to count; it says its right answers, so
 * that supervised learning may come first.
 *
 *     npx memrl sft environment=./examples/next-letter.ts environment_params="{step: 2}" model_name=micro learning_rate=1e-2 batch_size=12 num_epochs=40 eval_every=0 log_path=runs/letters-sft
 *     npx memrl train environment=./examples/next-letter.ts environment_params="{step: 2}" load_checkpoint_path=runs/letters-sft learning_rate=1e-3 batch_size=4 max_tokens=2 n_batches=50 log_path=runs/letters
 */
import type { TextEnvironment } from 'memrl-tui/lab';

const letters = 'abcdefghijklmnopqrstuvwxyz';

export default ({ step = 1 }: { readonly step?: number }): TextEnvironment => {
  const answer = (letter: unknown) => letters[letters.indexOf(String(letter)) + step]!;
  return {
    name: `next-letter-${step}`,
    size: letters.length - step,
    task: (index) => ({ id: letters[index]!, prompt: `${letters[index]} ${step} on: `, gold: letters[index] }),
    respond: ({ gold }, [turn]) => {
      const correct = Number(turn!.text === answer(gold));
      return {
        reward: correct,
        parts: { letter: correct },
        metrics: { correct, ended: Number(turn!.ended === 'stop') },
      };
    },
    answer: ({ gold }) => answer(gold),
  };
};
