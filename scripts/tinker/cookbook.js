/**
 * The unmodified cookbook's arithmetic recipe on `memrl serve`, synchronous and asynchronous: its reward must rise, to 0.9 in the
 * synchronous mode, where sampler and trainer must agree.
 */
import { join } from 'node:path';
import { cookbookPython, exportWeights, jsonLinesOf, keysOf, root, runPython, withService } from './support.js';

const carefulSteps = 4000;
/** `reward`: the least of the last five iterations on average. `kl`: the most, in nats a token. */
const modes = {
  synchronous: { keys: { loss_fn: 'importance_sampling', max_steps: 40 }, wanted: { reward: 0.9, kl: 0.01 } },
  asynchronous: { keys: { loss_fn: 'ppo', max_steps_off_policy: 2, max_steps: 15 }, wanted: { reward: 0.5, kl: 0.1 } },
};

export async function learnArithmetic() {
  const python = cookbookPython();
  if (python === null) return;
  await withService(async ({ url, directory }) => {
    console.log(`Teaching a base model in ${carefulSteps} steps of supervised learning.`);
    const taught = await runPython(python, [join(root, 'scripts/tinker/teach.py'), String(carefulSteps)], { url });
    const base = join(directory, 'base');
    exportWeights(directory, taught.trim(), base);
    await withService(
      async (service) => {
        for (const mode of Object.keys(modes)) await reinforce(python, base, { ...service, mode });
      },
      { keys: [`model=${base}`] },
    );
  });
}

async function reinforce(python, base, { url, directory, mode }) {
  const { keys, wanted } = modes[mode];
  const log = join(directory, mode);
  const given = {
    ...{ env: 'arithmetic', renderer_name: 'role_colon', model_name: base, base_url: url, log_path: log },
    ...{ groups_per_batch: 100, group_size: 4, max_tokens: 12, learning_rate: 1e-3, eval_every: 0, save_every: 20 },
    ...keys,
  };
  await runPython(python, ['-m', 'tinker_cookbook.recipes.math_rl.train', ...keysOf(given)], { url, cwd: directory });
  const iterations = jsonLinesOf(join(log, 'metrics.jsonl')).filter((row) => row['env/all/reward/total'] !== undefined);
  const rewards = iterations.map((row) => row['env/all/reward/total']);
  const kl = Math.max(...iterations.map((row) => Math.abs(row['optim/kl_sample_train_v1'])));
  console.log(`${mode}, reward of ${rewards.length} iterations: ${rewards.map((each) => each.toFixed(2)).join(' ')}`);
  console.log(`greatest optim/kl_sample_train_v1: ${kl.toExponential(1)}`);
  const last = rewards.slice(-5).reduce((sum, each) => sum + each, 0) / 5;
  if (last < wanted.reward) throw new Error(`The reward of the last five iterations is ${last}.`);
  if (kl > wanted.kl) throw new Error(`Sampler and trainer differ by ${kl} nats a token.`);
}
