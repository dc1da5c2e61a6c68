import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tiered } from '../../tiers.js';
import { mean } from '../../../src/analysis/statistics.js';
import { isHuggingFace } from '../../../src/lab/hugging-face/directory.js';
import { readModel } from '../../../src/lab/run/model-files.js';
import { resultsIn, rowsIn, testWorld } from './run-in-test.js';
import { tempDirectory } from '../temp-directory.js';
import { grpoIn } from './grpo-in-test.js';
import { lettersYaml } from './letters.js';
import { storyModel } from './story-model.js';

/** A folder with a model, and a file whose reward a model that knows nothing earns often: letters said. */
function stage() {
  const directory = tempDirectory();
  const model = storyModel(join(directory, 'model'));
  const config = join(directory, 'letters.yaml');
  writeFileSync(config, lettersYaml());
  return { run: (name: string) => join(directory, name), directory, given: [`model=${model}`, `config=${config}`] };
}

const routed = ['gradient_routing=True', 'routing_mode=shared', 'lora_config=r8'];
const withEverything = [
  ...['gradient_routing=True', 'routing_mode=exclusive', 'retain_rank=3', 'forget_rank=2', 'rh_eligible_frac=0.7'],
  ...['routing_frac=0.8', 'label_noise_frac=0.1', 'ablated_frac=0.3', 'repetition_penalty=1.1', 'temperature=0.9'],
];

describe('memrl grpo', () => {
  it.each([
    { how: 'all weights', argv: [] },
    { how: 'one LoRA', argv: ['lora_rank=2'] },
    { how: 'two adapters and every label', argv: withEverything },
  ])('interrupted and resumed, ends with the same files: $how', async ({ argv }) => {
    const { run, given } = stage();
    await grpoIn(run('whole'), [...given, ...argv]);
    for (const step of [1, 2, 1, 1, Infinity]) await grpoIn(run('parts'), [...given, ...argv], testWorld(step));
    expect(resultsIn(run('parts'))).toEqual(resultsIn(run('whole')));
    const evaluations = (name: string) => readFileSync(join(run(name), 'routing_eval.jsonl'), 'utf8');
    expect(evaluations('parts')).toBe(evaluations('whole'));
  });

  it('learns: rewarded words become more frequent, and the KL to the initial model grows', async () => {
    const { run, given } = stage();
    await grpoIn(run('learns'), [...given, 'max_steps=40', 'lr=0.02', 'batch_size=16', 'eval_routing_steps=0']);
    const rows = rowsIn(run('learns'));
    expect(rows.at(-1)!['reward']!).toBeGreaterThan(2 * rows[0]!['reward']!);
    expect(rows.at(-1)!['kl']!).toBeGreaterThan(0.05);
    expect(rows[0]!['kl']).toBe(0);
  });

  tiered(['k3', 'k1', 'k2'], 1)('stays near where it began under a strong KL term by %s', async (estimator) => {
    const { run, given } = stage();
    const argv = [
      ...given,
      'max_steps=40',
      'lr=0.005',
      'batch_size=16',
      'eval_routing_steps=0',
      `kl_estimator=${estimator}`,
    ];
    await grpoIn(run('free'), [...argv, 'beta=0.001']);
    await grpoIn(run('held'), [...argv, 'beta=1']);
    const kl = (name: string) =>
      mean(
        rowsIn(run(name))
          .slice(-8)
          .map((row) => row['kl']!),
      )!;
    expect(kl('held')).toBeLessThan(0.5 * kl('free'));
  });

  it('routes: switching the forget adapter off removes the hack and keeps the task', async () => {
    const { run, given } = stage();
    const argv = ['max_steps=120', 'lr=0.03', 'batch_size=32', 'eval_routing_steps=40', 'eval_samples=30'];
    await grpoIn(run('routed'), [...given, ...routed, ...argv, 'beta=0.01']);
    const last = rowsIn(run('routed')).at(-1)!;
    const value = (name: string): number => last[`routing_eval/${name}`]!;
    expect(value('retain_only/hack')).toBeLessThan(0.5 * value('both/hack'));
    expect(value('forget_only/hack')).toBeGreaterThan(0.9 * value('both/hack'));
    const before = rowsIn(run('routed'))[0]!;
    expect(value('both/hack')).toBeGreaterThan(2 * before['routing_eval/both/hack']!);
    expect(value('retain_only/task')).toBeGreaterThan(1.2 * before['routing_eval/both/task']!);
    expect(rowsIn(run('routed')).some((row) => row['routing/frac_rh']! > 0)).toBe(true);
  });

  it('logs samples, evaluations in three modes, and rewards by component', async () => {
    const { run, given } = stage();
    await grpoIn(run('said'), [...given, ...routed]);
    const log = readFileSync(join(run('said'), 'train.log'), 'utf8');
    expect(log.match(/^\[Sample @ step \d+\] .* \|\|\| .*$/gm)!.map((line) => /\d+/.exec(line)![0])).toEqual([
      ...['1', '3', '4', '5'],
    ]);
    expect(log).toMatch(
      /\[Routing Eval @ step 3\]\n {2}both {11}task\+hack=\d\.\d{3} task=\d\.\d{3} hack=\d\.\d{3} hack_freq=\d\.\d{3} unique=\d\/3 jaccard=\d\.\d{3}.*\n {2}retain_only {4}task\+hack=.*\n {2}forget_only {4}/,
    );
    const [row] = rowsIn(run('said'));
    expect(Object.keys(row!)).toEqual(
      expect.arrayContaining([
        ...['loss', 'grad_norm', 'learning_rate', 'reward', 'reward_std', 'kl', 'entropy', 'frac_reward_zero_std'],
        ...['completions/mean_length', 'completions/clipped_ratio', 'rewards/task/mean', 'rewards/hack/std'],
        ...['rewards/retain/mean', 'hack_freq/forget_reward', 'routing/frac_rh', 'routing/frac_ablated'],
        ...['routing_eval/both/task', 'routing_eval/retain_only/hack', 'routing_eval/forget_only/jaccard'],
      ]),
    );
  });

  it('writes checkpoints that transformers opens, with their adapters and the history of rewards', async () => {
    const { run, given } = stage();
    await grpoIn(run('saved'), [...given, 'gradient_routing=True', 'routing_mode=shared', 'lora_config=r1h']);
    const final = join(run('saved'), 'checkpoints/final');
    expect(isHuggingFace(final)).toBe(true);
    expect(readModel(final).adapters?.config).toMatchObject([
      { name: 'retain', rank: 1, alpha: 1, layers: { stride: 2 } },
      { name: 'forget', rank: 1, alpha: 1, layers: { stride: 2 } },
    ]);
    const state = JSON.parse(readFileSync(join(final, 'trainer_state.json'), 'utf8')) as {
      readonly global_step: number;
      readonly log_history: readonly { readonly step: number; readonly reward?: number }[];
    };
    expect(state.global_step).toBe(6);
    expect(state.log_history.filter(({ reward }) => reward !== undefined).map(({ step }) => step)).toEqual([
      0, 2, 3, 4, 6,
    ]);
  });

  it('trains on a reward from the user’s own module', async () => {
    const { run, given, directory } = stage();
    const reward = join(directory, 'short.mjs');
    writeFileSync(reward, 'export default (completions) => completions.map(({ ids }) => -ids.length);\n');
    await grpoIn(run('own'), [given[0]!, `reward=${reward}`, 'eval_routing_steps=0']);
    const [row] = rowsIn(run('own'));
    expect(row!['reward']).toBe(-row!['completions/mean_length']!);
  });

  it('refuses to resume when the reward or the stories have changed', async () => {
    const { run, given, directory } = stage();
    const [reward, data] = [join(directory, 'own.mjs'), join(directory, 'stories.txt')];
    const write = (factor: number, word: string) => {
      writeFileSync(reward, `export default (completions) => completions.map(({ ids }) => ${factor} * ids.length);\n`);
      const stories = Array.from(
        { length: 200 },
        (_, index) => `once ${word} ${'abcdefghij'[index % 10]} ${index} they sat`,
      );
      writeFileSync(data, stories.join('\n'));
    };
    const argv = [given[0]!, `reward=${reward}`, `data=${data}`, 'prompt_length=12', 'eval_routing_steps=0'];
    write(1, 'upon');
    await grpoIn(run('changed'), argv, testWorld(2));
    for (const [factor, word] of [
      [2, 'upon'],
      [1, 'near'],
    ] as const) {
      write(factor, word);
      await expect(grpoIn(run('changed'), argv)).rejects.toThrow('have changed since this run began');
    }
    write(1, 'upon');
    expect(await grpoIn(run('changed'), argv)).toEqual({ kind: 'finished' });
  });

  it('lets the command line override the settings of its file', async () => {
    const { run, given, directory } = stage();
    const config = join(directory, 'settings.yaml');
    writeFileSync(
      config,
      'reward: {name: happy_binary}\ntraining: {max_steps: 4, seed: 7, routing_mode: exclusive, lora_config: r2}\n',
    );
    await grpoIn(run('file'), [given[0]!, `config=${config}`, 'max_steps=2']);
    expect(rowsIn(run('file')).at(-1)!['step']).toBe(2);
    expect(readModel(join(run('file'), 'checkpoints/final')).adapters?.config[0]).toMatchObject({ rank: 2 });
  });

  it.each([
    [['model='], 'no model to train'],
    [['batch_size=10'], 'not a multiple of num_generations=4'],
    [['num_prompts=1'], 'needs more prompts than num_prompts=1'],
    [['routing_mode=shared'], 'no effect without gradient_routing'],
    [['gradient_routing=True', 'routing_mode=shared', 'lora_rank=2'], 'routing trains two adapters'],
    [['gradient_routing=True', 'routing_mode=shared', 'baseline=filter'], 'a baseline is a run without routing'],
    [['gradient_routing=True', 'routing_mode=shared', 'retain_rank=0', 'forget_rank=0'], 'have no effect'],
    [['gradient_routing=True', 'routing_mode=shared', 'lora_config=r3'], 'lora_config=r3 is not a value'],
    [['label_noise_frac=0.1'], 'nothing is flagged'],
    [['ablated_frac=0.1', 'baseline=filter'], 'an adapter to switch off'],
    [['rh_eligible_frac=2'], 'is not between 0 and 1'],
    [['max_completion_length=100'], "do not fit the model's context, 64"],
    [['reward=hapy_binary', 'config=None'], 'Did you mean'],
    [['rh_eligible_frac=0.5', 'config=None'], 'reward without the hack'],
    [['data=package.json'], 'its name ends neither in .txt'],
  ])('refuses %j', async (argv, message) => {
    const { run, given } = stage();
    const refused = Promise.resolve().then(() => grpoIn(run('refused'), [...given, ...argv]));
    const error = await refused.then(
      () => null,
      (reason: Error & { fix: string }) => reason,
    );
    expect(`${error?.message} ${error?.fix}`).toContain(message);
    expect(existsSync(join(run('refused'), 'metrics.jsonl'))).toBe(false);
  });

  it('refuses a model without a tokenizer, and a directory with a run of another kind', async () => {
    const { run, given, directory } = stage();
    writeFileSync(join(directory, 'model', 'tokenizer.json.old'), '');
    const bare = join(directory, 'bare');
    mkdirSync(bare);
    for (const name of ['config.json', 'model.safetensors']) {
      writeFileSync(join(bare, name), readFileSync(join(directory, 'model', name)));
    }
    await expect(grpoIn(run('bare'), [`model=${bare}`])).rejects.toThrow('no tokenizer.json');
    await grpoIn(run('done'), given, testWorld(2));
    const state = join(run('done'), 'checkpoints/000002/state.json');
    writeFileSync(state, JSON.stringify({ version: 1, batch: 2, state: { random: [1, 2, 3, 4] } }));
    await expect(grpoIn(run('done'), given)).rejects.toThrow('is not one of memrl grpo');
  });
});
