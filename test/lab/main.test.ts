import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { tiered } from '../tiers.js';
import { storyModel } from './algorithms/story-model.js';
import { bundledProgram, memrl, type Program } from './program.js';
import { resultsIn, rowsIn } from './algorithms/run-in-test.js';
import { tempDirectory } from './temp-directory.js';
import { PATIENCE_MS } from '../patience.js';

/** As it is shipped: for what only a process shows. */
let shipped: Program;
beforeAll(async () => {
  shipped = await bundledProgram();
});

const training =
  'train model_name=micro load_checkpoint_path=none N=64 reward_type=log_distance max_tokens=3 entropy_coef=0.01 test_n_batches=1 eval_every=50 log_every=20 save_every=100'.split(
    ' ',
  );

describe('the program memrl', () => {
  it.each([
    [[], 2, /memrl train +Learns a secret/],
    [['--help'], 0, /memrl sft-data/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
    [['train', '--help'], 0, /learning_rate=0.00004 +float ≥ 0 +learning rate of Adam/],
    [['warmup', '--help'], 0, /n_values=16,64,256,1024,4096/],
  ])('%j ends with %i and explains itself', async (argv, code, words) => {
    expect(await memrl(argv)).toMatchObject({ code, stdout: expect.stringMatching(words) as string, stderr: '' });
  });

  it('has keys for each command that it lists', async () => {
    const { stdout } = await memrl(['--help']);
    const names = [...stdout.matchAll(/^  memrl (\S+) /gm)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) {
      expect(await memrl([name, '--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('=') as string });
    }
  });

  const refused = new Set<string>();
  it.each([
    [['trian'], /no command `trian`/],
    [['train', 'learning_rte=1'], /no key `learning_rte`.*\n\n→ Did you mean `learning_rate`/],
    [['train', 'group_size=1', 'log_path=LOG'], /group_size=1 cannot learn[^]*→ Set group_size/],
    [['sft', 'train_data_path=/nowhere', 'log_path=LOG'], /\/nowhere cannot be read[^]*→ Write it with memrl sft-data/],
    [['eval'], /nothing to evaluate/],
    [['model'], /No model was given/],
    [['eval-run'], /no model to evaluate/],
    [['eval-run', '/nowhere'], /no checkpoint in \/nowhere/],
    [['observer'], /No run was given/],
    [['observer', '/nowhere'], /no run of memrl train in \/nowhere/],
    [['rollouts', 'step=3'], /No run was given/],
    [['rollouts', '/nowhere'], /No step was given/],
    [['rollouts', '/nowhere', '--step', '3'], /no run of memrl train in \/nowhere/],
    [['ideal', 'N=8192'], /more than can be enumerated/],
    [['model', '/nowhere', 'output_dir=/nowhere/else'], /no checkpoint in \/nowhere/],
    [['train', 'log_path=/dev/null/run'], /cannot be made/],
    [['train', 'log_path=/proc/run'], /cannot be made/],
    [['sft-data', 'output_dir=/proc/data'], /cannot be made[^]*→ Choose another output_dir/],
  ])('%j is the user’s to mend: code 2, two lines, no trace', async (argv, words) => {
    const directory = tempDirectory();
    // Each command is refused once by the shipped program, which shows that it finds what it needs.
    const run = refused.has(argv[0]!) ? memrl : shipped.run;
    refused.add(argv[0]!);
    const { code, stderr } = await run(argv.map((argument) => argument.replace('LOG', directory)));
    expect(code).toBe(2);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/ at .*\.m?js/);
  });

  it.each([
    ['train', 'model_name=micro', 'group_size=1'],
    ['train', 'model_name=micro', 'load_checkpoint_path=/nowhere'],
    ['train', 'N=16', 'learning_rate=banana'],
    ['sft', 'train_data_path=/nowhere'],
    ['grpo', 'model_name=/nowhere'],
    ['rl', 'environment=/nowhere.mjs', 'model_name=micro'],
    ['rl_loop', 'path=/nowhere'],
  ])('%j leaves nothing behind when it is refused', async (...argv) => {
    const base = tempDirectory();
    const { code } = await memrl([...argv, `log_path=${join(base, 'runs/first')}`]);
    expect([code, readdirSync(base)]).toEqual([2, []]);
  });

  it('takes the W&B project from the environment when none is given', async () => {
    const path = join(tempDirectory(), 'run');
    vi.stubEnv('WANDB_PROJECT', 'bits');
    await memrl(['train', 'model_name=micro', 'load_checkpoint_path=none', 'n_batches=1', `log_path=${path}`]);
    vi.unstubAllEnvs();
    expect(JSON.parse(readFileSync(join(path, 'config.json'), 'utf8'))).toMatchObject({ wandb_project: 'bits' });
    expect(readdirSync(join(path, 'wandb'))).toHaveLength(1);
  });

  it('refuses to resume a run with other settings, and leaves it unchanged', async () => {
    const path = join(tempDirectory(), 'run');
    const first = ['train', 'model_name=micro', 'load_checkpoint_path=none', 'n_batches=1', `log_path=${path}`];
    expect((await memrl(first)).code).toBe(0);
    const files = () => readdirSync(path).map((name) => [name, statSync(join(path, name)).size]);
    const before = files();
    expect((await memrl([...first, 'n_batches=2', 'load_checkpoint_path=/nowhere', 'N=64'])).code).toBe(2);
    expect(files()).toEqual(before);
  });

  it.skipIf(!existsSync('/dev/full'))('says that the disk is full in two lines', async () => {
    const directory = tempDirectory();
    symlinkSync('/dev/full', join(directory, 'config.json.new'));
    const { code, stderr } = await memrl([
      'train',
      'model_name=micro',
      'load_checkpoint_path=none',
      'n_batches=1',
      `log_path=${directory}`,
    ]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        /^The system refused: write: the disk is full.*\(ENOSPC\)\.\n\n→ Fix the cause and try again\.\n$/,
      ) as string,
    });
  });

  it('runs from data and warm-up to training and evaluation through files alone', async () => {
    const base = tempDirectory();
    const at = (name: string) => join(base, name);
    expect(
      (await memrl(['sft-data', 'N=64', 'fixed_secret=42', 'num_train=256', `output_dir=${at('data')}`])).code,
    ).toBe(0);
    const sft = [
      'sft',
      'model_name=micro',
      'load_checkpoint_path=none',
      'N=64',
      'fixed_secret=42',
      'learning_rate=3e-2',
      'num_epochs=30',
      'eval_n_batches=0',
    ];
    const learnt = await memrl([
      ...sft,
      `train_data_path=${at('data/train.jsonl')}`,
      `log_path=${at('sft')}`,
      'renderer_name=llama3',
    ]);
    expect(learnt).toMatchObject({ code: 0, stderr: '' });
    expect(learnt.stdout).toMatch(/renderer_name=llama3 has no effect here: /);
    const trained = await memrl([
      ...training,
      'n_batches=5',
      'fixed_secret=42',
      `load_checkpoint_path=${at('sft')}`,
      `log_path=${at('rl')}`,
    ]);
    expect(trained).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(readFileSync(at('rl/config.json'), 'utf8'))).toMatchObject({
      N: 64,
      log_path: at('rl'),
      lora_rank: 0,
    });
    expect(rowsIn(at('rl'))[0]!['test/bits/answer_raw']).toBeGreaterThan(5);
    const measured = await memrl([
      'eval',
      'N=64',
      'fixed_secret=42',
      'episodes=50',
      'max_tokens=3',
      `load_checkpoint_path=${at('sft')}`,
    ]);
    expect(JSON.parse(measured.stdout)).toMatchObject({
      'test/greedy': 42,
      'test/bits/answer_raw': rowsIn(at('rl'))[0]!['test/bits/answer_raw'],
    });
  });

  it('describes and exports a Hugging Face model, and exits with 2 when it cannot be opened', async () => {
    const model = 'test/fixtures/hugging-face/plain-untied-sharded';
    const target = join(tempDirectory(), 'copy');
    const stdout = expect.stringMatching(/^parameters +11,688; stored as BF16/m) as string;
    expect(await memrl(['model', model, `output_dir=${target}`])).toMatchObject({ code: 0, stdout, stderr: '' });
    const again = expect.stringMatching(/^parameters +11,688; stored as F32/m) as string;
    expect(await memrl(['model', `path=${target}`])).toMatchObject({ code: 0, stdout: again });
    writeFileSync(
      join(target, 'config.json'),
      readFileSync(join(model, 'config.json'), 'utf8').replace('silu', 'gelu'),
    );
    const why = expect.stringMatching(/^cannot open +`hidden_act` is gelu/m) as string;
    expect(await memrl(['model', target])).toMatchObject({ code: 2, stdout: why });
  });

  it('evaluates a story model as lines or JSON, and exits with 0 whatever the verdict', async () => {
    const model = storyModel(join(tempDirectory(), 'model'));
    const argv = ['eval-run', model, 'max_completion_length=4', 'n_samples=2'];
    const said = await memrl(argv);
    expect(said).toMatchObject({ code: 0, stderr: '' });
    expect(said.stdout).toMatch(/\[both\]\n {2}happy_binary +0[^]*VERDICT: FAIL\n {2}- no reward was logged/);
    const { code, stdout } = await memrl([...argv, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(readFileSync(`${model}.eval_run.json`, 'utf8')));
  });

  it('refuses another experiment in the same directory', async () => {
    const directory = tempDirectory();
    await memrl([...training, 'n_batches=1', `log_path=${directory}`]);
    const { code, stderr } = await memrl([...training, 'n_batches=2', 'seed=1', `log_path=${directory}`]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/holds a run with seed=0, and this one has seed=1/);
  });

  const endings = [
    ['SIGKILL', null],
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const;
  const ways = [
    { what: 'killed, interrupted and terminated', signals: endings, more: ['n_batches=1500'] },
    { what: 'with LoRA, and killed', signals: endings.slice(0, 1), more: ['n_batches=800', 'lora_rank=2'] },
    {
      what: 'with LoRA and several Adam steps a batch, held to the model it began with, and killed twice',
      signals: [...endings.slice(0, 1), ...endings.slice(0, 1)],
      more: [
        ...['n_batches=400', 'lora_rank=2', 'num_substeps=2', 'loss_fn=ppo', 'batch_size=2', 'kl_penalty_coef=0.1'],
        // Rows between two checkpoints, and steps between two rows, are lost with it.
        ...['log_every=7', 'save_every=50'],
      ],
    },
  ];
  tiered(ways, 1)(
    '$what on its way, it ends with the files of a run that was left alone',
    async ({ signals, more }) => {
      const [straight, broken] = [tempDirectory(), tempDirectory()];
      const argv = [...training, ...more];
      expect(await memrl([...argv, `log_path=${straight}`])).toMatchObject({ code: 0 });
      for (const [signal, code] of signals) {
        const before = existsSync(join(broken, 'metrics.jsonl')) ? rowsIn(broken).length : 0;
        const { child, ended } = shipped.start([...argv, `log_path=${broken}`]);
        await vi.waitFor(() => expect(rowsIn(broken).length).toBeGreaterThan(before + 8), {
          timeout: PATIENCE_MS,
          interval: 2,
        });
        child.kill(signal);
        expect(await ended).toMatchObject(
          code === null ? { signal } : { code, stdout: expect.stringContaining(`${signal}: saved at step`) as string },
        );
        expect(existsSync(join(broken, 'checkpoints/final'))).toBe(false);
      }
      expect(await memrl([...argv, `log_path=${broken}`])).toMatchObject({ code: 0 });
      expect(resultsIn(broken)).toEqual(resultsIn(straight));
    },
  );
});
