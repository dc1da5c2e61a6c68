import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planOf, refusal } from '../sweeps.js';

const head = "command: [train, '${args_no_hyphens}']\n";
const file = (filter: string, runs = '') => `${head}
parameters: { lr: [0.1, 0.2], frac: [0.2, 0.5], seed: [0, 1] }
groups:
  runs: { parameters: { routing: true }${runs} }
  filter: { for_each: runs, parameters: ${filter} }
`;
/** Commands of a group, without the program. */
const said = (text: string, group: string, options = {}) =>
  planOf(text, options)
    .runs.filter((run) => run.group === group)
    .map(({ argv }) => argv.slice(1).join(' '));

describe('a group that is made for each run of another', () => {
  it('has its parameters with others in their place, and equal ones once', () => {
    expect(said(file('{ routing: false, frac: { unset: true }, kind: filter }'), 'filter')).toEqual([
      'lr=0.1 seed=0 routing=False kind=filter',
      'lr=0.1 seed=1 routing=False kind=filter',
      'lr=0.2 seed=0 routing=False kind=filter',
      'lr=0.2 seed=1 routing=False kind=filter',
    ]);
  });

  it('has names that begin with the group and tell its runs apart', () => {
    const { runs } = planOf(file('{ routing: false, frac: { unset: true } }'));
    expect(runs.filter(({ group }) => group === 'filter').map(({ name }) => name)).toEqual([
      'filter_lr0.1_s0',
      'filter_lr0.1_s1',
      'filter_lr0.2_s0',
      'filter_lr0.2_s1',
    ]);
  });

  it('leaves out what the other group runs itself', () => {
    const text = file('{ routing: false }').replace('routing: true', 'routing: [true, false]');
    expect(said(text, 'filter')).toEqual([]);
    expect(planOf(text).notes).toEqual(['Group filter has no runs: each would be one that group runs has.']);
    // Another program is another experiment.
    expect(said(text.replace('for_each: runs', 'for_each: runs, command: [check]'), 'filter')).toHaveLength(8);
  });

  it.each(['random', 'lhs', 'sobol'])('takes the points as they were drawn (%s)', (method) => {
    const text = `${head}
parameters: { lr: { min: 0.0, max: 1.0 }, frac: [0.2, 0.5], n: { min: 1, max: 9 }, seed: { grid: [0, 1] } }
run_cap: 16
groups:
  drawn: { method: ${method}, parameters: { routing: true } }
  filter: { for_each: drawn, parameters: { routing: false, frac: { unset: true } } }`;
    const copies = said(text, 'drawn').map((line) => line.replace(/ frac=\S+/, '').replace('=True', '=False'));
    expect(copies).toHaveLength(16);
    expect(said(text, 'filter')).toEqual([...new Set(copies)]);
  });

  it('takes cases, included points and conditions with it', () => {
    const runs = ", cases: [{ kind: a }, { kind: b, bins: [4, 8] }], when: 'lr < 0.2', include: [{ lr: 1, seed: 7 }]";
    const lines = said(file('{ routing: false }', runs), 'runs');
    expect(said(file('{ routing: false }', runs), 'filter')).toEqual(
      lines.map((line) => line.replace('True', 'False')),
    );
    expect(lines.some((line) => line.includes('bins=8'))).toBe(true);
  });

  it('computes again what depends on a parameter that it sets, over more than one group', () => {
    const text = `${head}
parameters: { seed: [1, 2], secret: { expr: 'seed * 10' }, twice: { expr: 'secret * 2' }, k: { value: 3, when: 'seed < 5' } }
groups:
  runs: {}
  later: { for_each: runs, parameters: { kind: x, seed: { expr: 'start + 1' }, start: [3, 6] } }
  last: { for_each: later, parameters: { secret: 0 } }`;
    expect(said(text, 'later')).toEqual([
      'seed=4 secret=40 twice=80 k=3 kind=x start=3',
      'seed=7 secret=70 twice=140 kind=x start=6',
    ]);
    expect(said(text, 'last')).toEqual([
      'seed=4 secret=0 twice=0 k=3 kind=x start=3',
      'seed=7 secret=0 twice=0 kind=x start=6',
    ]);
  });

  it('passes numbers on as the file has them, wherever it says them', () => {
    const text = `${head}
groups:
  runs: { parameters: { lr: [1e-4, 0.0], seed: 1 }, cases: [{ eps: 1e-8 }], include: [{ k: 2.0 }] }
  other: { for_each: runs, parameters: { wd: 1e-2, seed: { unset: true } } }`;
    expect(said(text, 'other')).toEqual(['lr=1e-4 eps=1e-8 k=2.0 wd=1e-2', 'lr=0.0 eps=1e-8 k=2.0 wd=1e-2']);
  });

  it('is planned without the others when it alone is asked for', () => {
    const { runs, groups } = planOf(file('{ routing: false }'), { groups: ['filter'] });
    expect(groups.map(({ name }) => name)).toEqual(['filter']);
    expect(runs).toHaveLength(8);
    expect(planOf(file('{ routing: false }'), { groups: ['runs'] }).runs).toHaveLength(8);
  });

  it('follows `--set`: of a parameter that comes with the runs in their group, else in its own', () => {
    const text = file('{ routing: false }');
    expect(said(text, 'filter', { set: ['seed=[5, 6, 7]', 'lr=3', 'frac=1'] })).toEqual(
      [5, 6, 7].map((seed) => `lr=3 frac=1 seed=${seed} routing=False`),
    );
    expect(said(text, 'filter', { set: ['filter.lr=9', 'frac=1', 'seed=0'] })).toEqual([
      'lr=9 frac=1 seed=0 routing=False',
    ]);
    expect(said(text, 'runs', { set: ['filter.lr=9', 'frac=1', 'seed=0'] })).toHaveLength(2);
  });

  it('is the set of the changed points, whatever the grid and the changes', () => {
    const names = ['a', 'b', 'c', 'd'] as const;
    const values = fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 3 });
    const grids = fc.dictionary(fc.constantFrom(...names), values, { minKeys: 1 });
    const changes = fc.dictionary(fc.constantFrom(...names, 'e'), fc.option(fc.integer({ min: 10, max: 12 })), {
      minKeys: 1,
    });
    fc.assert(
      fc.property(grids, changes, (grid, change) => {
        const parameters = Object.fromEntries(
          Object.entries(change).map(([name, value]) => [name, value ?? { unset: true }]),
        );
        const groups = { runs: {}, other: { for_each: ['runs'], parameters } };
        const text = JSON.stringify({ command: ['t', '${args}'], parameters: grid, groups });
        const key = (point: object) => JSON.stringify(Object.entries(point).sort());
        const of = (group: string) =>
          planOf(text, { path: 'x.json' })
            .runs.filter((run) => run.group === group)
            .map((run) => run.parameters);
        const own = of('runs').map(key);
        const changed = of('runs').map((point) => {
          const all = Object.entries({ ...point, ...change }).filter(([, value]) => value !== null);
          return key(Object.fromEntries(all));
        });
        expect(of('other').map(key)).toEqual([...new Set(changed)].filter((point) => !own.includes(point)));
      }),
      { numRuns: 30 },
    );
  });

  it.each<{ what: string; text: string; says: string }>([
    {
      what: 'both keys',
      text: file('{}').replace('for_each: runs', 'for_each: runs, after_each: runs'),
      says: '`for_each` has no use',
    },
    {
      what: 'the directory of a run that it does not come after',
      text: file('{}').replace('for_each: runs', 'for_each: runs, command: ["${after_dir}"]'),
      says: 'the group has no `after_each`',
    },
    {
      what: 'a group that waits for what comes after it',
      text: `${head}groups: { a: { needs: b }, b: { after_each: a } }`,
      says: 'wait for each other: a → b → a',
    },
    {
      what: 'a group that is not there',
      text: file('{}').replace('for_each: runs', 'for_each: run'),
      says: 'Did you mean `runs`?',
    },
    {
      what: 'a group below it',
      text: `${head}groups: { a: { for_each: b }, b: {} }`,
      says: 'group `b` is not above this one.',
    },
    { what: 'itself', text: `${head}groups: { a: { for_each: a } }`, says: 'group `a` is not above this one.' },
    {
      what: 'points of its own',
      text: file('{}').replace('for_each: runs', 'for_each: runs, cases: [{x: 1}]'),
      says: '`cases` has no use',
    },
    {
      what: 'points that are chosen one by one',
      text: file('{}', ', method: bayes, run_cap: 3, metric: {name: loss}'),
      says: 'chosen one by one',
    },
    {
      what: 'parameters computed from each other only together',
      text: `${head}groups: { a: { parameters: { x: 1, y: { expr: x } } }, b: { for_each: a, parameters: { x: { expr: y } } } }`,
      says: 'computed from each other: ',
    },
    {
      what: 'more runs than there may be',
      text: file(`{ z: [${[...Array(30_000).keys()].join()}] }`),
      says: '240,008 runs',
    },
    {
      what: 'a macro of nobody',
      text: file('{}').replace('for_each: runs', 'for_each: runs, command: ["${lrr}"]'),
      says: 'Did you mean `lr`?',
    },
  ])('is refused with $what', ({ text, says }) => {
    expect(refusal(() => planOf(text)).message).toContain(says);
  });
});

describe('a group with a run after each run of others', () => {
  const after = `${head}
parameters: { lr: [0.1, 0.2], secret: { expr: 'lr * 2.0' } }
groups:
  sft: { command: [sft] }
  runs: { parameters: { routing: true } }
  filter: { for_each: runs, parameters: { routing: false } }
  eval:
    after_each: [runs, filter]
    needs: sft
    command: [eval, '\${after_dir}', 'name=\${after_name}', 'lr=\${lr}', '\${run_dir}', '\${from}']
    parameters: { from: '\${after_dir}/model' }
`;
  const evals = (text: string, options = {}) => planOf(text, options).runs.filter(({ group }) => group === 'eval');

  it('starts with the directory of its own run, and needs no more than that', () => {
    const [first, , third] = evals(after);
    expect(first).toMatchObject({
      name: 'eval_runs_lr0.1',
      needs: ['sft'],
      neededRuns: ['runs_lr0.1'],
      parameters: { lr: 0.1, secret: 0.2, routing: true },
    });
    expect(first!.argv.slice(1)).toEqual([
      '/runs/x/runs_lr0.1',
      'name=runs_lr0.1',
      'lr=0.1',
      '/runs/x/eval_runs_lr0.1',
      '/runs/x/runs_lr0.1/model',
    ]);
    expect(third).toMatchObject({
      name: 'eval_filter_lr0.1',
      neededRuns: ['filter_lr0.1'],
      parameters: { routing: false },
    });
    expect(planOf(after).groups.at(-1)).toMatchObject({
      needs: ['sft'],
      needsBy: [
        { group: 'runs', by: [] },
        { group: 'filter', by: [] },
      ],
    });
  });

  it('plans the runs that it comes after, also when it alone is asked for', () => {
    const { groups } = planOf(after, { groups: ['eval'] });
    expect(groups.map(({ name, prerequisite }) => [name, prerequisite])).toEqual([
      ['sft', true],
      ['runs', true],
      ['filter', true],
      ['eval', false],
    ]);
  });

  it('has a run for each, also where several have the same parameters or it makes them the same', () => {
    const text = after
      .replace(
        'filter: { for_each: runs, parameters: { routing: false } }',
        'filter: { parameters: { routing: true } }',
      )
      .replace('from:', 'routing: { unset: true }, mode: [a, b], from:');
    const all = evals(text);
    expect(all.slice(0, 4).map(({ name }) => name)).toEqual([
      'eval_runs_lr0.1_mode-a',
      'eval_runs_lr0.1_mode-b',
      'eval_runs_lr0.2_mode-a',
      'eval_runs_lr0.2_mode-b',
    ]);
    expect(new Set(all.map(({ identity }) => identity)).size).toBe(8);
  });

  it('may say its names itself', () => {
    const named = after.replace('    needs: sft', '    needs: sft\n    name: \'e{lr}{routing ? "" : "f"}\'');
    expect(evals(named).map(({ name }) => name)).toEqual(['e0.1', 'e0.2', 'e0.1f', 'e0.2f']);
  });

  it('can be followed again', () => {
    const plot = `${after}  plot: { after_each: eval, command: [plot, '\${after_dir}', '\${from}'] }\n`;
    expect(planOf(plot).runs.at(-1)).toMatchObject({
      name: 'plot_eval_filter_lr0.2',
      neededRuns: ['eval_filter_lr0.2'],
      argv: ['plot', '/runs/x/eval_filter_lr0.2', '/runs/x/eval_filter_lr0.2/model'],
    });
  });
});
