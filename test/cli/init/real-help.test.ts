import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { helpOptions } from '../../../src/cli/init/help-options.js';
import type { HelpOption } from '../../../src/cli/init/option-words.js';
import { draftText } from '../../../src/cli/init/sweep-draft.js';
import { planOf } from '../../spec/sweeps.js';

/** What real libraries printed, by program, version and width; `capture.sh` beside the files wrote them. */
const folder = 'test/fixtures/help';
const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));
const helpOf = (file: string) => helpOptions(readFileSync(`${folder}/${file}`, 'utf8'))!;
const linesOf = (file: string) => helpOf(file).options.map(line);
const of = (...programs: string[]) =>
  files.filter((name) => programs.some((program) => name.startsWith(`${program}.`)));

/** `lr = 0.001`, `optimizer {adam|sgd} = adam`, `amp / no-amp = true (flag)`, `data = - (required)`. */
function line({ name, kind, off, choices, preset, required }: HelpOption): string {
  const marks = [...(kind === 'value' ? [] : [kind]), ...(required ? ['required'] : [])];
  return [
    name,
    off === null ? '' : ` / ${off}`,
    choices.length === 0 ? '' : ` {${choices.join('|')}}`,
    ` = ${preset ?? '-'}`,
    marks.length === 0 ? '' : ` (${marks.join(', ')})`,
  ].join('');
}

const typerTrain = [
  'lr = 0.001',
  'batch-size = 32',
  'optimizer {adam|sgd} = adam',
  'amp / no-amp = true (flag)',
  'compile / no-compile = false (flag)',
  'resume = - (flag)',
  'layers = 64, 64 (several)',
  'name = -',
  'output-dir = - (required)',
  'seed = 0',
];

/** What is expected of a program; `commands`: it has these instead of options. */
type Expected = { program: string; format: string; operands?: string[]; options?: string[]; commands?: string[] };

const expected: Expected[] = [
  { program: 'typer_train', format: 'click', operands: ['dataset'], options: typerTrain },
  { program: 'typer_multi', format: 'click', commands: ['evaluate', 'train'] },
  {
    program: 'click_train',
    format: 'click',
    operands: ['dataset'],
    options: [
      'lr = 0.001',
      'batch-size = 32',
      'optimizer {adam|sgd} = adam',
      'amp / no-amp = true (flag)',
      'compile / no-compile = - (flag)',
      'resume = - (flag)',
      'layers = -',
      'betas = 0.9, 0.999 (several)',
      'name = - (required)',
      'seed = -',
      'out = -',
      'level {low|a rather long name|another rather long name|the longest of them all|and one more of the same kind} = -',
      'date = -',
      'size = 3',
    ],
  },
  { program: 'click_group', format: 'click', commands: ['evaluate', 'train'] },
  {
    program: 'click_rich',
    format: 'click',
    options: [
      'lr = 0.001',
      'optimizer {adam|sgd} = adam',
      'amp / no-amp = true (flag)',
      'name = - (required)',
      'seed = -',
    ],
  },
  {
    program: 'fire_train',
    format: 'fire',
    options: [
      'dataset = - (required)',
      'lr = 0.001',
      'batch_size = 32',
      'optimizer = adam',
      'amp = True',
      'layers = [64, 64]',
      'name = -',
      'seed = 0',
      'output_dir = -',
      'warm_up_steps = 10',
    ],
  },
  {
    program: 'fire_plain',
    format: 'fire',
    options: ['lr = 0.1', 'steps = 100', 'seed = - (required)', 'fp16 = False'],
  },
  { program: 'fire_obj', format: 'fire', commands: ['train'] },
  {
    program: 'argparse_train',
    format: 'argparse',
    operands: ['data'],
    options: [
      'lr = 0.001',
      'optimizer {adam|sgd} = adam',
      'layers = [64, 64] (several)',
      'amp / no-amp = true (flag)',
      'resume = false (flag)',
      'name = - (required)',
      'betas = - (several)',
      'out-dir = -',
      'seed = -',
    ],
  },
  { program: 'argparse_sub', format: 'argparse', commands: ['evaluate', 'train'] },
  {
    program: 'tyro_train',
    format: 'argparse',
    options: [
      'dataset = - (required)',
      'layers = 64 64 (several)',
      'amp / no-amp = true (flag)',
      'resume / no-resume = false (flag)',
      'name = -',
      'seed = 0',
      'num-envs = 4',
      'optim.lr = 0.001',
      'optim.kind {adam|sgd} = adam',
    ],
  },
  { program: 'tyro_sub', format: 'argparse', commands: ['evaluate', 'train'] },
  {
    program: 'simple_train',
    format: 'argparse',
    options: ['data = - (required)', 'lr = 0.001', 'amp = True', 'layers = -', 'optimizer = adam', 'seed = 0'],
  },
  {
    program: 'hf_train',
    format: 'argparse',
    options: [
      'model_name = - (required)',
      'learning_rate = 5e-05',
      'optim {adamw|sgd} = adamw',
      'fp16 = False',
      'pin_memory = True',
      'report_to = -',
      'seed = 42',
      'output_dir = -',
    ],
  },
  {
    program: 'jsonarg_train',
    format: 'argparse',
    operands: ['data'],
    options: [
      'config = -',
      'lr = 0.001',
      'amp {true|false} = True',
      'layers = [64] (several)',
      'optimizer = adam',
      'seed = 0',
    ],
  },
  {
    program: 'absl_train',
    format: 'absl',
    options: [
      'amp = true (flag)',
      'data = -',
      'layers = 64,64 (several)',
      'lr = 0.001',
      'opt {adam|sgd} = adam',
      'seed = 0',
    ],
  },
  {
    program: 'hydra_train',
    format: 'Hydra',
    options: [
      'optim.lr = 0.001',
      'optim.name = adam',
      'layers = - (several)',
      'amp = true',
      'seed = 0',
      'data = ??? (required)',
    ],
  },
];

/** Where rich has no room for all names, it cuts them. */
const isNarrow = (file: string) => file.endsWith('.60.txt');

describe('the help text of a real program', () => {
  it('is known of every file', () => {
    expect(of(...expected.map(({ program }) => program))).toEqual(files);
  });

  const cases = expected.flatMap((each) => of(each.program).map((file) => ({ ...each, file })));
  it.each(cases.filter(({ file }) => !isNarrow(file)))(
    'tells its options, whatever the version and the width: $file',
    ({ file, format, operands = [], options = [], commands = [] }) => {
      const help = helpOf(file);
      expect(help.format).toBe(format);
      expect([...help.commands].sort()).toEqual(commands);
      expect(help.operands.map((name) => name.toLowerCase())).toEqual(operands);
      if (commands.length === 0) expect(linesOf(file)).toEqual(options);
    },
  );

  it.each(files.filter(isNarrow))('has no option whose name was cut short: %s', (file) => {
    const cut = ['batch-size', 'optimizer', 'output-dir', 'compile'];
    const whole = typerTrain.filter((option) => !cut.some((name) => option.startsWith(name)));
    expect(linesOf(file).filter((option) => !option.startsWith('compile'))).toEqual(whole);
    expect(linesOf(file)).not.toContain('compile / no-compile = false (flag)');
  });

  it.each(cases.filter(({ commands }) => commands === undefined))('makes a sweep file: $file', ({ file }) => {
    const command = ['python', 'train.py'];
    const text = draftText({ command, path: 'x.yaml', help: helpOf(file), helpProblem: null, trial: null });
    expect(planOf(text).runs).toHaveLength(/^ {2}seed: /m.test(text) ? 3 : 1);
  });
});

describe('a sweep file turns a flag off', () => {
  const draft = (file: string) =>
    draftText({ command: ['x'], path: 'x.yaml', help: helpOf(file), helpProblem: null, trial: null });

  it.each(of('typer_train', 'argparse_train', 'tyro_train').filter((file) => !isNarrow(file)))(
    'by its other name where it is on by itself: %s',
    (file) => {
      expect(draft(file)).toMatch(/^ {2}#no-amp: \[true, false\] # `amp` is on by itself/m);
      expect(draft(file)).not.toMatch(/^ {2}#amp:/m);
    },
  );

  it.each(of('click_train'))('and says how where the help text does not tell whether it is on: %s', (file) => {
    expect(draft(file)).toMatch(
      /^ {2}#compile: \[true, false\] # false passes nothing; `no-compile: true` turns it off$/m,
    );
  });

  it.each(of('hf_train', 'fire_train'))('by its value where it takes one: %s', (file) => {
    const text = draft(file).replace(/^ {2}#(pin_memory|amp): true/m, '  $1: false');
    expect(planOf(text).runs[0]!.argv.join(' ')).toMatch(/--(pin_memory|amp)=False/);
  });

  it('by its value also beside flags that take none', () => {
    const help = helpOptions(
      'usage: x [-h] [--amp AMP] [--fast]\n\noptions:\n  --amp AMP   (default: True)\n  --fast\n',
    );
    const text = draftText({ command: ['x'], path: 'x.yaml', help, helpProblem: null, trial: null });
    expect(text).toMatch(/^ {2}#amp: "True"/m);
  });

  it('beside what the program needs besides', () => {
    expect(draft(of('argparse_train')[0]!)).toContain('the program also takes data; write it into `command`');
  });
});
