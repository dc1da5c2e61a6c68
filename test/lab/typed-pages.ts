/** The commands that the pages of the source systems tell a reader to type, as they stand there. */
import { readFileSync } from 'node:fs';
import { shellWords } from '../../src/text/shell-words.js';

/** What a program of theirs is called here. */
const renamed: readonly (readonly [theirs: string, ours: string])[] = [
  ['python -m tinker_cookbook.recipes.rl_basic', 'rl_basic'],
  ['python sweep.py', 'sweep'],
  ['python eval_run.py', 'eval-run'],
  ['torchrun --nproc_per_node=2 rl_training/runners/rl_runner.py', 'dr-grpo'],
  ['python rl_training/runners/eval_batch.py', 'eval-batch'],
  ['python train.py --reward', 'grpo --reward'],
  ['python train.py', 'train'],
  ['python sft_data_gen.py', 'sft-data'],
  ['python sft_train.py', 'sft'],
  ['python format_sft_train_multi_step.py', 'warmup env_type=multi_step'],
  ['python format_sft_train.py', 'warmup'],
];

/** The line of a page that begins so, in words for `memrl`: the program has our name, and all else is as it stands there. */
export function typedLine(page: string, beginning: string): string[] {
  const lines = readFileSync(`test/fixtures/pages/${page}.txt`, 'utf8').trimEnd().split('\n');
  const line = lines.find((each) => each.startsWith(beginning));
  const [theirs, ours] = renamed.find(([name]) => line?.startsWith(name)) ?? [];
  if (line === undefined || ours === undefined) throw new Error(`${page} has no line that begins with ${beginning}.`);
  const split = shellWords(ours + line.slice(theirs!.length));
  if (split.kind === 'refused') throw new Error(`${line}: ${split.why}`);
  return split.words.map(({ text }) => text);
}
