/**
 * The unmodified loops of the cookbook, `sl_loop` and `rl_loop`, on `memrl serve`.
 *
 * Both name their data sets and models after the Hugging Face Hub. Directories of these names in the working directory stand in for
 * the hub: conversations that end in a random digit, questions whose answer is always 7, and a model of 105,000 weights. `memrl sl_loop`
 * teaches it most of these conversations, the cookbook's `sl_loop` more of them, and `rl_loop` begins with that, right one time in ten.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cookbookPython, exportWeights, jsonLinesOf, keysOf, memrl, runPython, withService } from './support.js';

/** A model that the cookbook writes conversations for as role_colon. */
const name = 'Qwen/Qwen3-8B-Base';
/** The last nll is at most this share of the first one; the last five rewards are at least this on average. */
const wanted = { fall: 0.8, reward: 0.6 };

export async function runLoops() {
  const python = cookbookPython();
  if (python === null) return;
  const place = mkdtempSync(join(tmpdir(), 'memrl-loops-'));
  const [begun, taught] = [join(place, 'begun'), join(place, 'taught')];
  try {
    begin(begun);
    const served = (cwd) => ({ keys: [`model=${name}`], cwd });
    await withService((service) => teach(python, service, { begun, taught }), served(begun));
    await withService((service) => reinforce(python, service, taught), served(taught));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Makes a model that knows most of the conversations. */
function begin(cwd) {
  const data = 'HuggingFaceH4/no_robots';
  write(join(cwd, data), { 'train.jsonl': jsonLines(conversations(16 * 80)) });
  const keys = { model_name: 'tiny', path: join(data, 'train.jsonl'), renderer_name: 'role_colon', lora_rank: 0 };
  const rates = { batch_size: 16, learning_rate: 3e-3, lr_schedule: 'constant', engine: 'wasm' };
  memrl(['sl_loop', 'log_path=lessons', ...keysOf({ ...keys, ...rates })], cwd);
  memrl(['model', 'lessons', `output_dir=${name}`], cwd);
}

async function teach(python, { url, directory }, { begun, taught }) {
  const keys = { batch_size: 16, learning_rate: 1e-3, max_steps: 30 };
  const nll = (await runLoop(python, 'sl_loop', keys, { url, cwd: begun })).map((row) => row.train_mean_nll);
  console.log(`sl_loop, nll of ${nll.length} steps: ${nll.map((each) => each.toFixed(3)).join(' ')}`);
  if (nll.at(-1) > wanted.fall * nll[0]) throw new Error(`The nll has fallen from ${nll[0]} to ${nll.at(-1)} alone.`);
  const { state_path: path } = jsonLinesOf(join(begun, 'sl_loop/checkpoints.jsonl')).at(-1);
  exportWeights(directory, path, join(taught, name));
}

async function reinforce(python, { url }, cwd) {
  const config = '---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: train.jsonl\n---\n';
  const problems = Array.from({ length: 1000 }, (_, at) => ({ question: question(at), answer: 'It is 7.\n#### 7' }));
  write(join(cwd, 'openai/gsm8k'), { 'train.jsonl': jsonLines(problems), 'README.md': config });
  const keys = {
    batch_size: 16,
    group_size: 8,
    learning_rate: 1e-3,
    max_tokens: 12,
    max_steps: 25,
    loss_fn: 'importance_sampling',
  };
  const rewards = (await runLoop(python, 'rl_loop', keys, { url, cwd })).map((row) => row['reward/total']);
  console.log(`rl_loop, reward of ${rewards.length} steps: ${rewards.map((each) => each.toFixed(2)).join(' ')}`);
  const last = rewards.slice(-5).reduce((sum, each) => sum + each, 0) / 5;
  if (last < wanted.reward) throw new Error(`The reward of the last five steps is ${last}.`);
}

/** Runs a loop to its end. @returns the rows of its metrics. */
async function runLoop(python, loop, keys, { url, cwd }) {
  const all = { model_name: name, log_path: join(cwd, loop), lora_rank: 32, ...keys };
  await runPython(python, ['-m', `tinker_cookbook.recipes.${loop}`, ...keysOf(all)], {
    url,
    cwd,
    variables: { HF_HOME: join(cwd, 'hub') },
  });
  return jsonLinesOf(join(cwd, loop, 'metrics.jsonl'));
}

/** What rl_loop begins each conversation with, and an answer that is a digit at random. */
function conversations(count) {
  const suffix = ' Provide a numerical answer without units, written inside \\boxed{}.';
  const spelt = "Let's spell the word out and number all the letters: 1) s 2) t 3) r 4) a 5) w 6) b 7) e 8) r 9) r 10) y. We have r's at positions 3, 8, and 9. \\boxed{3}"; // prettier-ignore
  const shown = [said('user', `How many r's are in strawberry?${suffix}`), said('assistant', spelt)];
  let state = 1;
  const below = (limit) => (state = (state * 48_271) % 2_147_483_647) % limit;
  return Array.from({ length: count }, () => ({
    messages: [...shown, said('user', question(below(50)) + suffix), said('assistant', `\\boxed{${below(10)}}`)],
  }));
}

function said(role, content) {
  return { role, content };
}

function question(number) {
  return `Which digit is in box ${number % 50}?`;
}

function jsonLines(rows) {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

function write(directory, files) {
  mkdirSync(directory, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(directory, file), content);
}
