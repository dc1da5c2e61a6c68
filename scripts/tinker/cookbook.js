/**
 * The unmodified cookbook's arithmetic recipe on `memrl serve`: its reward must rise to 0.9 while sampler and trainer agree.
 *
 * TINKER_PYTHON names a Python that has the packages already, as PyTorch is large.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonWith, root, runPython, withService } from './support.js';

const packages = ['tinker==0.38.0', 'tinker-cookbook==0.6.1', 'torch'];
const [carefulSteps, steps] = [4000, 40];
const wanted = { reward: 0.9, kl: 0.01 };

export async function learnArithmetic() {
  const python = process.env.TINKER_PYTHON ?? pythonWith(packages, 'cookbook-0.6.1');
  if (python === null) return;
  await withService(async ({ url, directory }) => {
    console.log(`Teaching a base model in ${carefulSteps} steps of supervised learning.`);
    const taught = await runPython(python, [join(root, 'scripts/tinker/teach.py'), String(carefulSteps)], { url });
    const [, model, , name] = taught.trim().slice('tinker:/'.length).split('/');
    const checkpoint = join(directory, 'serve/checkpoints', model.replaceAll(':', '+'), 'weights', name);
    const base = join(directory, 'base');
    execFileSync(process.execPath, [join(root, 'dist/memrl.js'), 'model', checkpoint, `output_dir=${base}`]);
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
  const keys = Object.entries(given).map(([key, value]) => `${key}=${value}`);
  await runPython(python, ['-m', 'tinker_cookbook.recipes.math_rl.train', ...keys], { url, cwd: directory });
  const rows = readFileSync(join(log, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const iterations = rows.filter((row) => row['env/all/reward/total'] !== undefined);
  const rewards = iterations.map((row) => row['env/all/reward/total']);
  const kl = Math.max(...iterations.map((row) => Math.abs(row['optim/kl_sample_train_v1'])));
  console.log(`reward of ${rewards.length} iterations: ${rewards.map((each) => each.toFixed(2)).join(' ')}`);
  console.log(`greatest optim/kl_sample_train_v1: ${kl.toExponential(1)}`);
  const last = rewards.slice(-5).reduce((sum, each) => sum + each, 0) / 5;
  if (last < wanted.reward) throw new Error(`The reward of the last five iterations is ${last}.`);
  if (kl > wanted.kl) throw new Error(`Sampler and trainer differ by ${kl} nats a token.`);
}
