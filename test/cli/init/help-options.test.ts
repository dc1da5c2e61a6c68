import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { helpOptions } from '../../../src/cli/init/help-options.js';
import type { HelpOption } from '../../../src/cli/init/option-words.js';
import { draftText } from '../../../src/cli/init/sweep-draft.js';
import { planOf } from '../../spec/sweeps.js';

const argparse = `usage: train.py [-h] --data DATA [--lr LR] [-o {adam,sgd}]
                [--layers N [N ...]] [--amp]

Trains a model.

options:
  -h, --help            show this help message and exit
  --data DATA           where the data is
  --lr LR               learning rate (default: 0.001)
  -o {adam,sgd}, --optimizer {adam,sgd}
                        which optimizer, and
                        why (default: adam)
  --layers N [N ...]    widths
  --amp                 mixed precision
  --amp-level=LEVEL     how much (default: None)
`;

const click = `Usage: train.py [OPTIONS]

Options:
  --lr FLOAT              Learning rate.  [default: 0.1]
  -n, --name TEXT         A name.  [required]
  --opt [adam|sgd]        Which.
  --amp / --no-amp        Mixed precision.
  --help                  Show this message and exit.
`;

const typer = `
 Usage: train.py [OPTIONS]

╭─ Options ───────────────────────────────────────────────────╮
│ *  --data        TEXT     Where it is. [required]            │
│    --lr          FLOAT    Learning rate. [default: 0.1]      │
│    --help                 Show this message and exit.        │
╰──────────────────────────────────────────────────────────────╯
`;

const absl = `Trains a model.
flags:

train.py:
  --[no]amp: Mixed precision
    (default: 'false')
  --lr: Learning rate
    (default: '0.001')
    (a number)
  --opt: <adam|sgd>: Which optimizer
    (default: 'adam')

Try --helpfull to get a list of all flags.
`;

const hydra = `train is powered by Hydra.

== Configuration groups ==
Compose your configuration from those groups (group=option)

db: mysql, postgresql


== Config ==
Override anything in the config (foo.bar=value)

optim:
  lr: 0.1
  name: adam
layers:
- 1
- 2
data: ???

Powered by Hydra (https://hydra.cc)
Use --hydra-help to view Hydra specific help
`;

const short = ({ name, kind, choices, preset, required }: HelpOption) =>
  [name, kind, choices.join('|'), preset ?? '-', required ? 'required' : ''].join(' ').trim();

describe('the options of a help text', () => {
  it.each<{ of: string; text: string; options: string[] }>([
    {
      of: 'argparse',
      text: argparse,
      options: [
        'data value  - required',
        'lr value  0.001',
        'optimizer value adam|sgd adam',
        'layers several  -',
        'amp flag  -',
        'amp-level value  -',
      ],
    },
    {
      of: 'click',
      text: click,
      options: ['lr value  0.1', 'name value  - required', 'opt value adam|sgd -', 'amp flag  -'],
    },
    { of: 'click', text: typer, options: ['data value  - required', 'lr value  0.1'] },
    { of: 'absl', text: absl, options: ['amp flag  false', 'lr value  0.001', 'opt value adam|sgd adam'] },
    {
      of: 'Hydra',
      text: hydra,
      options: [
        'db value mysql|postgresql -',
        'optim.lr value  0.1',
        'optim.name value  adam',
        'layers several  -',
        'data value  ??? required',
      ],
    },
  ])('are found in that of $of', ({ of, text, options }) => {
    const help = helpOptions(text)!;
    expect(help.format).toBe(of);
    expect(help.options.map(short)).toEqual(options);
  });

  it('come with what is said of them, on one line', () => {
    const about = helpOptions(argparse)!.options.find(({ name }) => name === 'optimizer')!.about;
    expect(about).toBe('which optimizer, and why (default: adam)');
  });

  it.each(['', 'step=1 loss=0.3\nstep=2 loss=0.2\n', 'Traceback (most recent call last):\n  File "x"'])(
    'are none where the text is no help: %j',
    (text) => expect(helpOptions(text)).toBeNull(),
  );
});

describe('the sweep file for a program', () => {
  const draft = (text: string | null) =>
    draftText({
      command: ['python', 'train.py'],
      path: 'sweeps/train.yaml',
      help: text === null ? null : helpOptions(text),
      helpProblem: null,
      trial: null,
    });

  it.each([argparse, click, typer, absl, hydra, null])('is one that runs as it stands', (text) => {
    expect(planOf(draft(text)).runs.length).toBeGreaterThan(0);
  });

  it('is one that runs when every comment about a parameter is filled in', () => {
    const text = draft(argparse)
      .replace(/^#parameters:/m, 'parameters:')
      .replace(/^ {2}#/gm, '  ')
      .replace(/^( {2}[\w-]+:)( #.*)?$/gm, '$1 1$2');
    const { runs } = planOf(text);
    expect(runs).toHaveLength(4);
    expect(runs[0]!.parameters).toEqual({
      data: 1,
      lr: 0.001,
      optimizer: 'adam',
      layers: 1,
      amp: true,
      'amp-level': 1,
    });
    expect(runs[0]!.argv).toContain('--amp');
    expect(runs[1]!.argv.some((word) => word === '--amp' || word.startsWith('--amp='))).toBe(false);
  });

  it('passes parameters as the program takes them', () => {
    expect(draft(hydra)).toContain('"${args_hydra}"');
    expect(draft(argparse)).toContain('"${args_no_boolean_flags}"');
    expect(draft(typer)).toContain('"${args}"');
  });

  it.each([
    { option: 'max-steps', progress: '{ key: step, total: max_steps }' },
    { option: 'num_train_epochs', progress: '{ key: epoch, total: num_train_epochs }' },
    { option: 'steps', progress: '{ key: step, total: steps }' },
    { option: 'warmup_steps', progress: null },
  ])('says how progress is known where the program says how long it trains: $option', ({ option, progress }) => {
    const text = draft(argparse.replace('--amp-level=LEVEL', `--${option} N`));
    if (progress === null) return expect(text).not.toContain('progress');
    expect(text).toContain(`metrics: { progress: ${progress} }`);
    expect(text).toContain(`extends: ${option}`);
    // What the comments propose is a sweep file.
    const filled = text.replace(/^#parameters:/m, 'parameters:').replace(new RegExp(`^ {2}#${option}:`, 'm'), `  ${option}: 50`); // prettier-ignore
    const [run] = planOf(`${filled}extends: ${option}\nmetrics: { progress: ${progress} }\n`).runs;
    expect([run!.metrics.progress?.total, run!.budget]).toEqual([50, [option]]);
  });

  it('varies the seed if the program has one, and runs whatever a help text says', { tags: ['long'] }, () => {
    const pieces = fc.constantFrom(
      ...[
        'usage: x',
        '\n',
        ' ',
        '  --',
        'seed',
        'a.b',
        '{x,y}',
        '[a|b]',
        ' # ',
        ': ',
        "'",
        '"',
        '(default: ',
        ')',
        'N',
      ],
      ...[
        'Usage: ',
        'Options:',
        '...',
        '\u2500',
        '\u001b[1m',
        '== Config ==',
        'null',
        '-',
        '/',
        '{',
        '}',
        '%',
        '\t',
        '\u0000',
      ],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 40 }), (parts) => {
        for (const head of ['', 'usage: x [-h]\n  --seed N\n', 'Usage: x\nOptions:\n', 'flags:\n', '== Config ==\n']) {
          const { runs } = planOf(draft(head + parts.join('')));
          expect([1, 3]).toContain(runs.length);
        }
      }),
      { numRuns: 400 },
    );
    expect(planOf(draft('usage: x [-h]\n  --seed N   the seed')).runs).toHaveLength(3);
  });
});
