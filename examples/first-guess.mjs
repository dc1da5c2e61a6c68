/**
 * A probe: how sure the policy is of its first guess in higher-or-lower, in bits of uncertainty about the ten digits.
 *
 *     npx memrl train environment=./examples/higher-or-lower.mjs probe=./examples/first-guess.mjs model_name=micro learning_rate=3e-3 batch_size=4 group_size=8 max_tokens=1 n_batches=100 eval_every=50 log_path=runs/probed
 *
 * @type {import('memrl-tui/lab').OwnProbe}
 */
export default async (policy) => {
  const probabilities = [];
  for (const digit of '0123456789') {
    const [logprob] = await policy.logprobs('guess 0-9: ', digit);
    probabilities.push(Math.exp(logprob));
  }
  const sum = probabilities.reduce((total, each) => total + each, 0);
  const bits = probabilities.reduce((total, each) => total - (each / sum) * Math.log2(each / sum), 0);
  return { digit_probability: sum, first_guess_bits: bits };
};
