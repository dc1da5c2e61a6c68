import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tiered } from '../tiers.js';
import { removeFolder } from '../remove-folder.js';
import { bundledProgram, memrl, type Program } from './program.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-own-'));
let shipped: Program;
beforeAll(async () => {
  shipped = await bundledProgram();
});
afterAll(() => removeFolder(root));

/** Node.js 20 does not know the question. */
const readsTypeScript = Boolean((process.features as { readonly typescript?: string | false }).typescript);

/** The arguments of the commands in a text, with their paths in a folder of this test. */
function commandsIn(text: string, folder: string): string[][] {
  return [...text.matchAll(/npx memrl (.*)/g)].map(([, line]) =>
    [...line!.matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) =>
      word
        .replaceAll('"', '')
        .replace(/=(runs\/)/, `=${root}/${folder}/$1`)
        .replace(/=\.\/(higher\.mjs)/, `=${root}/$1`),
    ),
  );
}

function rowsOf(run: string): Record<string, number>[] {
  const lines = readFileSync(join(run, 'metrics.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, number>);
}

const module = (name: string, text: string): string => {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};

/** A run of a few steps. */
const short = (...more: string[]) => [
  'train',
  ...['model_name=micro', 'n_batches=2', 'max_tokens=2', 'batch_size=2', 'eval_every=1', 'test_n_batches=1', 'engine=wasm'],
  ...more,
]; // prettier-ignore

describe('the examples', () => {
  /** Learns a game, which takes ten seconds. */
  const game = 'higher-or-lower.mjs';
  // A study is read by the manager, and tried with it; a script runs by itself (test/e2e/hello-algorithm.test.ts).
  const tried = readdirSync('examples').filter((name) => !['study.mjs', 'hello-algorithm.mjs', game].includes(name));
  tiered([...tried, game], tried.length)('%s does what its head says', async (file) => {
    const commands = commandsIn(readFileSync(join('examples', file), 'utf8'), file);
    expect(commands.length).toBeGreaterThan(0);
    for (const argv of commands) {
      const { code, stderr } = await shipped.run(argv);
      if (file.endsWith('.ts') && !readsTypeScript) {
        expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is TypeScript, which this Node.js does not read') as string }); // prettier-ignore
        return;
      }
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }
  });
});

describe('docs/extending.md', () => {
  const page = readFileSync('docs/extending.md', 'utf8');

  it(
    'when followed word by word, trains a two-turn game up to the best possible reward',
    { tags: ['long'] },
    async () => {
      module('higher.mjs', /```js\n([^]*?)```/.exec(page)![1]!);
      const [first] = commandsIn(page, 'page');
      const { code, stderr } = await memrl(first!);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const rows = rowsOf(join(root, 'page/runs/higher'));
      expect(rows[0]!['test/env/all/correct']).toBeLessThan(0.1);
      expect(rows.at(-1)!['test/env/all/correct']).toBeGreaterThan(0.2);
    },
  );

  it('has commands that run: sums are learnt from right answers, then from rewards', async () => {
    const [, supervised, rewarded] = commandsIn(page, 'page');
    expect((await memrl([...supervised!, 'num_epochs=2'])).code).toBe(0);
    expect((await memrl([...rewarded!, 'n_batches=3', 'test_n_batches=1'])).code).toBe(0);
    expect(rowsOf(join(root, 'page/runs/sums')).at(-1)).toHaveProperty('test/env/all/format');
  }, 60_000);

  it('shows valid modules', async () => {
    const [, reward, objective, probe] = [...page.matchAll(/```js\n([^]*?)```/g)].map(([, text]) => text!);
    const argv = [
      `reward=${module('reward.mjs', reward!)}`,
      `objective=${module('objective.mjs', objective!)}`,
      `probe=${module('probe.mjs', probe!)}`,
    ];
    const path = join(root, 'all-own');
    const { code, stderr } = await memrl(short('environment=arithmetic', ...argv, `log_path=${path}`));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(rowsOf(path).at(-1)).toMatchObject({
      'probe/five': expect.any(Number) as number,
      'probe/is_digit': expect.any(Number) as number,
    });
  });
});

describe('user-written modules', () => {
  it('give the bytes of the built-in objective when they compute the same', async () => {
    const is = module('is.mjs', 'export default { loss: (lp, q, A) => -Math.exp(lp - q) * A, gradient: (lp, q, A) => -Math.exp(lp - q) * A };'); // prettier-ignore
    const [own, known] = [join(root, 'is-own'), join(root, 'is-known')];
    await memrl(short('environment=arithmetic', `objective=${is}`, `log_path=${own}`));
    await memrl(short('environment=arithmetic', 'loss_fn=importance_sampling', `log_path=${known}`));
    expect(readFileSync(join(own, 'metrics.jsonl'))).toEqual(readFileSync(join(known, 'metrics.jsonl')));
  });

  it('resume to the same bytes, and are refused once they have changed', async () => {
    const game = module('game.mjs', readFileSync('examples/higher-or-lower.mjs', 'utf8'));
    const [whole, halved] = [join(root, 'whole'), join(root, 'halved')];
    const argv = (path: string, steps: number) => short(`environment=${game}`, `n_batches=${steps}`, `log_path=${path}`, 'eval_every=0'); // prettier-ignore
    for (const [path, steps] of [[whole, 6], [halved, 3], [halved, 6]] as const) await memrl(argv(path, steps)); // prettier-ignore
    // The first half ends with a row of its own, which the longer run does without.
    const last = (path: string) => rowsOf(path).at(-1);
    expect(last(halved)).toEqual(last(whole));
    const weights = (path: string) => readFileSync(join(path, 'checkpoints/final/model.safetensors'));
    expect(weights(halved)).toEqual(weights(whole));
    writeFileSync(game, `${readFileSync(game, 'utf8')}\n// changed`);
    expect((await memrl(argv(halved, 8))).stderr).toContain('has changed since it began');
  });

  it('get one warning for each value of a probe that is not a number', async () => {
    const probe = module('nothing.mjs', 'export default () => ({ a: NaN, b: 1 });');
    const path = join(root, 'nothing');
    const { code, stdout } = await memrl(
      short('environment=arithmetic', `probe=${probe}`, 'n_batches=2', `log_path=${path}`),
    );
    expect(code).toBe(0);
    expect(rowsOf(path).at(-1)).toMatchObject({ 'probe/a': null, 'probe/b': 1 });
    expect(stdout.match(/warning: probe\/a is NaN at step 0, and is null in the metrics/g)).toHaveLength(1);
  });

  const everywhere = [
    {
      name: 'rl',
      argv: ['groups_per_batch=2', 'group_size=2', 'max_tokens=2', 'lora_rank=0'],
      steps: (count: number) => `n_batches=${count}`,
      standard: 'importance_sampling',
    },
    {
      name: 'dr-grpo',
      argv: [
        ...['buffer_size=2', 'num_generations=2', 'rollout_batch_size=2', 'microbatch_size=2', 'max_new_tokens=2'],
        ...['reward_var_thresh=0', 'reject_all_zero=False', 'reject_all_max=False', 'lr=1e-3', 'temperature=1'],
      ],
      steps: (count: number) => `total_steps=${count}`,
      standard: 'ppo',
    },
  ] as const;

  it.each(everywhere)('work in memrl $name, resume, and are refused once they have changed', async (command) => {
    const { name, argv, steps } = command;
    const game = module(`${name}/game.mjs`, readFileSync('examples/higher-or-lower.mjs', 'utf8'));
    const reward = module(`${name}/reward.mjs`, 'export default (all) => all.map(({ text }) => text.length / 2 + 1);');
    const objective = module(`${name}/loss.mjs`, 'export default { loss: (lp, q, A) => -Math.exp(lp - q) * A };');
    const probe = module(`${name}/probe.mjs`, 'export default (policy) => ({ a: NaN, b: policy.updates });');
    const path = join(root, name, 'run');
    const line = (count: number) => [
      ...[name, 'model_name=micro', 'engine=wasm', ...argv, steps(count), 'eval_every=1', 'eval_groups=2'],
      ...[`environment=${game}`, `reward=${reward}`, `objective=${objective}`, `probe=${probe}`, `log_path=${path}`],
    ];
    const { code, stdout, stderr } = await memrl(line(2));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/warning: probe\/a is NaN at step 0/g)).toHaveLength(1);
    expect(rowsOf(path).at(-1)).toMatchObject({ 'probe/a': null, 'probe/b': 2 });
    expect(rowsOf(path)[0]!['env/all/reward/total']).toBeGreaterThan(1);
    expect((await memrl(line(3))).code).toBe(0);
    writeFileSync(objective, 'export default { loss: (lp, q, A) => -lp * A };');
    expect((await memrl(line(4))).stderr).toContain(
      'A module of this run (environment, reward or objective) has changed',
    );
  });

  it.each(everywhere)('give memrl $name the bytes of its own loss when they compute the same', async (command) => {
    const { name, argv, steps, standard } = command;
    const clip = 'Math.min(1.2, Math.max(0.8, Math.exp(lp - q)))';
    const loss = `(lp, q, A) => ${name === 'rl' ? '-Math.exp(lp - q) * A' : `-Math.min(Math.exp(lp - q) * A, ${clip} * A)`}`;
    const gradient = '(lp, q, A) => -Math.exp(lp - q) * A';
    const same = module(`${name}/same.mjs`, `export default { loss: ${loss}, gradient: ${gradient}, clip: { low: 0.8, high: 1.2 } };`); // prettier-ignore
    const weights = async (objective: string) => {
      const path = join(root, name, objective === same ? 'own' : 'known');
      const line = [
        name,
        'model_name=micro',
        'engine=wasm',
        ...argv,
        steps(4),
        'eval_groups=0',
        `objective=${objective}`,
      ];
      const { code, stderr } = await memrl([...line, 'environment=./examples/higher-or-lower.mjs', `log_path=${path}`]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return readFileSync(join(path, 'checkpoints/final/model.safetensors'));
    };
    expect(await weights(same)).toEqual(await weights(standard));
  });

  it('with an objective are refused where a service computes the loss', async () => {
    const objective = module('served.mjs', 'export default { loss: (lp, q, A) => -lp * A };');
    const line = [
      'rl',
      'engine=tinker',
      'base_url=http://127.0.0.1:1',
      'model_name=memrl/tiny',
      `objective=${objective}`,
    ];
    const { code, stderr } = await memrl([...line, `log_path=${join(root, 'served')}`]);
    expect(stderr).toContain('cannot be computed on a service');
    expect(code).toBe(2);
  });

  let written = 0;
  // A folder for each, as a process loads a file once.
  const environment = (text: string) => `environment=${module(`${++written}/wrong.mjs`, text)}`;
  const playing = (respond: string) => environment(`export default { task: () => ({ prompt: 'x' }), respond: ${respond} };`); // prettier-ignore
  let tried = 0;
  it.each([
    [() => environment('export default 3;'), 'wrong.mjs` is not an environment: it is not an object'],
    [() => environment('export default { task: 1 };'), '`task` is not a function'],
    [() => environment('export default { task: () => ({}), respond: () => ({}), size: -1 };'), '`size` is not a whole'],
    [() => environment('export default {'), 'wrong.mjs cannot be loaded'],
    [() => environment('export default () => { throw new Error("oh no"); };'), 'wrong.mjs` failed: oh no'],
    [() => environment('export default { task: () => ({ prompt: "" }), respond: () => 0 };'), 'the prompt of task 0'],
    [() => environment('export default { task: () => ({ prompt: "né" }), respond: () => 0 };'), 'cannot write: "né"'],
    [() => playing('() => ({ reward: NaN })'), 'wrong.mjs`, task 0: `reward` is NaN'],
    [() => playing('() => undefined'), 'task 0: `reward` is undefined'],
    [() => playing('async () => { throw new Error("oh no"); }'), 'task 0 failed: oh no'],
    [() => playing('() => ({ reward: 1, metrics: { a: "b" } })'), '`metrics.a` is b'],
    [() => playing('() => ({ reward: 1, next: 3 })'), 'gave 3 as `next`'],
    [() => playing('() => ({ reward: 1 }), scoreGroup: () => [1]'), '`scoreGroup` gave 1 numbers for 4 episodes'],
    [() => `environment=arithmetic objective=${module('loss.mjs', 'export default {};')}`, 'has no function `loss`'],
    [() => `environment=./examples/higher-or-lower.mjs batch_size=20 max_tokens=1 objective=${module('nan.mjs', 'export default { loss: () => NaN };')}`, 'its loss is NaN'],
    [() => `environment=arithmetic probe=${module('look.mjs', 'export default () => ({ a: "b" });')}`, 'returned b for `a`'],
    [() => `environment=arithmetic probe=${module('look2.mjs', 'export default () => { throw "oh no"; };')}`, 'failed: oh no'],
  ])('that are wrong end the run with an error message (%#: %s)', async (argv, said) => {
    const { code, stderr } = await memrl(short(...argv().split(' '), `log_path=${join(root, `wrong-${++tried}`)}`));
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('at file:');
    expect(code).toBe(2);
  }); // prettier-ignore
});
