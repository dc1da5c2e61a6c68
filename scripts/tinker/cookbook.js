/** The unmodified cookbook's arithmetic recipe on `memrl serve`: its reward must rise to 0.9 while sampler and trainer agree. */
import { join } from 'node:path';
import { cookbookPython, exportWeights, jsonLinesOf, keysOf, root, runPython, withService } from './support.js';

const [carefulSteps, steps] = [4000, 40];
const wanted = { reward: 0.9, kl: 0.01 };

export async function learnArithmetic() {
  const python = cookbookPython();
  if (python === null) return;
  await withService(async ({ url, directory }) => {
    console.log(`Teaching a base model in ${carefulSteps} steps of supervised learning.`);
    const taught = await runPython(python, [join(root, 'scripts/tinker/teach.py'), String(carefulSteps)], { url });
    const base = join(directory, 'base');
    exportWeights(directory, taught.trim(), base);
    await withService((service) => reinforce(python, base, service), { keys: [`model=${base}`] });
  });
}

async function reinforce(python, base, { url, directory }) {
  const log = join(directory, 'arithmetic');
  const given = {
    ...{ env: 'arithmetic', renderer_name: 'role_colon', model_name: base, base_url: url, log_path: log },
    ...{ loss_fn: 'importance_sampling', groups_per_batch: 100, group_size: 4, max_tokens: 12, learning_rate: 1e-3 },
    ...{ max_steps: steps, eval_every: 0, save_every: 20 },
  };
  await runPython(python, ['-m', 'tinker_cookbook.recipes.math_rl.train', ...keysOf(given)], { url, cwd: directory });
  const iterations = jsonLinesOf(join(log, 'metrics.jsonl')).filter((row) => row['env/all/reward/total'] !== undefined);
  const rewards = iterations.map((row) => row['env/all/reward/total']);
  const kl = Math.max(...iterations.map((row) => Math.abs(row['optim/kl_sample_train_v1'])));
  console.log(`reward of ${rewards.length} iterations: ${rewards.map((each) => each.toFixed(2)).join(' ')}`);
  console.log(`greatest optim/kl_sample_train_v1: ${kl.toExponential(1)}`);
  const last = rewards.slice(-5).reduce((sum, each) => sum + each, 0) / 5;
  if (last < wanted.reward) throw new Error(`The reward of the last five iterations is ${last}.`);
  if (kl > wanted.kl) throw new Error(`Sampler and trainer differ by ${kl} nats a token.`);
}
