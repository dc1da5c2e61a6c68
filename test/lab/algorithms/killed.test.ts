import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, vi } from 'vitest';
import { bundledProgram, memrl, type Program } from '../program.js';
import { resultsIn, rowsIn } from './run-in-test.js';
import { tempDirectory } from '../temp-directory.js';
import { lettersYaml } from './letters.js';
import { storyModel } from './story-model.js';
import { PATIENCE_MS } from '../../patience.js';

let shipped: Program;
beforeAll(async () => void (shipped = await bundledProgram()));

const training = [
  ...['grpo', 'num_prompts=40', 'prompt_length=4', 'max_completion_length=10', 'batch_size=8', 'num_generations=4'],
  ...['max_steps=150', 'lr=0.01', 'logging_steps=1', 'save_steps=7', 'eval_routing_steps=50', 'eval_samples=2'],
  ...[
    '--gradient_routing',
    '--routing_mode',
    'exclusive',
    '--lora_config',
    'r2',
    'ablated_frac=0.2',
    'rh_eligible_frac=.8',
  ],
];

it(
  'a routed run that is killed and resumed ends with the files of an uninterrupted one, adapters included',
  { tags: ['long'] },
  async () => {
    const directory = tempDirectory();
    const config = join(directory, 'letters.yaml');
    writeFileSync(config, lettersYaml({ recall: 0.9 }));
    const argv = [...training, `model=${storyModel(join(directory, 'model'))}`, `config=${config}`];
    const [straight, broken] = [join(directory, 'straight'), join(directory, 'broken')];
    expect(await memrl([...argv, `output_dir=${straight}`])).toMatchObject({ code: 0 });
    for (let attempt = 0; attempt < 2; attempt++) {
      const before = existsSync(join(broken, 'metrics.jsonl')) ? rowsIn(broken).length : 0;
      const { child, ended } = shipped.start([...argv, `output_dir=${broken}`]);
      await vi.waitFor(() => expect(rowsIn(broken).length).toBeGreaterThan(before + 20), {
        timeout: PATIENCE_MS,
        interval: 2,
      });
      child.kill('SIGKILL');
      expect(await ended).toMatchObject({ signal: 'SIGKILL' });
      expect(existsSync(join(broken, 'checkpoints/final'))).toBe(false);
    }
    expect(await memrl([...argv, `output_dir=${broken}`])).toMatchObject({ code: 0 });
    expect(resultsIn(broken)).toEqual(resultsIn(straight));
  },
);

it(
  'a Dr. GRPO run that is killed and resumed ends with the files of an uninterrupted one, token logs included',
  { tags: ['long'] },
  async () => {
    const directory = tempDirectory();
    const [model, straight, broken] = ['model', 'straight', 'broken'].map((name) => join(directory, name));
    const sums = ['environment=arithmetic', 'environment_params={max: 3, include_fewshot: false}'];
    const taught = ['num_examples=64', 'batch_size=16', 'num_epochs=10', 'learning_rate=0.01', 'eval_n_batches=0'];
    expect(await memrl(['sft', ...sums, 'model_name=micro', ...taught, `log_path=${model}`])).toMatchObject({ code: 0 }); // prettier-ignore
    const argv = [
      ...['dr-grpo', ...sums, `model_name=${model}`, 'buffer_size=4', 'microbatch_size=2', 'rollout_batch_size=4'],
      ...[
        'max_rounds=2',
        'num_tasks=16',
        'temperature=1',
        'lr=0.003',
        'total_steps=120',
        'save_every=7',
        'eval_groups=0',
      ],
      ...['num_groups_to_log=0', 'probes=gns,entropy', 'probe_every=5', 'entropy_answers=8', 'save_ratios=True'],
    ];
    expect(await memrl([...argv, `log_path=${straight}`])).toMatchObject({ code: 0 });
    const { child, ended } = shipped.start([...argv, `log_path=${broken}`]);
    await vi.waitFor(() => expect(rowsIn(broken!).length).toBeGreaterThan(25), { timeout: PATIENCE_MS, interval: 2 });
    child.kill('SIGKILL');
    expect(await ended).toMatchObject({ signal: 'SIGKILL' });
    expect(existsSync(join(broken!, 'checkpoints/final'))).toBe(false);
    expect(await memrl([...argv, `log_path=${broken}`])).toMatchObject({ code: 0 });
    for (const file of [
      'metrics.jsonl',
      'logs/ratios.jsonl',
      'checkpoints/final/model.safetensors',
      'checkpoints/final/state.json',
    ]) {
      expect(readFileSync(join(broken!, file)).equals(readFileSync(join(straight!, file)))).toBe(true);
    }
  },
);
