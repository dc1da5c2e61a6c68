import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { bundledProgram, type Program } from '../program.js';
import { resultsIn, rowsIn } from './run-in-test.js';
import { tempDirectory } from '../temp-directory.js';
import { lettersYaml } from './letters.js';
import { storyModel } from './story-model.js';

let memrl: Program;
beforeAll(async () => void (memrl = await bundledProgram()));
afterAll(() => memrl.remove());

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

it('killed on its way, a routed run ends with the files of one that was left alone, adapters included', async () => {
  const directory = tempDirectory();
  const config = join(directory, 'letters.yaml');
  writeFileSync(config, lettersYaml({ recall: 0.9 }));
  const argv = [...training, `model=${storyModel(join(directory, 'model'))}`, `config=${config}`];
  const [straight, broken] = [join(directory, 'straight'), join(directory, 'broken')];
  expect(await memrl.run([...argv, `output_dir=${straight}`])).toMatchObject({ code: 0 });
  for (let attempt = 0; attempt < 2; attempt++) {
    const before = existsSync(join(broken, 'metrics.jsonl')) ? rowsIn(broken).length : 0;
    const { child, ended } = memrl.start([...argv, `output_dir=${broken}`]);
    await vi.waitFor(() => expect(rowsIn(broken).length).toBeGreaterThan(before + 20), {
      timeout: 20_000,
      interval: 2,
    });
    child.kill('SIGKILL');
    expect(await ended).toMatchObject({ signal: 'SIGKILL' });
    expect(existsSync(join(broken, 'checkpoints/final'))).toBe(false);
  }
  expect(await memrl.run([...argv, `output_dir=${broken}`])).toMatchObject({ code: 0 });
  expect(resultsIn(broken)).toEqual(resultsIn(straight));
});
