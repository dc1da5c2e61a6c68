/**
 * A reward: answers of few characters that are still answers. It takes the place of the environment's own, or of the story reward in
 * memrl grpo.
 *
 *     npx memrl train environment=arithmetic reward=./examples/short.mjs model_name=micro learning_rate=3e-3 batch_size=4 max_tokens=6 n_batches=100 log_path=runs/short
 *
 * @type {import('memrl-tui/lab').OwnReward}
 */
export default (completions) => completions.map(({ text }) => (text.trim() === '' ? 0 : 1 / text.length));
