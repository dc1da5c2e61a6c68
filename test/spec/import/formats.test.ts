import { describe, expect, it } from 'vitest';
import { planOf, refusal } from '../sweeps.js';
import { commandsOf, imported } from './imported.js';

const train = { command: ['python', 'train.py', '-m'] };

describe('a configuration of Hydra', () => {
  it('becomes the overrides of a multirun, with numbers as Python writes them', () => {
    const made = imported(
      `hydra:
  sweeper:
    params:
      lr: 0.1,1e-5,1.0
      layers: "[1,2],[3]"
      name: "choice('a, b',yes)"
      n: range(0,2)
      keep: true
`,
      'config.yaml',
      train,
    );
    const names = ["⟨name='a, b'⟩", 'name=yes'];
    const layers = ['⟨layers=[1, 2]⟩', 'layers=[3]'];
    const expected = ['lr=0.1', 'lr=1e-05', 'lr=1.0'].flatMap((lr) =>
      layers.flatMap((layer) =>
        names.flatMap((name) => ['n=0', 'n=1'].map((n) => `python train.py ${lr} ${layer} ${name} ${n} keep=True`)),
      ),
    );
    expect(commandsOf(made)).toEqual(expected);
    expect(made.notes).toEqual(['`--multirun` is left out of the command: the sweep takes its place.']);
  });

  it('passes config groups by their names, and turns off a multirun that the configuration asks for', () => {
    const text = 'hydra:\n  mode: MULTIRUN\n  sweeper:\n    params:\n      db/opt@src: adam,sgd\n      lr: 0.1\n';
    expect(commandsOf(imported(text, 'config.yaml', train))).toEqual([
      'python train.py hydra.mode=RUN db/opt@src=adam lr=0.1',
      'python train.py hydra.mode=RUN db/opt@src=sgd lr=0.1',
    ]);
  });

  it('keeps `-m` of Python itself', () => {
    const text = 'hydra: { sweeper: { params: { lr: "1,2" } } }';
    const command = ['python', '-m', 'lab.train', '-m', 'seed=1'];
    expect(commandsOf(imported(text, 'c.yaml', { command }))).toEqual([
      'python -m lab.train seed=1 lr=1',
      'python -m lab.train seed=1 lr=2',
    ]);
  });

  it.each([
    ['x: glob(*)', 'glob'],
    ['x: shuffle(1,2)', 'shuffle'],
    ['x: interval(0,1)', 'cannot draw from an interval'],
    ['x: 1,1.0', 'as a whole number and as one with a point'],
    ['x: nan,1', 'no number for a sweep file'],
    ['+x: 1,2', 'no form among parameters'],
    ['x: {a: 1}', 'no value of an override'],
    ['x: "[a:b]"', 'no values of Hydra'],
  ])('is refused with its line where it says `%s`', (line, why) => {
    const text = `hydra:\n  sweeper:\n    params:\n      ok: 1\n      ${line}\n`;
    const { message } = refusal(() => imported(text, 'c.yaml', train));
    expect(message).toContain('c.yaml:5:');
    expect(message).toContain(why);
  });

  it('asks for the command, which the file does not have', () => {
    const text = 'hydra: { sweeper: { params: { lr: "1,2" } } }';
    expect(refusal(() => imported(text, 'c.yaml')).fix).toContain('memrl-tui import c.yaml -- python train.py');
  });
});

describe('a configuration for the Optuna sweeper', () => {
  const text = (more: string) => `defaults:
  - override hydra/sweeper: optuna
${more}
hydra:
  sweeper:
    direction: maximize
    n_trials: 12
    n_jobs: 2
    params:
      x: interval(-5, 5)
      y: tag(log, interval(0.001, 1))
      z: range(1, 3)
      w: choice(a, b)
`;

  it('is a search by the metric that it names', () => {
    const made = imported(text('optimized_metric: val/acc'), 'c.yaml', train);
    expect(made.text).toContain('metric: { name: val/acc, goal: maximize }');
    expect(made.text).toContain('run_cap: 12');
    expect(made.text).toContain('method: bayes');
    expect(made.text).toContain('"y": { distribution: log_uniform_values, min: 0.001, max: 1 }');
    // Optuna includes the end.
    expect(made.text).toContain('z: [1, 2, 3]');
    expect(made.options).toEqual(['--slots', '2']);
    expect(planOf(made.text).source).toBeDefined();
  });

  it('draws at random where it names none, and says so', () => {
    const made = imported(text(''), 'c.yaml', train);
    expect(commandsOf(made)).toHaveLength(12);
    expect(made.notes.join('\n')).toContain('drawn at random');
    expect(made.notes.join('\n')).toContain('`metric: { name: …, goal: … }`');
  });

  it('is read in the form of Hydra 1.1, and as a file of the group `hydra/sweeper`', () => {
    const made = imported(
      `# @package hydra.sweeper
_target_: hydra_plugins.hydra_optuna_sweeper.optuna_sweeper.OptunaSweeper
sampler: { _target_: optuna.samplers.RandomSampler }
n_trials: 4
search_space:
  x: { type: int, low: 1, high: 8 }
  y: { type: categorical, choices: [5, 5.5] }
`,
      'optuna.yaml',
      train,
    );
    expect(commandsOf(made)).toHaveLength(4);
    expect(made.text).toContain('x: { distribution: int_uniform, min: 1, max: 8 }');
  });
});

describe('a SEML file', () => {
  const head = 'seml:\n  executable: train.py\n';

  it('becomes the grid of each sub-config, in the order of SEML, with values in Python’s notation', () => {
    const made = imported(
      `${head}fixed:
  epochs: 10
  opt.name: adam
grid:
  opt.lr: { type: loguniform, min: 1e-5, max: 1e-3, num: 3 }
  drop: { type: range, min: 0, max: 0.3, step: 0.1 }
small:
  grid:
    data: { type: choice, options: [a, b] }
large:
  fixed: { data: c, epochs: 20 }
`,
      'exp.yaml',
    );
    const lrs = ['1e-05', '0.0001', '0.001'];
    const drops = ['0.0', '0.1', '0.2'];
    const small = lrs.flatMap((lr) =>
      drops.flatMap((drop) =>
        ["'a'", "'b'"].map(
          (data) => `python train.py with opt.lr=${lr} drop=${drop} data=${data} epochs=10 opt.name='adam'`,
        ),
      ),
    );
    const large = lrs.flatMap((lr) =>
      drops.map((drop) => `python train.py with opt.lr=${lr} drop=${drop} epochs=20 opt.name='adam' data='c'`),
    );
    expect(commandsOf(made).toSorted()).toEqual([...small, ...large].toSorted());
    expect(planOf(made.text).groups.map(({ name }) => name)).toEqual(['small', 'large']);
    expect(made.notes.join('\n')).toContain('SEML adds a seed');
  });

  it('zips what belongs together, and draws `samples` points at each point of the grid', () => {
    const zip = imported(
      `${head}grid:
  a: { type: choice, options: [1, 2], zip_id: z }
  b: { type: choice, options: [x, true], zip_id: z }
  seed: { type: choice, options: [0, 1] }
`,
      'exp.yaml',
    );
    expect(commandsOf(zip).toSorted()).toEqual(
      ["seed=0 a=1 b='x'", "seed=1 a=1 b='x'", 'seed=0 a=2 b=True', 'seed=1 a=2 b=True']
        .map((words) => `python train.py with ${words}`)
        .toSorted(),
    );
    const drawn = imported(
      `${head}grid:
  seed: { type: choice, options: [0, 1] }
random:
  samples: 3
  lr: { type: loguniform, min: 0.001, max: 0.1 }
  k: { type: randint, min: 0, max: 2 }
`,
      'exp.yaml',
    );
    const runs = planOf(drawn.text).runs;
    expect(runs).toHaveLength(6);
    expect(runs.every(({ parameters }) => [0, 1].includes(Number(parameters['k'])))).toBe(true);
    expect(drawn.notes.join('\n')).toContain('drawn anew');
  });

  it('takes the options of its jobs', () => {
    const made = imported(
      `${head}slurm:
  - max_simultaneous_jobs: 4
    experiments_per_job: 2
    sbatch_options: { gres: "gpu:a100:1", mem: 16G, cpus-per-task: 2, time: 0-08:00, partition: g, output: x.log }
fixed: { a: 1 }
`,
      'exp.yaml',
    );
    expect(made.text).toContain('executor: slurm\nresources: { gpus: 1, cpus: 2, per_gpu: 2 }');
    expect(made.text).toContain('slurm:\n  time: "8h"\n  partition: g\n  extra: ["--gres=gpu:a100:1", "--mem=16G"]');
    expect(made.options).toEqual(['--slots', '4']);
    expect(made.notes.join('\n')).toContain('line 6: `--output` is left out');
    expect(planOf(made.text).executor).toBe('slurm');
  });

  it.each([
    ['fixed: { a: "${config.b}" }', 'interpolation'],
    ['fixed: { +preset: x }', 'named config'],
    ['grid: { a: { type: gaussian, min: 1, max: 2, num: 2 } }', 'gaussian'],
    ['random: { a: { type: uniform, min: 0, max: 1 } }', 'samples'],
    ['grid: { a: { type: choice, options: [1], zip_id: u }, b: { type: choice, options: [1], zip_id: v } }', 'zip_id'],
  ])('is refused where it says `%s`', (line, why) => {
    expect(refusal(() => imported(`${head}${line}\n`, 'exp.yaml')).message).toContain(why);
  });
});

describe('a file of guild', () => {
  it('becomes the flags of its operation, by name as guild sorts them', () => {
    const made = imported(
      `train:
  main: lab/train --fast
  flags:
    seed: range[1:2]
    lr: [0.1, 1.0]
    wd: linspace[0:1:3]
    label: { default: ab, arg-name: name }
    amp: { default: true, arg-switch: true }
    off: { default: false, arg-switch: true }
    unset: null
`,
      'guild.yml',
    );
    const expected = ['0.1', '1.0'].flatMap((lr) =>
      ['1', '2'].flatMap((seed) =>
        ['0.0', '0.5', '1.0'].map(
          (wd) => `python -m lab.train --fast --amp --name ab --lr ${lr} --seed ${seed} --wd ${wd}`,
        ),
      ),
    );
    expect(commandsOf(made)).toEqual(expected);
  });

  it('puts flags where `exec` has them, and draws from functions', () => {
    const made = imported(
      `- model: m
  operations:
    fit:
      exec: ./fit.sh -- \${flag_args} end
      max-trials: 3
      flags: { lr: "loguniform[0.001:0.1]", seed: [1, 2] }
`,
      'guild.yml',
    );
    const runs = planOf(made.text).runs;
    expect(runs).toHaveLength(3);
    expect(runs[0]!.argv.slice(0, 3)).toEqual(['./fit.sh', '--', '--lr']);
    expect(runs[0]!.argv.slice(4)).toEqual(['--seed', expect.stringMatching(/^[12]$/), 'end']);
  });

  it.each([
    ['main: train\n  flags: { amp: true }', 'as a switch depends on the script'],
    ['main: train\n  flags-dest: globals', 'flags-dest'],
    ['steps: [a, b]', 'steps'],
    ['exec: python a.py | tee log', 'a pipe'],
    ['main: train\n  flags: { x: "gauss[0:1]" }', 'gauss'],
  ])('is refused where it says `%s`', (line, why) => {
    expect(refusal(() => imported(`train:\n  ${line}\n`, 'guild.yml')).message).toContain(why);
  });
});

describe('a file of Ray Tune', () => {
  it('becomes the command of each point, with the configuration as JSON', () => {
    const made = imported(
      `cartpole-ppo:
  env: CartPole-v1
  run: PPO
  stop: { episode_reward_mean: 150 }
  checkpoint_at_end: true
  callbacks: x
  num_samples: 2
  config:
    lr: { grid_search: [0.1, 1e-4] }
    model: { act: relu, hiddens: { grid_search: [[64, 64], [256]] } }
`,
      'ppo.yaml',
    );
    const head =
      'rllib train --run PPO --env CartPole-v1 --stop {"episode_reward_mean":150} --checkpoint-at-end --config';
    expect(commandsOf(made)).toEqual([
      `${head} {"lr":0.1,"model":{"act":"relu","hiddens":[64,64]}}`,
      `${head} {"lr":0.1,"model":{"act":"relu","hiddens":[256]}}`,
      `${head} {"lr":0.0001,"model":{"act":"relu","hiddens":[64,64]}}`,
      `${head} {"lr":0.0001,"model":{"act":"relu","hiddens":[256]}}`,
    ]);
    expect(made.notes.join('\n')).toContain('line 6: `callbacks` is left out');
    expect(made.notes.join('\n')).toContain('line 7: `num_samples: 2` is left out');
  });

  it('draws from tune’s functions', () => {
    const made = imported(
      `x:
  run: PPO
  env: E
  num_samples: 5
  config: { lr: "tune.loguniform(1e-4, 1e-1)", k: "tune.randint(0, 2)", act: "tune.choice(['a', 'b'])", seed: { grid_search: [0, 1] } }
`,
      'ppo.yaml',
    );
    expect(planOf(made.text).runs).toHaveLength(10);
    const { message } = refusal(() => imported('x: { run: PPO, config: { lr: "tune.sample_from(f)" } }', 'a.yaml'));
    expect(message).toContain('tune.sample_from');
  });
});

describe('any other file', () => {
  it('is told what is known, and a W&B file that it is launched as it is', () => {
    expect(refusal(() => imported('a: 1', 'a.yaml')).message).toBe('a.yaml is of no kind that can be imported.');
    const wandb = refusal(() => imported('method: grid\nparameters: { a: { values: [1] } }', 'w.yaml'));
    expect(wandb.message).toBe('w.yaml is a W&B sweep file, which is launched as it is.');
  });

  it('takes no command where the file names its own', () => {
    const { fix } = refusal(() => imported('seml: { executable: a.py }\nfixed: { a: 1 }', 'a.yaml', train));
    expect(fix).toBe('Leave the command out.');
  });

  it('is refused where its aliases are too many, or it is too deep', () => {
    const bomb = `seml: { executable: a.py }\na: &a [${'x,'.repeat(50)}]\n${'bcdefgh'
      .split('')
      .map((name, index) => `${name}: &${name} [${`*${'abcdefg'[index]},`.repeat(50)}]`)
      .join('\n')}\nfixed: { a: *h }\n`;
    expect(refusal(() => imported(bomb, 'a.yaml')).message).toMatch(/aliases|values|of no kind/);
    expect(refusal(() => imported(`seml: ${'['.repeat(5000)}`, 'a.yaml')).message).not.toBe('');
  });
});
