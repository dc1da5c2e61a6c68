import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../../tiers.js';
import type { ParameterValue, Scalar } from '../../../src/base/scalar.js';
import { UserError } from '../../../src/base/user-error.js';
import type { ArgumentStyle } from '../../../src/spec/grid-line/argument-style.js';
import type { SamplingKind } from '../../../src/spec/expand/sampling/unit-points.js';
import { gridSweepText } from '../../../src/spec/grid-line/grid-line.js';
import { readAssignments } from '../../../src/spec/grid-line/read-assignments.js';
import { planOf, refusal } from '../sweeps.js';

const train = ['python', 'train.py'];
type More = {
  style?: ArgumentStyle;
  runCap?: number;
  command?: string[];
  baselines?: string[];
  sample?: SamplingKind;
  then?: string;
};
const text = (assignments: string[], more: More = {}) =>
  gridSweepText({
    assignments,
    command: train,
    style: 'equals',
    runCap: null,
    sample: null,
    baselines: [],
    then: null,
    ...more,
  });
const points = (assignments: string[], runCap?: number) =>
  planOf(text(assignments, runCap === undefined ? {} : { runCap })).runs.map(({ parameters }) => parameters);
const values = (value: string) => points([`k=${value}`]).map(({ k }) => k);

describe('the values of a grid line', () => {
  it.each<[written: string, values: unknown[]]>([
    ['1e-4,3e-4', [1e-4, 3e-4]],
    ['choice(a,b)', ['a', 'b']],
    ['0..4', [0, 1, 2, 3, 4]],
    ['4..0..-2', [4, 2, 0]],
    ['0..2,10', [0, 1, 2, 10]],
    ['range(3)', [0, 1, 2]],
    ['range(0,5)', [0, 1, 2, 3, 4]],
    ['range(start=1,stop=6,step=2)', [1, 3, 5]],
    ['range(0,0.3,0.1)', [0, 0.1, 0.2]],
    ['range(3,0,-1)', [3, 2, 1]],
    ['range[0:0.5:0.25]', [0, 0.25, 0.5]],
    ['linspace[0:1:3]', [0, 0.5, 1]],
    ['logspace[-5:-3:3]', [1e-5, 1e-4, 1e-3]],
    ['sort(3,1,2)', [1, 2, 3]],
    ['sort(range(0,3),reverse=true)', [2, 1, 0]],
    ['int(choice(1.5,2.5))', [1, 2]],
    ['str(choice(1,2))', ['1', '2']],
    ['true,False,null,x', [true, false, null, 'x']],
    ['"a, b",\'c\'', ['a, b', 'c']],
    ["'1','true'", ['1', 'true']],
    ['a\\,b', ['a,b']],
    ['[1,2],[3]', [[1, 2], [3]]],
    ['choice([1,[2]])', [[1, [2]]]],
    ['{a: 1, b: [x]}', [{ a: 1, b: ['x'] }]],
    ['../data/x.txt,s3://b/c', ['../data/x.txt', 's3://b/c']],
    ['two words', ['two words']],
    ['1:30', ['1:30']],
    ['0.5,unset()', [0.5, undefined]],
    ['unset()', [undefined]],
    ['-1,+2,.5', [-1, 2, 0.5]],
    ["''", ['']],
  ])('%s', (written, gives) => {
    expect(values(written)).toEqual(gives);
  });

  it.each<[written: string, sample: (value: number) => boolean, log: boolean]>([
    ['interval(0,1)', (value) => value > 0 && value < 1, false],
    ['int(interval(1,6))', (value) => Number.isInteger(value) && value >= 1 && value <= 6, false],
    ['tag(log,interval(1e-5,1e-1))', (value) => value > 1e-5 && value < 1e-1, true],
    ['loguniform[1e-5:1e-1]', (value) => value > 1e-5 && value < 1e-1, true],
    ['uniform[0.5:2]', (value) => value > 0.5 && value < 2, false],
    ['[0:50]', (value) => Number.isInteger(value) && value >= 0 && value <= 50, false],
    ['tag(log,int(interval(1,1000)))', (value) => Number.isInteger(value) && value >= 1 && value <= 1000, false],
  ])('%s is drawn', (written, isInside, isLog) => {
    const drawn = points([`k=${written}`], 30).map(({ k }) => Number(k));
    expect(drawn.length).toBeGreaterThan(5);
    expect(drawn.every(isInside)).toBe(true);
    // On a logarithmic scale half of the draws are below the geometric mean.
    if (isLog) expect(drawn.filter((value) => value < 1e-3).length).toBeGreaterThan(8);
  });

  it('are crossed with those that are drawn, and count', () => {
    const drawn = points(['seed=0..2', 'lr=interval(0,1)', 'model=small'], 6);
    expect(drawn.map(({ seed }) => seed)).toEqual([0, 1, 2, 0, 1, 2]);
    expect(new Set(drawn.map(({ lr }) => lr)).size).toBe(2);
    expect(drawn.every(({ model }) => model === 'small')).toBe(true);
  });
});

describe('what is ambiguous or wrong in a grid line', () => {
  it.each<{ line: string; says: string; fix: string }>([
    {
      line: 'x=[0,1,2]',
      says: "one value, a list, in Hydra's syntax, and 3 runs in guild's",
      fix: 'Write `0,1,2` for 3 runs',
    },
    { line: 'x=yes', says: "true or false in guild's", fix: 'Write true' },
    { line: 'x=1_000', says: "a number in Hydra's syntax, and a text in guild's", fix: 'Write 1000' },
    { line: 'x=007', says: "a text in Hydra's syntax", fix: 'decimals' },
    { line: 'x=~', says: "null in guild's", fix: 'unset()' },
    { line: 'x=', says: 'there is no value', fix: "x=''" },
    { line: 'x=1,,2', says: 'a value is missing before `,`', fix: "''" },
    { line: 'x=[1]*3', says: 'cannot be repeated', fix: 'seed=0..2' },
    { line: 'x=uniform(0,1)', says: 'not understood', fix: 'interval(0,1)' },
    { line: 'x=interval[0:1]', says: 'not known', fix: 'interval(…)' },
    { line: 'x=uniform[0:1:0.5]', says: 'where an optimizer begins', fix: 'range[0:1:0.1]' },
    { line: 'x=interval(1,0)', says: 'the lower one first', fix: 'interval(0,1)' },
    { line: 'x=ranje(0,5)', says: 'Did you mean `range`?', fix: 'Correct' },
    { line: 'x=range(5,0)', says: 'nothing from 5 to 0', fix: 'Exchange' },
    { line: 'x=range(0,1,0)', says: 'the step cannot be 0', fix: 'range' },
    { line: 'x=0..9999999', says: 'the limit is 200,000', fix: 'smaller' },
    { line: 'x=1,range(0,2)', says: 'stands among other values', fix: 'alone' },
    { line: 'x=glob(*)', says: 'not understood', fix: 'List' },
    { line: 'x="a', says: 'the quote is not closed', fix: '"' },
    { line: 'x=choice(1,2', says: '`(` is not closed', fix: ')' },
    { line: 'x=1)', says: 'nothing to close', fix: 'quotes' },
    { line: 'x=99999999999999999999', says: 'too large', fix: 'quotes' },
    { line: '+x=1', says: 'not part of a name', fix: '--args hydra-append' },
    { line: '~x', says: 'cannot be deleted', fix: 'unset()' },
    { line: '@trials.csv', says: 'a file of trials', fix: 'memrl-tui trials.csv -- python train.py' },
    { line: 'db/sub=a,b', says: 'a config group', fix: '--print' },
    { line: 'train.py', says: 'no `name=value`', fix: 'after `--`' },
    { line: '1x=2', says: 'cannot be a name', fix: 'start with a letter' },
  ])('$line', ({ line, says, fix }) => {
    const said = refusal(() => text([line]));
    expect(said.message.toLowerCase()).toContain(says.toLowerCase());
    expect(said.message).toMatch(/\n {2}\S.*\n {2} *\^+$/);
    expect(said.fix).toContain(fix);
  });

  it('is told all at once, each with its mark', () => {
    const { message, fix } = refusal(() => text(['a=[1]', 'b=2', 'c=on']));
    expect(message.match(/\^+/g)).toHaveLength(2);
    expect(fix.split('\n')).toHaveLength(2);
  });

  it('may be a parameter that is there twice, a draw without an end, and no command', () => {
    expect(refusal(() => text(['a=1', 'a=2'])).message).toContain('set twice');
    expect(refusal(() => text(['lr=interval(0,1)'])).fix).toContain('--run-cap 20');
    expect(refusal(() => text(['a=1'], { command: [] })).fix).toContain('-- python train.py');
  });
});

describe('the sweep file of a grid line', () => {
  it('says what was typed, and is one that a person would write', () => {
    expect(text(['seed=0..2', 'optim.lr=1e-4,3e-4', 'name="a b"', 'layers=choice([64,64])'])).toBe(
      [
        `# memrl-tui grid seed=0..2 optim.lr=1e-4,3e-4 'name="a b"' 'layers=choice([64,64])' -- python train.py`,
        'command: [python, train.py, "${args}"]',
        'parameters:',
        '  seed: [0, 1, 2]',
        '  optim.lr: [0.0001, 0.0003]',
        '  name: a b',
        '  layers: [[64, 64]]',
        '',
      ].join('\n'),
    );
  });

  it('draws in a group, so that it is not taken for one of W&B', () => {
    expect(text(['lr=loguniform[1e-5:1e-1]', 'seed=0,1'], { runCap: 8 })).toContain(
      [
        '  lr: {distribution: log_uniform_values, min: 0.00001, max: 0.1}',
        '  seed: {grid: [0, 1]}',
        'run_cap: 8',
        'groups:',
        '  random: { method: random }',
        '',
      ].join('\n'),
    );
  });

  it('runs every point as the baselines say, too', () => {
    const baselines = ['filter: routing=False,frac=unset, kind=filter', 'none: frac=0.1,0.3 routing=false'];
    const written = text(['lr=1,2', 'frac=0.2,0.5', 'routing=true'], { baselines });
    expect(written.split('\n').slice(6)).toEqual([
      'groups:',
      '  runs: {}',
      '  filter:',
      '    for_each: runs',
      '    parameters:',
      '      routing: false',
      '      frac: {unset: true}',
      '      kind: filter',
      '  none:',
      '    for_each: runs',
      '    parameters:',
      '      frac: [0.1, 0.3]',
      '      routing: false',
      '',
    ]);
    expect(written).toContain("--baseline 'filter: routing=False,frac=unset, kind=filter' --baseline");
    expect(planOf(written).runs.map(({ name }) => name)).toEqual([
      ...['runs_lr1_frac0.2', 'runs_lr1_frac0.5', 'runs_lr2_frac0.2', 'runs_lr2_frac0.5'],
      ...['filter_lr1', 'filter_lr2'],
      ...['none_lr1_frac0.1', 'none_lr1_frac0.3', 'none_lr2_frac0.1', 'none_lr2_frac0.3'],
    ]);
    expect(planOf(written).runs[4]!.argv).toEqual([...train, '--lr=1', '--routing=False', '--kind=filter']);
  });

  it('draws from its lists, and runs every point with all seeds', () => {
    const line = ['lr=1,2,3', 'bs=8,16', 'seed=0,1', 'env.seed=7,8', 'model=small'];
    const written = text(line, { runCap: 16, sample: 'lhs', baselines: ['sgd: opt=sgd'] });
    expect(written).toContain(
      [
        '  lr: [1, 2, 3]',
        '  bs: [8, 16]',
        '  seed: {grid: [0, 1]}',
        '  env.seed: {grid: [7, 8]}',
        '  model: small',
        'run_cap: 16',
        'groups:',
        '  lhs: { method: lhs }',
        '  sgd:',
      ].join('\n'),
    );
    expect(written).toContain("--run-cap 16 --sample lhs --baseline 'sgd: opt=sgd' --");
    const { runs } = planOf(written);
    const drawn = runs.filter(({ group }) => group === 'lhs');
    expect(drawn.slice(0, 4).map((run) => [run.parameters['seed'], run.parameters['env.seed']])).toEqual([
      [0, 7],
      [0, 8],
      [1, 7],
      [1, 8],
    ]);
    expect(new Set(drawn.map((run) => run.parameters['lr'])).size).toBe(3);
    expect(runs).toHaveLength(2 * drawn.length);
    expect(refusal(() => text(line, { sample: 'sobol' })).message).toContain('Points are drawn (`--sample sobol`)');
  });

  it('follows every run, baselines as well, with a second one', () => {
    const then = "eval 'a b' --model=${run_dir}/last --of ${run_name} --out=${then_dir} --lr=${lr}";
    const written = text(['lr=1,2'], { baselines: ['sgd: opt=sgd'], then });
    expect(written).toContain(
      [
        '  then:',
        '    after_each: [runs, sgd]',
        '    command: [eval, a b, "--model=${after_dir}/last", --of, "${after_name}", "--out=${run_dir}", "--lr=${lr}"]',
        '',
      ].join('\n'),
    );
    const { runs } = planOf(written);
    expect(runs.slice(4).map(({ name, neededRuns }) => [name, neededRuns])).toEqual(
      ['runs_lr1', 'runs_lr2', 'sgd_lr1', 'sgd_lr2'].map((name) => [`then_${name}`, [name]]),
    );
    expect(runs[4]!.argv).toEqual(
      ['eval', 'a b', '--model=/runs/x/runs_lr1/last', '--of', 'runs_lr1'].concat(
        '--out=/runs/x/then_runs_lr1',
        '--lr=1',
      ),
    );
    // The heading is a line that a shell reads back.
    expect(written).toContain(`--then 'eval '\\''a b'\\'' --model=\${run_dir}`);
  });

  it.each<{ then: string; says: string }>([
    { then: '  ', says: 'has no command' },
    { then: 'eval x | tee y', says: 'a pipe' },
    { then: 'eval $HOME', says: 'a variable' },
    { then: 'A=1 eval', says: 'begins with a variable' },
    { then: "eval 'x", says: 'a quote that is not closed' },
  ])('refuses to follow runs with $then', ({ then, says }) => {
    expect(refusal(() => text(['lr=1'], { then })).message).toContain(says);
  });

  it('has baselines of points that are drawn', () => {
    const written = text(['lr=interval(0,1)', 'seed=0,1'], { runCap: 6, baselines: ['sgd: opt=sgd'] });
    const drawn = planOf(written).runs.map(({ parameters }) => parameters);
    expect(drawn).toHaveLength(12);
    expect(drawn.slice(6)).toEqual(drawn.slice(0, 6).map((point) => ({ ...point, opt: 'sgd' })));
  });

  it.each<{ baselines: string[]; says: string }>([
    { baselines: ['routing=false'], says: 'has no name' },
    { baselines: ['a b: lr=1'], says: 'has no name' },
    { baselines: ['a: '], says: 'changes nothing' },
    { baselines: ['runs: lr=3'], says: 'two groups `runs`' },
    { baselines: ['a: lr=3', 'a: lr=4'], says: 'two groups `a`' },
    { baselines: ['a: lr=interval(0,1)'], says: 'drawn at random' },
    { baselines: ['a: ll=unset'], says: 'no parameter of the line. Did you mean `lr`?' },
    { baselines: ['a: lr=yes'], says: 'true or false' },
    { baselines: ['a: 3'], says: 'no `name=value`' },
  ])('refuses $baselines as baselines', ({ baselines, says }) => {
    expect(refusal(() => text(['lr=1'], { baselines })).message).toContain(says);
  });

  it.each<[style: ArgumentStyle, argv: string[]]>([
    ['equals', ['--lr=0.1', '--amp=True']],
    ['space', ['--lr', '0.1', '--amp', 'True']],
    ['flags', ['--lr=0.1', '--amp']],
    ['hydra', ['lr=0.1', 'amp=True']],
    ['hydra-append', ['+lr=0.1', '+amp=True']],
    ['hydra-override', ['++lr=0.1', '++amp=True']],
    ['json', ['{"lr":0.1,"amp":true}']],
  ])('passes parameters as %s', (style, argv) => {
    expect(planOf(text(['lr=0.1', 'amp=true'], { style })).runs[0]!.argv).toEqual([...train, ...argv]);
  });

  it('leaves the command as it is where it says itself how parameters are passed', () => {
    const command = ['sh', '-c', 'echo ${lr} > out'];
    expect(planOf(text(['lr=1,2'], { command })).runs.map(({ argv }) => argv[2])).toEqual([
      'echo 1 > out',
      'echo 2 > out',
    ]);
  });

  property('gives the points of the line, whatever texts and numbers they are', 150, (examples) => {
    const scalar = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    );
    const axes = fc.dictionary(
      fc.constantFrom('a', 'b.c', 'null', 'd-e'),
      fc.uniqueArray(scalar, { minLength: 1, maxLength: 3, selector: String }),
    );
    fc.assert(
      fc.property(axes, (lists) => {
        const line = Object.entries(lists).map(([name, list]) => `${name}=choice(${list.map(quoted).join(',')})`);
        const product = Object.entries(lists).reduce<Record<string, ParameterValue>[]>(
          (all, [name, list]) =>
            all.flatMap((point) => list.map((value) => ({ ...point, [name]: value === 0 ? 0 : value }))),
          [{}],
        );
        expect(points(line)).toEqual(product);
      }),
      examples,
    );
  });

  property('is refused in words, whatever is typed', 3000, (examples) => {
    const pieces = fc.constantFrom(
      'choice',
      'range',
      'sort',
      'tag',
      'int',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '..',
      '*',
      '=',
      '"',
      "'",
      '\\',
      '${',
      '1',
      '-2',
      '0.5',
      'a',
      ' ',
      '~',
      '1e999',
      'log',
      'interval',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), fc.string(), (parts, rest) => {
        for (const value of [parts.join(''), rest]) {
          try {
            readAssignments([`k=${value}`]);
          } catch (error) {
            expect(error).toBeInstanceOf(UserError);
          }
        }
      }),
      examples,
    );
  });
});

function quoted(value: Scalar): string {
  return typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value);
}
