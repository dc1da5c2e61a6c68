import fc from 'fast-check';
import { valueText } from '../../../src/query/text.js';
import { describe, expect, it } from 'vitest';
import { property } from '../../tiers.js';
import { Plan } from '../../../src/spec/planned-run.js';
import { planOf, refusal } from '../sweeps.js';

const grid = (text: string, options = {}) =>
  planOf(`command: [a]\n${text}`, options).runs.map(({ parameters }) => parameters);
const names = (text: string, options = {}) => planOf(`command: [a]\n${text}`, options).runs.map(({ name }) => name);

describe('the order of runs', () => {
  it('is that of the file: the first axis is the outermost, the last varies fastest', () => {
    expect(grid('parameters: {b: [1, 2], a: [x, y], c: 0}')).toEqual([
      { b: 1, a: 'x', c: 0 },
      { b: 1, a: 'y', c: 0 },
      { b: 2, a: 'x', c: 0 },
      { b: 2, a: 'y', c: 0 },
    ]);
  });

  it('has inherited axes outside those of the group, and cases inside all axes', () => {
    const text = 'parameters: {s: [0, 1]}\ngroups: {A: {parameters: {N: [4, 8]}, cases: [{r: x}, {r: y, B: [1, 2]}]}}';
    expect(grid(text).map((point) => Object.values(point).map(valueText).join(' '))).toEqual([
      ...['0 4 x', '0 4 y 1', '0 4 y 2', '0 8 x', '0 8 y 1', '0 8 y 2'],
      ...['1 4 x', '1 4 y 1', '1 4 y 2', '1 8 x', '1 8 y 1', '1 8 y 2'],
    ]);
  });

  it('has groups in the order of the file', () => {
    expect(names('parameters: {a: [1, 2]}\ngroups: {B: {}, A: {}}')).toEqual(['B_a1', 'B_a2', 'A_a1', 'A_a2']);
  });

  property('has as many points as the product of the axes, each once, whatever the axes', 200, (examples) => {
    const axes = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'd_e', 'f.g'),
      fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 5 }),
    );
    fc.assert(
      fc.property(axes, (parameters) => {
        const { runs } = planOf(JSON.stringify({ command: ['a'], parameters }));
        const product = Object.values(parameters).reduce((size, { length }) => size * length, 1);
        expect(runs).toHaveLength(product);
        expect(new Set(runs.map(({ name }) => name)).size).toBe(product);
        expect(new Set(runs.map(({ identity }) => identity)).size).toBe(product);
      }),
      examples,
    );
  });
});

describe('parameters', () => {
  it.each<{ form: string; text: string; gives: unknown[] }>([
    {
      form: 'constants of every kind',
      text: '{a: 1, b: x, c: true, d: null, e: 0.5}',
      gives: [{ a: 1, b: 'x', c: true, d: null, e: 0.5 }],
    },
    { form: 'an axis in two writings', text: '{a: {values: [1, 2]}}', gives: [{ a: 1 }, { a: 2 }] },
    { form: 'a constant that is a list', text: '{a: {value: [1, 2]}}', gives: [{ a: [1, 2] }] },
    { form: 'an axis of lists', text: '{a: [[1, 2], [3]]}', gives: [{ a: [1, 2] }, { a: [3] }] },
    {
      form: 'derived integers',
      text: '{seed: 1, N: [64, 256], s: {expr: "(seed * 9973 + 12345) % N"}}',
      gives: [
        { seed: 1, N: 64, s: 46 },
        { seed: 1, N: 256, s: 46 },
      ],
    },
    {
      form: 'derived from what comes later, and from derived ones',
      text: '{a: {expr: b + 1}, b: {expr: c * 2}, c: 3}',
      gives: [{ a: 7, b: 6, c: 3 }],
    },
    {
      form: 'integers and doubles together',
      text: '{a: 3, x: {expr: "a * 2.5"}, y: {expr: "2.0 * a + 1"}, z: {expr: "a > 2 ? 1 : 0.5"}}',
      gives: [{ a: 3, x: 7.5, y: 7, z: 1 }],
    },
    { form: 'integer division of integers', text: '{a: 7, x: {expr: a / 2}}', gives: [{ a: 7, x: 3 }] },
    {
      form: 'a whole number that was written as a double',
      text: '{lr: [2.0, 4.0], x: {expr: 1 / lr}}',
      gives: [
        { lr: 2, x: 0.5 },
        { lr: 4, x: 0.25 },
      ],
    },
    {
      form: 'whole numbers on an axis with fractions',
      text: '{lr: [2, 0.5], x: {expr: 1 / lr}}',
      gives: [
        { lr: 2, x: 0.5 },
        { lr: 0.5, x: 2 },
      ],
    },
    {
      form: 'the functions',
      text: '{N: 1024, a: {expr: log2(N)}, b: {expr: "max(1, ceil(log2(N)))"}, c: {expr: "pow(2, 10)"}, d: {expr: "round(2.5)"}, e: {expr: "min(N, 3.5, 9)"}, f: {expr: exp(ln(2.0))}}',
      gives: [{ N: 1024, a: 10, b: 10, c: 1024, d: 3, e: 3.5, f: 2 }],
    },
    { form: 'texts and numbers', text: '{N: 8, s: {expr: \'"B" + N + "x"\'}}', gives: [{ N: 8, s: 'B8x' }] },
    {
      form: 'names with dots, as identifiers',
      text: '{optim.lr: 2, x: {expr: optim_lr * 2}}',
      gives: [{ 'optim.lr': 2, x: 4 }],
    },
    { form: 'lists that an expression makes', text: '{N: 4, x: {expr: "[N, N * 2]"}}', gives: [{ N: 4, x: [4, 8] }] },
    {
      form: 'macros of lists',
      text: '{N: 4, x: {expr: "[1, 2, 9].filter(n, n < N).size()"}}',
      gives: [{ N: 4, x: 2 }],
    },
  ])('can be $form', ({ text, gives }) => {
    expect(grid(`parameters: ${text}`)).toEqual(gives);
  });

  it('are left out where their `when` is false, and such points are not repeated', () => {
    const text =
      'parameters: {kind: [sgd, adam], beta: {values: [0.9, 0.99], when: kind == "adam"}, momentum: {value: 0.5, when: "kind == \'sgd\'"}}';
    expect(grid(text)).toEqual([
      { kind: 'sgd', momentum: 0.5 },
      { kind: 'adam', beta: 0.9 },
      { kind: 'adam', beta: 0.99 },
    ]);
  });

  it.each<{ at: string; text: string; gives: unknown[] }>([
    {
      at: 'some points',
      text: 'parameters: {s: [0, 1], drop: [0.5, {unset: true}]}',
      gives: [{ s: 0, drop: 0.5 }, { s: 0 }, { s: 1, drop: 0.5 }, { s: 1 }],
    },
    {
      at: 'all points of a group',
      text: 'parameters: {a: 1, b: 2}\ngroups: {A: {parameters: {b: {unset: true}}}}',
      gives: [{ a: 1 }],
    },
    { at: 'a case', text: 'parameters: {b: 2}\ncases: [{b: 3}, {b: {unset: true}}]', gives: [{ b: 3 }, {}] },
    {
      at: 'a point of `include`',
      text: 'parameters: {a: [1], b: {unset: true}}\ninclude: [{a: 2}]',
      gives: [{ a: 1 }, { a: 2 }],
    },
  ])('are not passed where they are unset: at $at', ({ text, gives }) => {
    expect(grid(text)).toEqual(gives);
  });

  it('that are unset have no value for an expression', () => {
    const said = refusal(() => grid('parameters: {a: [1, {unset: true}], x: {expr: a + 1}}'));
    expect(said.message).toContain('`a` is not passed');
  });

  it('may be left out by their own value', () => {
    expect(grid('parameters: {N: {values: [0, 1, 2], when: N > 0}}')).toEqual([{}, { N: 1 }, { N: 2 }]);
  });

  it('of a group replace inherited ones and keep their place', () => {
    const text = 'parameters: {a: [1, 2], b: 3}\ngroups: {A: {parameters: {c: 4, a: 9}}}';
    expect(grid(text).map((point) => JSON.stringify(point))).toEqual(['{"a":9,"b":3,"c":4}']);
  });

  it.each<{ wrong: string; text: string; says: string }>([
    { wrong: 'a division by zero', text: '{a: [1, 0], x: {expr: 1 / a}}', says: 'division by zero at a=0' },
    {
      wrong: 'a number that is not finite',
      text: '{a: 0.0, x: {expr: 1 / a}}',
      says: 'Infinity, which is not an exact number at a=0',
    },
    {
      wrong: 'a parameter that is not passed there',
      text: '{a: 1, b: {value: 2, when: a > 1}, c: {expr: b + 1}}',
      says: '`b` is not passed at a=1',
    },
    {
      wrong: 'a function of a text',
      text: '{a: x, b: {expr: log2(a)}}',
      says: '`log2` needs a number, and was given "x"',
    },
    {
      wrong: 'a condition that is no claim',
      text: '{a: x, b: {value: 1, when: a}}',
      says: 'must be true or false; it gives x',
    },
  ])('that cannot be computed are told with the point: $wrong', ({ text, says }) => {
    expect(refusal(() => grid(`parameters: ${text}`)).message).toContain(says);
  });

  it('are too many at once only by mistake', () => {
    const axis = JSON.stringify(Array.from({ length: 100 }, (_, index) => index));
    const { message, fix } = refusal(() => grid(`parameters: {a: ${axis}, b: ${axis}, c: ${axis}}`));
    expect(message).toContain('would make 1,000,000 runs');
    expect(fix).toContain('a has 100 values');
  });
});

describe('a group', () => {
  it('leaves out points where its `when` is false', () => {
    expect(
      grid('parameters: {a: [1, 2], b: [1, 2]}\nwhen: a <= b').map((point) =>
        Object.values(point).map(valueText).join(''),
      ),
    ).toEqual(['11', '12', '22']);
    expect(refusal(() => grid('parameters: {a: [1, 2]}\nwhen: a > 2')).message).toContain(
      '`when` is false at every point',
    );
  });

  it('inherits what is above it, and overrides it', () => {
    const { runs } = planOf(
      [
        'command: [a, "${args}"]',
        'cwd: sub',
        'env: {X: 1, Y: "${run_name}"}',
        'grace: 5',
        'resources: {cpus: 2, gpus: 0}',
        'stop_when: "loss < 1"',
        'metrics: {show: [loss], x: tokens}',
        'resume_args: [--resume, "${run_dir}/last"]',
        'groups:',
        '  A: {}',
        '  B:',
        '    command: [b]',
        '    cwd: /abs/../other',
        '    env: {X: two}',
        '    grace: 0.5',
        '    resources: {cpus: 1}',
        '    stop_when: null',
        '    metrics: {progress: {key: step, total: "N * 10"}}',
        '    parameters: {N: 3}',
        '    needs: A',
      ].join('\n'),
    );
    expect(runs[0]).toMatchObject({
      ...{ id: 'x/A', argv: ['a'], cwd: '/home/ada/sub', env: { X: '1', Y: 'A' }, grace: 5, directory: '/runs/x/A' },
      ...{ resources: { gpus: 0, per_gpu: 1, cpus: 2 }, stopWhen: { when: 'loss < 1', for: 1 } },
      ...{
        metrics: { show: ['loss'], x: 'tokens', progress: null },
        resumeArgs: ['--resume', '/runs/x/A/last'],
        needs: [],
      },
    });
    expect(runs[1]).toMatchObject({
      ...{ argv: ['b'], cwd: '/other', env: { X: 'two', Y: 'B' }, grace: 0.5, needs: ['A'] },
      ...{ resources: { gpus: 0, per_gpu: 1, cpus: 1 }, stopWhen: null },
      ...{ metrics: { show: ['loss'], x: 'tokens', progress: { key: 'step', total: 30 } } },
    });
  });

  it('may be optional: planned when asked for, or needed', () => {
    const text =
      'groups: {A: {}, extra: {optional: true}, B: {needs: [deep]}, deep: {optional: true, needs: base}, base: {}}';
    const chosen = (groups: string[]) =>
      planOf(`command: [a]\n${text}`, { groups }).groups.map(
        ({ name, prerequisite }) => `${name}${prerequisite ? '*' : ''}`,
      );
    expect(chosen([])).toEqual(['A', 'B', 'deep*', 'base']);
    expect(chosen(['extra'])).toEqual(['extra']);
    expect(chosen(['B'])).toEqual(['B', 'deep*', 'base*']);
    expect(chosen(['base', 'B'])).toEqual(['B', 'deep*', 'base']);
  });

  it('that is asked for must be there', () => {
    const told = refusal(() => planOf('command: [a]\ngroups: {warmup: {}, main: {}}', { groups: ['warmpu'] }));
    expect(told.message).toBe('There is no group `warmpu` in this sweep. Did you mean `warmup`?');
    expect(told.fix).toBe('Choose among: warmup main');
  });
});

describe('the name of a run', () => {
  it.each<{ of: string; text: string; is: string[] }>([
    { of: 'a lone run', text: '', is: ['runs'] },
    {
      of: 'runs without groups',
      text: 'parameters: {learning_rate: [0.1, 0.01], batch_size: 32, seed: [0, 1]}',
      is: ['lr0.1_s0', 'lr0.1_s1', 'lr0.01_s0', 'lr0.01_s1'],
    },
    {
      of: 'runs of a group',
      text: 'groups: {A: {parameters: {optimizer: [sgd, adam], beta_1: [0.9, 0.8]}}}',
      is: ['A_opt-sgd_b1=0.9', 'A_opt-sgd_b1=0.8', 'A_opt-adam_b1=0.9', 'A_opt-adam_b1=0.8'],
    },
    {
      of: 'parameters of one short form',
      text: 'parameters: {max_len: [1, 2], min_len: [3, 4]}',
      is: ['max_len1_min_len3', 'max_len1_min_len4', 'max_len2_min_len3', 'max_len2_min_len4'],
    },
    {
      of: 'values no folder could have',
      text: 'parameters: {model: [meta/llama 3, x]}',
      is: ['model-meta-llama-3', 'model-x'],
    },
    {
      of: 'values in other letters',
      text: 'parameters: {model: [größe, 模型, naïve café], seed: [0, 1]}',
      is: ['grosse', 'u6a21-u578b', 'naive-cafe'].flatMap((model) => [`model-${model}_s0`, `model-${model}_s1`]),
    },
    { of: 'a derived parameter', text: 'parameters: {seed: [0, 1], s: {expr: seed * 7}}', is: ['s0', 's1'] },
    {
      of: 'a template',
      text: 'groups: {A: {name: \'{a > 1 ? "big" : "small"}_{a * 0.5}\', parameters: {a: [1, 2]}}}',
      is: ['small_0.5', 'big_1'],
    },
  ])('of $of', ({ text, is }) => {
    expect(names(text)).toEqual(is);
  });

  it('stays apart where mending made two equal, and short where values are long', () => {
    const mended = names('parameters: {m: [a/b, "a b"]}');
    expect(mended.map((name) => name.slice(0, 6))).toEqual(['m-a-b_', 'm-a-b_']);
    expect(new Set(mended).size).toBe(2);
    const [long] = names(`parameters: {m: ["${'x'.repeat(300)}", b]}`);
    expect(long!.length).toBeLessThan(140);
  });

  it.each<{ wrong: string; text: string; says: string; fix: string }>([
    {
      wrong: 'two points',
      text: 'groups: {A: {name: "x_{a}", parameters: {a: 1, b: [3, 4], c: 5}}}',
      says: 'two runs are called `x_1`: one with b=3, one with b=4',
      fix: 'Put {b} into `name`.',
    },
    {
      wrong: 'two groups',
      text: 'groups: {A: {name: x}, B: {name: x}}',
      says: 'groups `A` and `B` both have a run `x`',
      fix: 'Begin `name` with the group.',
    },
    {
      wrong: 'a value said twice',
      text: 'parameters: {a: [1, 1]}',
      says: 'the point a=1 exists twice',
      fix: 'Remove the repeated value or case.',
    },
    {
      wrong: 'a slash',
      text: 'groups: {A: {name: "{m}", parameters: {m: a/b}}}',
      says: 'the name "a/b" (m=a/b) is not safe as a folder name',
      fix: 'Change the template: use letters, digits and . _ = + , @ - (and begin with a letter, a digit or _).',
    },
  ])('clashes or is unsafe: $wrong', ({ text, says, fix }) => {
    const told = refusal(() => names(text));
    expect(told.message).toContain(says);
    expect(told.fix).toBe(fix);
  });
});

describe('the identity of a run', () => {
  const identity = (text: string) => planOf(`command: [a]\n${text}`).runs[0]!.identity;

  it('is the same whatever the order of parameters, the command and the budget', () => {
    const one = identity('extends: n\nparameters: {a: 1, b: x, n: 400}');
    expect(identity('extends: n\nparameters: {n: 800, b: x, a: 1}')).toBe(one);
    expect(identity('extends: n\nparameters: {n: 800, b: x, a: 1}\ngrace: 3')).toBe(one);
    expect(one).toMatch(/^[0-9a-f]{16}$/);
  });

  it('differs with a value, its type, and the group', () => {
    const all = [
      'parameters: {a: 1}',
      'parameters: {a: 2}',
      'parameters: {a: "1"}',
      'parameters: {b: 1}',
      'groups: {A: {parameters: {a: 1}}}',
    ];
    expect(new Set(all.map(identity)).size).toBe(all.length);
  });
});

describe('--set', () => {
  const text =
    'command: [a]\nstop_when: "x > 1"\nparameters: {n: 10, seed: [0, 1]}\ngroups: {A: {parameters: {N: [4, 8]}}, B: {cases: [{r: 1}, {r: 2}]}}';
  const set = (...sets: string[]) => planOf(text, { set: sets });

  it('changes a parameter everywhere, or in one group', () => {
    expect(set('n=20').runs.every(({ parameters }) => parameters['n'] === 20)).toBe(true);
    const only = set('A.n=20').runs;
    expect(new Set(only.map(({ group, parameters }) => `${group} ${valueText(parameters['n']!)}`))).toEqual(
      new Set(['A 20', 'B 10']),
    );
  });

  describe('where some groups need others', () => {
    const needy =
      'command: [a]\nparameters: { seed: [0, 1] }\ngroups: {warm: {optional: true, parameters: {n: 5}}, ' +
      'A: {needs: warm, parameters: {n: 10}}, B: {parameters: {n: 20}}}';
    const said = (sets: string[], groups?: string[]) => {
      const { runs, notes } = planOf(needy, { set: sets, ...(groups && { groups }) });
      const values = runs.map(({ group, parameters: { n, seed } }) => `${group} ${valueText(n!)} ${valueText(seed!)}`);
      return { values, notes };
    };

    it('leaves a group that is only needed as it is, unless it is named', () => {
      expect(said(['n=1', 'seed=7'], ['A'])).toEqual({
        values: ['warm 5 7', 'A 1 7'],
        notes: [
          '`--set n=1` sets A, and leaves warm, needed by others, as the file has it (`--set warm.n=1` sets that).',
          '`--set seed=7` sets warm, A.',
        ],
      });
      expect(said(['warm.n=2', 'n=1', 'seed=7']).values).toEqual(['warm 2 7', 'A 1 7', 'B 1 7']);
      expect(said(['n=1', 'seed=7'], ['A', 'warm']).values).toEqual(['warm 1 7', 'A 1 7']);
      expect(said(['n=1', 'seed=7'], ['B'])).toEqual({ values: ['B 1 7'], notes: undefined });
    });

    it('says what to type where only such a group has it', () => {
      const text = 'command: [a]\ngroups: {warm: {optional: true, parameters: {n: 5}}, A: {needs: warm}}';
      const error = refusal(() => planOf(text, { set: ['n=1'] }));
      expect([error.message, error.fix]).toEqual([
        'No group that is asked for has `n` to set (`--set n=1`): only `warm` has, which others need.',
        'Name the group: --set warm.n=1.',
      ]);
    });

    it('holds for runs that are drawn later', () => {
      const method = 'method: bayes, run_cap: 9, metric: {name: loss, goal: minimize}';
      const drawn = needy.replace('B: {parameters: {', `B: {${method}, parameters: {z: {min: 0.5, max: 1.5}, `);
      expect(planOf(drawn, { set: ['n=1'] }).source?.set).toEqual(['A.n=1', 'B.n=1']);
    });
  });

  it('reads YAML: a list is an axis, an expression is derived', () => {
    expect(
      set('seed=[5, 6, 7]', 'N={expr: "seed * 2"}')
        .runs.filter(({ group }) => group === 'A')
        .map(({ parameters }) => parameters['N']),
    ).toEqual([10, 12, 14]);
    expect(set('n="007"').runs[0]!.parameters['n']).toBe('007');
  });

  it('sets a variable of all runs beside those of the file, or in place of one', () => {
    const of = (more: string, ...sets: string[]) =>
      planOf(`command: [a]\n${more}`, { set: sets }).runs.map(({ env }) => env);
    expect(of('env: { A: x, B: y }', 'env.B=z', 'env.C=a=b')).toEqual([{ A: 'x', B: 'z', C: 'a=b' }]);
    expect(of('groups: { g: { env: { B: y } }, h: {} }', 'env.B=z')).toEqual([{ B: 'z' }, { B: 'z' }]);
    // A parameter may be called so.
    expect(of('parameters: { env.B: 1 }', 'env.B=2')).toEqual([{}]);
    expect(planOf('B=y true\nfalse', { path: 'x.txt', set: ['env.B=z'] }).runs.map(({ env }) => env)).toEqual([
      { B: 'z' },
      { B: 'z' },
    ]);
  });

  it('switches the stop rule off, or replaces it', () => {
    expect(set('stop_when=null').runs.map(({ stopWhen }) => stopWhen)).not.toContainEqual(expect.anything());
    expect(set('A.stop_when="y < 2"').runs[0]!.stopWhen).toEqual({ when: 'y < 2', for: 1 });
    expect(set('grace=3').runs[0]!.grace).toBe(3);
  });

  it.each<{ wrong: string; option: string; says: string }>([
    {
      wrong: 'an unknown parameter',
      option: 'sede=1',
      says: 'This sweep has no parameter `sede` to set (`--set sede=1`). Did you mean `seed`?',
    },
    {
      wrong: 'a parameter that the group does not have',
      option: 'B.N=1',
      says: 'Group `B` has no parameter `N` to set',
    },
    { wrong: 'no value', option: 'n', says: '`--set n` has no value.' },
    { wrong: 'no YAML', option: 'n=[1', says: 'is not YAML' },
    { wrong: 'a map', option: 'n={a: 1}', says: 'a parameter cannot be that' },
    { wrong: 'an expression with an unknown variable', option: 'n={expr: "m + 1"}', says: 'there is no parameter `m`' },
    { wrong: 'a broken stop rule', option: 'stop_when="loss <"', says: 'the expression ends too early' },
    {
      wrong: 'a stop rule that is a number',
      option: 'stop_when=3',
      says: 'expected an expression over metrics, {when: "…", for: 3}, or null',
    },
    {
      wrong: 'a grace that is a text',
      option: 'grace=soon',
      says: 'expected a time: seconds, or a text such as 90s, 30m, 2h, 1d',
    },
    { wrong: 'one value for all cases', option: 'r=1', says: 'exists twice' },
  ])('is refused: $wrong', ({ option, says }) => {
    expect(refusal(() => set(option)).message).toContain(says);
  });
});

describe('a list of commands', () => {
  const commands = [
    '# tries',
    '',
    'python train.py --lr 0.1',
    "LR=0.2 sh -c 'echo $LR | cat' # why not",
    String.raw`./run "a b" c\ d 'it''s'`,
  ].join('\n');

  it('is a sweep: each line a run, named by line and program', () => {
    const plan = planOf(commands, { path: 'tries.txt' });
    expect(plan.runs.map(({ name, argv, env }) => ({ name, argv, env }))).toEqual([
      { name: '003_train.py', argv: ['python', 'train.py', '--lr', '0.1'], env: {} },
      { name: '004_sh', argv: ['sh', '-c', 'echo $LR | cat'], env: { LR: '0.2' } },
      { name: '005_run', argv: ['./run', 'a b', 'c d', 'its'], env: {} },
    ]);
    expect(plan.runs[0]).toMatchObject({ cwd: '/home/ada', directory: '/runs/tries/003_train.py', done: { exit: 0 } });
  });

  it.each([
    { line: 'a | b', says: 'a pipe needs a shell' },
    { line: 'a > out', says: 'a redirection needs a shell' },
    { line: 'a && b', says: '`&` needs a shell' },
    { line: 'echo $HOME', says: 'a variable needs a shell' },
    { line: 'ls *.py', says: 'a pattern needs a shell' },
    { line: 'ls ~/x', says: '`~` (a home folder) needs a shell' },
    { line: 'echo "a', says: 'a quote that is not closed' },
    { line: 'A=1', says: 'this line sets variables for no command' },
  ])('means what a shell would mean, or is refused: $line', ({ line, says }) => {
    const told = refusal(() => planOf(`true\n${line}\n`, { path: 'x.txt' }));
    expect(told.message).toContain(says);
    expect(told.message).toMatch(/^x\.txt:2:/);
  });

  it('has nothing to set and no groups', () => {
    expect(refusal(() => planOf('true', { path: 'x.txt', set: ['a=1'] })).message).toContain(
      'no parameters and no groups for `--set`',
    );
  });
});

describe('a plan', () => {
  it('is what the supervisor reads: it passes its schema', () => {
    const plan = planOf(
      'command: [a, "${args}", "${attempt}"]\nparameters: {a: [1, x, null, true, 0.5]}\nstop_when: {when: "l < 1", for: 3}',
    );
    expect(Plan.parse(plan)).toEqual(plan);
    expect(plan.runs[0]!.argv).toEqual(['a', '--a=1', '${attempt}']);
  });

  it('of ten thousand runs compiles each expression once', () => {
    const axis = JSON.stringify([...Array(10).keys()]);
    const text = `command: [a, "\${args}"]\nparameters: {a: ${axis}, b: ${axis}, c: ${axis}, d: ${axis}, s: {expr: "(a * 7 + b) % 5"}}\ngroups: {G: {name: "r_{a}_{b}_{c}_{d}"}}`;
    expect(planOf(text).runs).toHaveLength(10_000);
  });
});
