import { describe, expect, it } from 'vitest';
import { planOf, refusal } from '../sweeps.js';

const parameters =
  'parameters: {N: 16, "optim.lr": 0.00001, flag: true, off: false, none: null, list: {value: [1, a]}, text: "a b"}';
const argvOf = (command: string, options = {}) => planOf(`command: ${command}\n${parameters}`, options).runs[0]!.argv;

describe('a macro', () => {
  it.each<{ command: string; is: string[] }>([
    {
      command: '["${args}"]',
      is: ['--N=16', '--optim.lr=1e-05', '--flag=True', '--off=False', '--none=None', "--list=[1, 'a']", '--text=a b'],
    },
    {
      command: '["${args_no_hyphens}"]',
      is: ['N=16', 'optim.lr=1e-05', 'flag=True', 'off=False', 'none=None', "list=[1, 'a']", 'text=a b'],
    },
    {
      command: '["${args_no_equals}"]',
      is: [
        '--N',
        '16',
        '--optim.lr',
        '1e-05',
        '--flag',
        'True',
        '--off',
        'False',
        '--none',
        'None',
        '--list',
        "[1, 'a']",
        '--text',
        'a b',
      ],
    },
    {
      command: '["${args_no_boolean_flags}"]',
      is: ['--N=16', '--optim.lr=1e-05', '--flag', '--none=None', "--list=[1, 'a']", '--text=a b'],
    },
    {
      command: '["${args_append_hydra}"]',
      is: ['+N=16', '+optim.lr=1e-05', '+flag=True', '+off=False', '+none=None', "+list=[1, 'a']", '+text=a b'],
    },
    {
      command: '["${args_override_hydra}"]',
      is: ['++N=16', '++optim.lr=1e-05', '++flag=True', '++off=False', '++none=None', "++list=[1, 'a']", '++text=a b'],
    },
    {
      command: '["${args_json}"]',
      is: ['{"N":16,"optim.lr":0.00001,"flag":true,"off":false,"none":null,"list":[1,"a"],"text":"a b"}'],
    },
    { command: '[x, "${run_dir}", "${run_name}", "${sweep_dir}"]', is: ['x', '/runs/x/runs', 'runs', '/runs/x'] },
    { command: '["${env}", "${interpreter}", "${envvar:HOME}"]', is: ['/usr/bin/env', 'python', '/home/ada'] },
    { command: '["--n=${N}/${flag}", "${optim.lr}"]', is: ['--n=16/True', '1e-05'] },
    { command: '["${attempt}", "x${attempt}"]', is: ['${attempt}', 'x${attempt}'] },
    { command: '["$${N} $N", ""]', is: ['${N} $N', ''] },
    {
      command: '[sh, -c, "run ${args_no_hyphens}"]',
      is: ['sh', '-c', "run N=16 optim.lr=1e-05 flag=True off=False none=None 'list=[1, '\\''a'\\'']' 'text=a b'"],
    },
    { command: '[sleep, 1, true]', is: ['sleep', '1', 'true'] },
  ])('stands for what it says: $command', ({ command, is }) => {
    expect(argvOf(command, { environment: { HOME: '/home/ada' } })).toEqual(is);
  });

  it('of a directory is filled in inside values too; what else looks like a macro there is the program’s own', () => {
    const { runs } = planOf(
      'command: [a, "${args}", "${args_json}"]\nparameters: {from: "${sweep_dir}/w", hydra: "${model.dim}"}',
    );
    expect(runs[0]!.argv).toEqual([
      'a',
      '--from=/runs/x/w',
      '--hydra=${model.dim}',
      '{"from":"/runs/x/w","hydra":"${model.dim}"}',
    ]);
    expect(runs[0]!.parameters['from']).toBe('${sweep_dir}/w');
  });

  it('of a list is one text in what is no list of arguments', () => {
    const { runs } = planOf(
      'command: [a]\nparameters: {b: 1, c: x y}\nenv: {ALL: "${args_no_hyphens}", LAST: z}\ncwd: "${args}"',
    );
    expect(runs[0]!.env).toEqual({ ALL: "b=1 'c=x y'", LAST: 'z' });
    expect(runs[0]!.cwd).toBe("/home/ada/--b=1 '--c=x y'");
  });

  it('of the program is what W&B runs when there is no command', () => {
    expect(planOf('program: train.py\nparameters: {env: cart}').runs[0]!.argv).toEqual([
      '/usr/bin/env',
      'python',
      'train.py',
      '--env=cart',
    ]);
  });

  it.each([
    {
      wrong: 'a variable that is not set',
      text: 'command: [a, "${envvar:NOPE}"]',
      says: 'the environment has no variable `NOPE`',
    },
    {
      wrong: 'a parameter that is not passed',
      text: 'command: [a, "${b}"]\nparameters: {a: 1, b: {value: 2, when: a > 1}}',
      says: '`b` is not passed at this point at a=1',
    },
    { wrong: 'a list that leaves no word', text: 'command: ["${args}"]', says: 'the command has no words' },
  ])('is refused: $wrong', ({ text, says }) => {
    expect(refusal(() => planOf(text)).message).toContain(says);
  });
});

describe('a number', () => {
  it.each([
    ['0.1', '0.1'],
    ['1e-4', '0.0001'],
    ['1e-5', '1e-05'],
    ['1.5e-7', '1.5e-07'],
    ['123456789.5', '123456789.5'],
    ['1e16', '1e+16'],
    ['1.25e+22', '1.25e+22'],
    ['3', '3'],
    ['-0.5', '-0.5'],
  ])('%s is written as Python writes it: %s', (yaml, python) => {
    expect(planOf(`command: [a, "\${x}"]\nparameters: {x: ${yaml}}`).runs[0]!.argv[1]).toBe(python);
  });
});
