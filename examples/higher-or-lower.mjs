/**
 * An environment of two turns: guess a digit, hear whether the secret one is higher or lower, guess again.
 *
 *     npx memrl train environment=./examples/higher-or-lower.mjs model_name=micro learning_rate=3e-3 batch_size=4 group_size=8 max_tokens=1 n_batches=1200 eval_every=200 log_path=runs/higher
 *
 * @type {import('memrl-tui/lab').TextEnvironment}
 */
export default {
  // The same index and stream give the same task in every process. The policy never sees `gold`.
  task: (index, random) => ({ prompt: 'guess 0-9: ', gold: random.below(10) }),

  // After each turn: what it earned, and what the policy reads next. Without `next` the episode ends.
  respond: ({ gold }, turns) => {
    const said = turns.at(-1).text;
    const guess = /^[0-9]$/.test(said) ? Number(said) : null;
    const correct = Number(guess === gold);
    if (correct === 1) return { reward: 1, metrics: { correct } };
    if (turns.length === 2)
      return { reward: guess === null ? -0.5 : 0.5 - Math.abs(guess - gold) / 10, metrics: { correct } };
    return { reward: 0, next: guess === null ? ' a digit: ' : guess < gold ? ' higher: ' : ' lower: ' };
  },
};
