import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planOf, refusal } from '../sweeps.js';

const fixture = (name: string, environment = {}) =>
  planOf(readFileSync(`test/fixtures/wandb/${name}.yaml`, 'utf8'), { path: `${name}.yaml`, environment });
const wandb = (text: string, options = {}) => planOf(`program: train.py\n${text}`, options);
const points = (text: string) =>
  wandb(text).runs.map(({ parameters }) => Object.values(parameters).map(String).join(' '));

describe('a W&B sweep file', () => {
  it('is taken as it is: name, project, alphabetical order, nested parameters in one argument', () => {
    const plan = fixture('grid');
    expect(plan.sweep).toBe('MNIST-depth-rate');
    expect(plan.notes).toBeUndefined();
    expect(plan.runs.map(({ argv }) => argv.slice(3).join(' '))).toEqual(
      [true, false].flatMap((augment) =>
        [2, 3].flatMap((depth) =>
          [0.1, 0.01].flatMap((lr) =>
            ['sgd', 'adam'].map(
              (name) =>
                `--augment=${augment ? 'True' : 'False'} --depth=${depth} --epochs=10 --optimizer={'lr': ${lr}, 'name': '${name}'}`,
            ),
          ),
        ),
      ),
    );
    const [first] = plan.runs;
    expect(first!.argv.slice(0, 3)).toEqual(['/usr/bin/env', 'python', 'train.py']);
    expect(first!.env).toMatchObject({ WANDB_PROJECT: 'mnist', WANDB_ENTITY: 'ada' });
    expect(first!.objective).toEqual({ name: 'val_loss', goal: 'minimize' });
    expect(first!.parameters).toMatchObject({ 'optimizer.lr': 0.1, 'optimizer.name': 'sgd' });
  });

  it('draws its random runs from a seed, with all its distributions, and says what is passed over', () => {
    const plan = fixture('random', { OUT_DIR: '/out' });
    expect(plan.runs).toHaveLength(30);
    expect(plan.runs).toEqual(fixture('random', { OUT_DIR: '/out' }).runs);
    for (const { parameters, argv, earlyTerminate, objective } of plan.runs) {
      const {
        learning_rate: rate,
        batch_size: batch,
        dropout,
        layers,
        momentum,
      } = parameters as Record<string, number>;
      expect(rate! >= 0.0001 && rate! <= 0.1 && dropout! >= 0 && dropout! <= 0.5).toBe(true);
      expect(batch! % 8 === 0 && batch! >= 32 && batch! <= 256 && Number.isInteger(layers)).toBe(true);
      expect(momentum! > 0 && momentum! < 1 && parameters['dataset'] === 'cifar10').toBe(true);
      expect(argv.slice(0, 5)).toEqual(['/usr/bin/env', 'python', '-u', 'train.py', '--out=/out/x']);
      expect(argv.includes('--nesterov')).toBe(parameters['nesterov']);
      expect(argv).not.toContain('${no_such_macro}');
      expect(earlyTerminate).toEqual({ type: 'hyperband', max_iter: 27, s: 2, eta: 3, strict: true });
      expect(objective).toMatchObject({ name: 'accuracy', goal: 'maximize', target: 0.99 });
    }
    expect(plan.notes).toEqual([
      "`controller` is for W&B's server; nothing here depends on it.",
      '`metric.impute` matters to `method: bayes` only.',
      '${no_such_macro} in `command` is not a macro; the word is left out, as in W&B.',
    ]);
  });

  it('steps q_uniform as NumPy does, has each point once, and hands parameters over in a file', () => {
    const plan = fixture('hyperband');
    expect(plan.runs.map(({ parameters }) => [parameters['width'], parameters['seed']])).toEqual(
      // numpy.arange(0.1, 0.5, 0.1), sorted after `seed` and before nothing.
      [1, 2].flatMap((seed) => [0.1, 0.2, 0.30000000000000004, 0.4].map((width) => [width, seed])),
    );
    const [first] = plan.runs;
    const inside = { model: { encoder: { size: 64 } }, seed: 1, width: 0.1 };
    expect(JSON.parse(first!.argv.at(-1)!)).toEqual(inside);
    expect(first!.argv.at(-2)).toBe(`${first!.directory}/args.json`);
    expect(Object.keys(first!.files!)).toEqual(['args.json', 'wandb-config.yaml']);
    expect(JSON.parse(first!.files!['args.json']!)).toEqual(inside);
  });

  it('ends a grid at run_cap, in its order', () => {
    expect(points('method: grid\nrun_cap: 3\nparameters: {b: {values: [1, 2]}, a: {values: [x, y]}}')).toEqual([
      'x 1',
      'x 2',
      'y 1',
    ]);
  });

  it('makes no more of a huge grid than `run_cap` asks for', () => {
    const axis = JSON.stringify(Array.from({ length: 600 }, (_, index) => index));
    const huge = (more: string) => `method: grid\nparameters: {b: {values: ${axis}}, a: {values: ${axis}}}\n${more}`;
    expect(points(huge('run_cap: 10'))).toEqual(Array.from({ length: 10 }, (_, b) => `0 ${b}`));
    expect(points(huge('run_cap: 2\nexclude: [{a: 0}, {a: 1, b: 0}]'))).toEqual(['1 1', '1 2']);
    expect(points(huge('run_cap: 2\nwhen: a + b == 900'))).toEqual(['301 599', '302 598']);
    expect(refusal(() => wandb(huge('run_cap: 2\nwhen: a + b > 900 && b == 0'))).message).toContain(
      'of the first 200,000 combinations only 0 are runs, fewer than `run_cap`',
    );
    expect(refusal(() => wandb(huge(''))).fix).toContain('`run_cap: 100`');
  });

  it.each([
    { form: 'distribution: normal, mu: 3, sigma: 0', gives: 3 },
    { form: 'distribution: q_normal, mu: 3.2, sigma: 0', gives: 3 },
    { form: 'distribution: log_normal, mu: 0, sigma: 0', gives: 1 },
    { form: 'distribution: q_log_normal, mu: 1, sigma: 0, q: 2', gives: 2 },
  ])('takes a normal distribution without spread, and says that W&B draws NaN: $form', ({ form, gives }) => {
    const text = `method: random\nrun_cap: 2\nparameters: {a: {${form}}, b: {min: 0.0, max: 1.0}}`;
    const { runs, notes } = wandb(text);
    expect(runs.map(({ parameters }) => parameters['a'])).toEqual([gives, gives]);
    expect(notes).toEqual(['`a` has `sigma: 0`, so all runs have one value; W&B draws NaN from it.']);
    expect(wandb(`${text}\nmetric: {name: loss}`.replace('random', 'bayes')).runs[0]!.parameters['a']).toBe(gives);
  });

  it('takes whole numbers only for int_uniform', () => {
    const text = 'method: random\nrun_cap: 1\nparameters: {a: {distribution: int_uniform, min: 1.5, max: 4.5}}';
    expect(refusal(() => wandb(text)).message).toContain('must be whole numbers; they are 1.5 and 4.5');
  });

  it('needs no metric for `early_terminate`, which then ends no runs', () => {
    const rule = 'early_terminate: {type: hyperband, min_iter: 3}';
    const { runs, notes } = wandb(`method: grid\nparameters: {a: {values: [1, 2]}}\n${rule}`);
    expect(runs.map(({ earlyTerminate }) => earlyTerminate)).toEqual([null, null]);
    expect(notes).toEqual(['`early_terminate` ends no runs without a `metric`, as in W&B.']);
  });

  it.each<{ macro: string; gives: string[] }>([
    { macro: 'args', gives: ["--a={'b': 1, 'c': {'d': [True, None]}}", '--e=x'] },
    { macro: 'args_flat', gives: ['--a.b=1', '--a.c.d=[True, None]', '--e=x'] },
    { macro: 'args_no_hyphens', gives: ["a={'b': 1, 'c': {'d': [True, None]}}", 'e=x'] },
    { macro: 'args_no_equals', gives: ['--a', "{'b': 1, 'c': {'d': [True, None]}}", '--e', 'x'] },
    { macro: 'args_no_boolean_flags', gives: ["--a={'b': 1, 'c': {'d': [True, None]}}", '--e=x'] },
    { macro: 'args_append_hydra', gives: ["+a={'b': 1, 'c': {'d': [True, None]}}", '+e=x'] },
    { macro: 'args_override_hydra', gives: ["++a={'b': 1, 'c': {'d': [True, None]}}", '++e=x'] },
    { macro: 'args_json', gives: ['{"a":{"b":1,"c":{"d":[true,null]}},"e":"x"}'] },
    { macro: 'interpreter', gives: ['python'] },
    { macro: 'env', gives: ['/usr/bin/env'] },
    { macro: 'program', gives: ['train.py'] },
  ])('has the macro ${$macro}', ({ macro, gives }) => {
    const nested = '{e: {value: x}, a: {parameters: {c: {parameters: {d: {value: [true, null]}}}, b: {value: 1}}}}';
    const [run] = wandb(`method: grid\ncommand: [run, "\${${macro}}"]\nparameters: ${nested}`).runs;
    expect(run!.argv.slice(1)).toEqual(gives);
  });

  it('leaves what it does not know inside a longer word for the program', () => {
    const [run] = wandb('method: grid\ncommand: [sh, -c, "echo ${HOME}"]\nparameters: {a: {value: 1}}').runs;
    expect(run!.argv).toEqual(['sh', '-c', 'echo ${HOME}']);
  });

  it('may have parameters called like what every object has', () => {
    const nested = 'constructor: {parameters: {toString: {value: 1}}}, valueOf: {value: 2}';
    const [run] = wandb(`method: grid\nparameters: {${nested}}`).runs;
    expect(run!.argv.slice(3)).toEqual(["--constructor={'toString': 1}", '--valueOf=2']);
  });

  it('does not take a value for a map: a parameter is one or the other', () => {
    const both = 'a: {value: 1}, a.b: {value: 2}';
    const [run] = wandb(`method: grid\nparameters: {${both}}`).runs;
    expect(run!.argv.slice(3)).toEqual(['--a=1', '--a.b=2']);
  });

  it('takes values that are lists and maps, the keys of maps in order as they come back from W&B', () => {
    const text = 'method: grid\nparameters: {net: {values: [{b: [1, [2, x]], a: yes}, [[3, 4]]]}}';
    const { runs } = wandb(text);
    expect(runs.map(({ argv }) => argv.at(-1))).toEqual(["--net={'a': True, 'b': [1, [2, 'x']]}", '--net=[[3, 4]]']);
    expect(runs[0]!.parameters).toEqual({ net: { a: true, b: [1, [2, 'x']] } });
  });

  it('draws from values with probabilities, by their own name too', () => {
    const weighted = '{distribution: categorical_w_probabilities, values: [1, 2, 3], probabilities: [0.2, 0, 0.8]}';
    const { runs } = wandb(`method: random\nrun_cap: 60\nparameters: {a: ${weighted}, b: {min: 0, max: 1000000}}`);
    const drawn = runs.map(({ parameters }) => parameters['a']);
    expect(new Set(drawn)).toEqual(new Set([1, 3]));
    expect(drawn.filter((value) => value === 3).length).toBeGreaterThan(30);
  });

  it('is open to a stated number of random runs where the file has no end, and keeps them when it has one', () => {
    const open = wandb('method: random\nparameters: {a: {min: 0.0, max: 1.0}}');
    expect(open.runs).toHaveLength(1);
    expect(open.groups[0]!.open).toEqual({ method: 'random', cap: 100 });
    expect(open.notes).toEqual([expect.stringContaining('until there are 100. Set `run_cap`')]);
    const more = wandb('method: random\nparameters: {a: {min: 0.0, max: 1.0}}', { set: ['run_cap=150'] });
    expect(more.runs[0]).toEqual(open.runs[0]);
    expect([more.runs.length, more.notes, more.source]).toEqual([150, undefined, undefined]);
  });

  it('is open to the runs of a Bayesian search, also where it says how many', () => {
    const open = wandb('method: bayes\nrun_cap: 20\nmetric: {name: loss}\nparameters: {a: {min: 0, max: 9}}');
    expect(open.runs).toHaveLength(1);
    expect(open.groups[0]!.open).toEqual({ method: 'bayes', cap: 20 });
    expect(open.source).toMatchObject({ path: expect.stringMatching(/yaml$/) as string, set: [] });
    expect(open.notes).toEqual([
      expect.stringContaining('by the results so far when a slot is free, until there are 20'),
    ]);
  });

  it('can be searched otherwise than it says: --set method=…', () => {
    const text = 'method: bayes\nmetric: {name: loss}\nparameters: {a: {values: [1, 2, 3]}}';
    expect(wandb(text, { set: ['method=grid'] }).runs).toHaveLength(3);
    expect(wandb(text, { set: ['method=random', 'run_cap=2'] }).runs).toHaveLength(2);
    expect(wandb(text, { set: ['run_cap=2', 'method=random'] }).runs).toHaveLength(2);
    expect(wandb(text, { set: ['method=random'] }).groups[0]!.open).toEqual({ method: 'random', cap: 100 });
  });

  it.each<{ of: string; command: string; says: string | undefined }>([
    { of: 'all alike', command: '[python, "${program}"]', says: 'The 2 commands of group runs are all alike: only' },
    { of: 'told apart', command: '[python, "${program}", "${args}"]', says: undefined },
    { of: 'told apart by their directory', command: '[python, "${program}", "${run_dir}"]', says: undefined },
  ])('says when commands are alike: $of', ({ command, says }) => {
    const { notes } = wandb(`method: grid\ncommand: ${command}\nparameters: {a: {values: [1, 2]}}`);
    expect(notes?.[0]?.slice(0, says?.length)).toBe(says);
  });

  it('says nothing of commands that are alike because they are repeated', () => {
    const text = 'method: grid\ncommand: [a]\nparameters: {model.seed: {values: [1, 2]}}';
    expect(wandb(text).notes).toBeUndefined();
  });

  it('passes over keys that W&B does not know, and says so', () => {
    expect(wandb('method: grid\nnane: x\nparameters: {a: {value: 1}}').notes).toEqual([
      '`nane` is not a key of a W&B sweep file and is passed over, as in W&B. Did you mean `name`?',
    ]);
  });

  it('may have our keys too', () => {
    const text = 'method: grid\nretry: 2\nresources: {gpus: 1}\nparameters: {a: [1, 2]}\ncommand: [x, "${run_name}"]';
    expect(wandb(text).runs[0]).toMatchObject({ retry: { max: 2 }, argv: ['x', 'a1'] });
  });

  it.each<{ wrong: string; text: string; says: string; fix: string }>([
    {
      wrong: 'a search that learns from nothing',
      text: 'method: bayes\nparameters: {a: {min: 0, max: 1}}',
      says: '`method: bayes` chooses points by a metric, and there is no `metric`.',
      fix: 'Add `metric: {name: loss, goal: minimize}`',
    },
    {
      wrong: 'a search among single points',
      text: 'method: bayes\nmetric: {name: loss}\nparameters: {a: {values: [1]}}',
      says: '`method: bayes` has nothing to choose',
      fix: 'Give one a range',
    },
    {
      wrong: 'a search with points of its own',
      text: 'method: bayes\nmetric: {name: loss}\ninclude: [{a: 3}]\nparameters: {a: {min: 0, max: 1}}',
      says: '`include` goes with points that are all known',
      fix: 'Remove `include`',
    },
    {
      wrong: 'a job of W&B Launch',
      text: 'method: grid\njob: x',
      says: '`job` is for W&B Launch',
      fix: 'Remove `job`',
    },
    {
      wrong: 'a Latin hypercube of no size',
      text: 'method: lhs\nparameters: {a: {min: 0, max: 1}}',
      says: '`method: lhs` never ends without `run_cap`.',
      fix: '`run_cap: 20`',
    },
    {
      wrong: 'a distribution in a grid',
      text: 'method: grid\nparameters: {a: {distribution: normal}}',
      says: '`a` is drawn at random (normal), and the runs are a grid.',
      fix: 'method: random',
    },
    {
      wrong: 'probabilities in a grid',
      text: 'method: grid\nparameters: {a: {values: [1, 2], probabilities: [0.5, 0.5]}}',
      says: 'whatever its `probabilities`',
      fix: 'Remove `probabilities`',
    },
    {
      wrong: 'a grid without end',
      text: 'method: grid\nparameters: {a: {min: 0, max: 1000000000}}',
      says: '`a` has more than 200,000 values.',
      fix: 'List the values',
    },
    {
      wrong: 'min above max',
      text: 'method: random\nrun_cap: 3\nparameters: {a: {min: 2, max: 1}}',
      says: '`min` must be less than `max`; they are 2 and 1.',
      fix: 'Correct the numbers of `a`.',
    },
    {
      wrong: 'a logarithm of zero',
      text: 'method: random\nrun_cap: 3\nparameters: {a: {distribution: log_uniform_values, min: 0, max: 1}}',
      says: '`min` of log_uniform_values must be above 0',
      fix: 'Correct the numbers',
    },
    {
      wrong: 'an exponent that was meant as a value',
      text: 'method: random\nrun_cap: 3\nparameters: {a: {distribution: log_uniform, min: 1, max: 1000}}',
      says: 'it reaches numbers that are too large',
      fix: 'Correct the numbers',
    },
    {
      wrong: 'half of a range',
      text: 'method: random\nrun_cap: 3\nparameters: {a: {min: 2}}',
      says: 'expected `max` too',
      fix: 'Change',
    },
    {
      wrong: 'a number that the distribution has no use for',
      text: 'method: random\nrun_cap: 3\nparameters: {a: {distribution: uniform, min: 0, max: 1, q: 2}}',
      says: 'expected uniform without `q`',
      fix: 'Change',
    },
    {
      wrong: 'probabilities that do not add up',
      text: 'method: random\nrun_cap: 3\nparameters: {a: {values: [1, 2], probabilities: [0.5, 0.6]}}',
      says: 'which add up to 1',
      fix: 'Change',
    },
    {
      wrong: 'a misspelt distribution',
      text: 'method: random\nrun_cap: 3\nparameters: {a: {distribution: unifrm, min: 0, max: 1}}',
      says: 'expected a distribution: constant, categorical, categorical_w_probabilities',
      fix: 'Change',
    },
    {
      wrong: 'a nested parameter that is there with a dot too',
      text: 'method: grid\nparameters: {a.b: {value: 1}, a: {parameters: {b: {value: 2}}}}',
      says: '`a.b` appears twice.',
      fix: 'Remove or rename one of the two.',
    },
    {
      wrong: 'more dimensions than a Sobol sequence has',
      text: `method: sobol\nrun_cap: 3\nparameters: {${Array.from({ length: 22 }, (_, i) => `p${i}: {min: 0, max: 1}`).join(', ')}}`,
      says: '`sobol` fills up to 21 dimensions; 22 parameters vary here.',
      fix: 'method: lhs',
    },
  ])('is refused for $wrong', ({ text, says, fix }) => {
    const told = refusal(() => wandb(text));
    expect(told.message).toContain(says);
    expect(told.fix).toContain(fix);
  });

  it('is known by its method: in a file with groups the keys of the server are mistakes', () => {
    const { message } = refusal(() => planOf('command: [a]\nproject: x\nmethod: grid\ngroups: {A: {}}'));
    expect(message).toContain('`project` belongs to a W&B sweep file, which has a `method` and no `groups`.');
  });
});
