import { describe, expect, it } from 'vitest';
import { planOf, refusal } from '../sweeps.js';

const parameters =
  'parameters: {N: 16, "optim.lr": 1e-5, flag: true, off: false, none: null, list: {value: [1, a]}, text: "a b"}';
const argvOf = (command: string, options = {}) => planOf(`command: ${command}\n${parameters}`, options).runs[0]!.argv;

describe('a macro', () => {
  it.each<{ command: string; is: string[] }>([
    {
      command: '["${args}"]',
      is: ['--N=16', '--optim.lr=1e-5', '--flag=True', '--off=False', '--none=None', "--list=[1, 'a']", '--text=a b'],
    },
    {
      command: '["${args_no_hyphens}"]',
      is: ['N=16', 'optim.lr=1e-5', 'flag=True', 'off=False', 'none=None', "list=[1, 'a']", 'text=a b'],
    },
    {
      command: '["${args_no_equals}"]',
      is: [
        '--N',
        '16',
        '--optim.lr',
        '1e-5',
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
      is: ['--N=16', '--optim.lr=1e-5', '--flag', '--none=None', "--list=[1, 'a']", '--text=a b'],
    },
    {
      command: '["${args_append_hydra}"]',
      is: ['+N=16', '+optim.lr=1e-5', '+flag=True', '+off=False', '+none=null', "+list=[1, 'a']", "+text='a b'"],
    },
    {
      command: '["${args_override_hydra}"]',
      is: ['++N=16', '++optim.lr=1e-5', '++flag=True', '++off=False', '++none=null', "++list=[1, 'a']", "++text='a b'"],
    },
    {
      command: '["${args_hydra}"]',
      is: ['N=16', 'optim.lr=1e-5', 'flag=True', 'off=False', 'none=null', "list=[1, 'a']", "text='a b'"],
    },
    {
      command: '["${args_words}"]',
      is: ['--N=16', '--optim.lr=1e-5', '--flag=True', '--off=False', '--none=None', '--list', '1', 'a', '--text=a b'],
    },
    {
      command: '["${args_json}"]',
      is: ['{"N":16,"optim.lr":0.00001,"flag":true,"off":false,"none":null,"list":[1,"a"],"text":"a b"}'],
    },
    { command: '[x, "${run_dir}", "${run_name}", "${sweep_dir}"]', is: ['x', '/runs/x/runs', 'runs', '/runs/x'] },
    { command: '["${env}", "${interpreter}", "${envvar:HOME}"]', is: ['/usr/bin/env', 'python', '/home/ada'] },
    { command: '["--n=${N}/${flag}", "${optim.lr}"]', is: ['--n=16/True', '1e-5'] },
    { command: '["${attempt}", "x${attempt}"]', is: ['${attempt}', 'x${attempt}'] },
    { command: '["$${N} $N", ""]', is: ['${N} $N', ''] },
    {
      command: '[sh, -c, "run ${args_no_hyphens}"]',
      is: ['sh', '-c', "run N=16 optim.lr=1e-5 flag=True off=False none=None 'list=[1, '\\''a'\\'']' 'text=a b'"],
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
  const passed = (yaml: string, header = '') =>
    planOf(`${header}command: [a, "\${x}"]\nparameters: {x: ${yaml}}`).runs.map(({ argv }) => argv[1]);

  it.each(['0.1', '0.0', '1.0', '1e-4', '1e-5', '1.5e-7', '1e16', '3', '-0.5', '+3', '.5', '2.', '0.10', '1E3'])(
    'is passed as our own file has it: %s',
    (yaml) => {
      expect(passed(yaml)).toEqual([yaml]);
      expect(passed(`{value: ${yaml}}`)).toEqual([yaml]);
      expect(passed(`[${yaml}, 77]`)).toEqual([yaml, '77']);
      expect(passed(`{value: [${yaml}, {y: ${yaml}}]}`)).toEqual([`[${yaml}, {'y': ${yaml}}]`]);
    },
  );

  it('is passed so wherever it stands: in a case, in `include`, in a group, behind an alias, in the environment', () => {
    const argvOf = (text: string) => planOf(`command: [a, "\${x}"]\n${text}`).runs.map(({ argv }) => argv[1]);
    expect(argvOf('cases: [{x: 0.0}, {x: 1.0, y: 1}]')).toEqual(['0.0', '1.0']);
    expect(argvOf('parameters: {y: [1]}\ninclude: [{x: 2.0}]')).toEqual(['2.0']);
    expect(argvOf('parameters: {x: 1}\ngroups: {g: {parameters: {x: [1.0, 2.50]}}}')).toEqual(['1.0', '2.50']);
    expect(argvOf('parameters: {z: &lr 1e-3, x: *lr}')).toEqual(['1e-3']);
    const { runs } = planOf('command: [a]\nenv: {LR: "${x}"}\nparameters: {x: 1e-3}');
    expect(runs[0]!.env).toEqual({ LR: '1e-3' });
  });

  it.each([
    ['0x10', '16'],
    ['0o17', '15'],
    ['"0.0"', '0.0'],
    ['{expr: "1.0 * 1e-5"}', '1e-05'],
    // Written in two ways within one value, it is nobody's.
    ['{value: [1e-3, 0.001, 0.0]}', '[0.001, 0.001, 0.0]'],
  ])('is passed as Python writes it where the file has no text that programs read: %s', (yaml, python) => {
    expect(passed(yaml)).toEqual([python]);
  });

  it('in an option is passed as Python writes it, whatever the file has', () => {
    const text = 'command: [a, "${x}"]\nparameters: {x: 1e-4}';
    expect(planOf(text, { set: ['x=1e-5'] }).runs[0]!.argv[1]).toBe('1e-05');
    expect(planOf(text, { set: ['x=0.0001'] }).runs[0]!.argv[1]).toBe('0.0001');
  });

  it('changes neither the name of a run nor what it is', () => {
    const [run, same] = ['1e-4', '0.00010'].map(
      (lr) => planOf(`command: [a, "\${args}"]\nparameters: {lr: [${lr}, 1.0], seed: 0}`).runs[0]!,
    );
    expect(run!.name).toBe('lr0.0001');
    expect([same!.name, same!.identity, same!.parameters]).toEqual([run!.name, run!.identity, run!.parameters]);
    expect([run!.argv[1], same!.argv[1]]).toEqual(['--lr=1e-4', '--lr=0.00010']);
  });

  it.each([
    ['0.0', '0'],
    ['1.0', '1'],
    ['1e-4', '0.0001'],
    ['1e-5', '1e-05'],
    ['1e16', '1e+16'],
    ['1.25e+22', '1.25e+22'],
  ])('in a file of W&B is passed as W&B does: %s', (yaml, python) => {
    expect(passed(`{value: ${yaml}}`, 'method: grid\nprogram: a.py\n')).toEqual([python]);
  });
});
