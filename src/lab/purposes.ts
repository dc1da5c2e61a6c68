/** The commands of `memrl` and their purposes, in a file of its own: printing the help loads nothing else. */
export const purposes = {
  train: 'Learns a secret by policy gradient on a memory game, or what another environment rewards.',
  'sft-data': 'Writes the examples that memrl sft learns from.',
  sft: 'Learns a secret from examples.',
  warmup: 'Teaches a fresh model the format, all answers equally likely.',
  pretrain: 'Trains a new model on stories; its checkpoints open in transformers.',
  grpo: 'Trains a story model by GRPO on a reward of its text, with two adapters and routed gradients if asked to.',
  sweep: 'Starts a sweep of memrl grpo as sweep.py of small-rl does: --reward, --grid, --fixed, --per_gpu, --dry_run.',
  'dr-grpo': 'Trains by Dr. GRPO: a curriculum of pass rates, groups that differ, and the noise scale of the gradient.',
  rl: 'Trains by the loop of tinker-cookbook, on an engine in this process or on a service of Tinker’s protocol.',
  rl_basic: 'Word problems of GSM8K by reinforcement learning: `memrl rl` with its defaults.',
  arithmetic: 'Sums of two numbers, from no model at all: a warm-up, then `memrl rl`.',
  rl_loop: 'The loop of reinforcement learning to read and to change, on word problems.',
  sl_loop: 'The loop of supervised learning to read and to change, on conversations.',
  resume: 'Continues a run from one of its checkpoints for so many steps more.',
  'eval-run':
    'Evaluates a story model: its reward, whether it hacks and whether it has collapsed, in each mode of its adapters.',
  'eval-batch':
    'Plays the same tasks with every checkpoint of a run, and puts pass rates, lengths and entropies into one table.',
  entropy: 'Measures what a gradient step does to the entropy of a policy, as predicted to first order and in truth.',
  eval: 'Measures how many bits of a secret saved weights know; prints one line of JSON.',
  model: 'Describes a saved model, ours or one of Hugging Face; exports it for transformers.',
  bench: 'Measures a training step on every engine of this machine.',
  ideal:
    'Computes how many episodes the ideal learner and a table of logits need to learn a secret from the same rewards.',
  observer: 'Finds after how many episodes of a run its secret was determined, and when its weights knew it.',
  rollouts: 'Shows the episodes of a step of a run: answers, rewards, advantages, log-probabilities.',
  study:
    'Writes what the runs of a sweep say of how many bits an episode teaches, for memrl-tui report; a run of a sweep does so at its end.',
  serve: 'Serves training and sampling over HTTP: the SDK of Tinker, and every program on it, runs on this machine.',
} as const;
export type CommandName = keyof typeof purposes;

export function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h' || argument === 'help';
}
