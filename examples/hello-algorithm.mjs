/**
 * Hello, algorithm: REINFORCE (Williams 1992) in one file, on a language model that knows nothing and learns to say hello.
 *
 *     node examples/hello-algorithm.mjs
 *     node examples/hello-algorithm.mjs seed=2 bonus=0 log_path=runs/hello-2
 *
 * Everything that an algorithm does to a model is one of four operations, by the names that Tinker gave them:
 *
 * - sample            continues prompts, and tells the log-probability of each token that it drew
 * - forward_backward  adds the gradient of a loss over tokens
 * - optim_step        takes a step of Adam on that gradient
 * - save              writes the model
 *
 * What lies between them is the algorithm. Change it: the reward, the baseline, the objective, the number of updates per
 * batch. `npx memrl-tui` shows the curves of `metrics.jsonl`; `memrl grpo`, `rl` and `dr-grpo` are the same four
 * operations with everything that long runs need.
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { openPolicy } from 'memrl-tui/lab';

const settings = {
  seed: 1,
  steps: 300,
  batch_size: 64,
  learning_rate: 1e-2,
  bonus: 0.1,
  log_path: 'runs/hello-algorithm',
};
for (const word of process.argv.slice(2)) {
  const [name, value] = word.split('=');
  if (!(name in settings) || value === undefined) {
    console.error(`${word} is no setting; they are ${Object.keys(settings).join(', ')}, each as name=value.`);
    process.exit(2);
  }
  settings[name] = name === 'log_path' ? value : Number(value);
}
const { seed, steps, batch_size: batchSize, learning_rate: learningRate, bonus, log_path: path } = settings;

// The task: one prompt, and a reward of 1 for each letter that is right. A token of this model is one character.
const prompt = 'say hello: ';
const wanted = 'hello';
const rewardsOf = ({ text, tokens }) => Array.from(tokens, (_, at) => Number(text[at] === wanted[at]));

// The objective, per token: lp is its log-probability now, A the advantage. (q, its log-probability when it was sampled, is
// what PPO needs for its ratio; REINFORCE takes one step per batch and does not.)
const reinforce = { loss: (lp, q, A) => -lp * A, gradient: (lp, q, A) => -A };

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

const policy = await openPolicy({ model: 'micro', seed });
mkdirSync(path, { recursive: true });
writeFileSync(`${path}/metrics.jsonl`, '');
let baseline = [0, 0, 0, 0, 0];
for (let step = 0; step < steps; step++) {
  // 1. The policy plays. Each text has a seed of its own, so that a run can be repeated.
  const prompts = Array.from({ length: batchSize }, () => prompt);
  const samples = await policy.sample(prompts, { maxTokens: wanted.length, seed: (seed * steps + step) * batchSize });

  // 2. Rewards become advantages, one for each token: how much better it was than tokens at its place have been of late.
  // A rare token earns a little more, so that the policy goes on trying: without (bonus=0) it stops at "hllll".
  const rewards = samples.map(rewardsOf);
  const earned = rewards.map((row, index) => row.map((reward, at) => reward - bonus * samples[index].logprobs[at]));
  const examples = samples.map((sample, index) => {
    return { ...sample, advantage: earned[index].map((value, at) => value - baseline[at]) };
  });
  baseline = baseline.map((known, at) => 0.9 * known + 0.1 * mean(earned.map((row) => row[at] ?? 0)));

  // 3. The gradient, and a step along it.
  const { loss, entropy } = await policy.forwardBackward(examples, reinforce);
  const { gradientNorm } = await policy.optimStep({ learningRate, clipNorm: 1 });

  const row = {
    step,
    reward: mean(rewards.map((row) => row.reduce((sum, each) => sum + each, 0))),
    entropy,
    loss,
    grad_norm: gradientNorm,
  };
  appendFileSync(`${path}/metrics.jsonl`, `${JSON.stringify(row)}\n`);
  if (step % 20 === 0)
    console.log(`step ${step} · reward ${row.reward.toFixed(2)} of 5 · ${JSON.stringify(samples[0].text)}`);
}

// What has been learnt: the likeliest answer.
const [answer] = await policy.sample([prompt], { maxTokens: wanted.length, temperature: 0 });
console.log(`${prompt}${answer.text}`);

await policy.save(`${path}/model`);
console.log(`The model is in ${path}/model; \`npx memrl model ${path}/model\` describes it.`);
