import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../../tiers.js';
import { UserError } from '../../../src/base/user-error.js';
import { computedFromSeeds } from '../../../src/spec/file/sweep-file.js';
import { parseSweepFile } from '../../../src/spec/file/parse-sweep-file.js';
import { planOf, refusal } from '../sweeps.js';

const lines = (...text: string[]) => text.join('\n');

describe('a mistake in a sweep file', () => {
  it('is shown with file, line, column, key, expectation, and a mark below the place', () => {
    const text = lines('command: [a]', 'groups:', '  A:', '    comand: [b]');
    expect(refusal(() => parseSweepFile(text, 'sweeps/x.yaml'))).toEqual({
      message: lines(
        'sweeps/x.yaml:4:5: groups.A.comand: `comand` is not a key of `groups.A`. Did you mean `command`?',
        '    4 |     comand: [b]',
        '      |     ^^^^^^',
      ),
      fix: 'Correct the key, or remove the line.',
    });
  });

  it('does not hide the others: all are told at once, in the order of the file', () => {
    const text = lines('group: {}', 'parameters: {N: [], lr: {vlaues: [1]}}', 'grace: soon');
    const { message, fix } = refusal(() => parseSweepFile(text, 'x.yaml'));
    expect(message).toMatch(/^x\.yaml has 4 mistakes\./);
    expect([...message.matchAll(/x\.yaml:(\d+):(\d+)/g)].map(([, line, column]) => `${line}:${column}`)).toEqual([
      '1:1',
      '2:14',
      '2:26',
      '3:8',
    ]);
    expect(fix.split('\n').length).toBeGreaterThan(1);
  });

  it.each<{ wrong: string; text: string; at: string; says: string; fix?: string }>([
    { wrong: 'a misspelt key', text: 'command: [a]\ngroup: {}', at: '2:1', says: 'Did you mean `groups`?' },
    { wrong: 'a key nobody knows', text: 'command: [a]\nzzzzz: 1', at: '2:1', says: 'Known: `program`, `command`' },
    {
      wrong: 'a command that is a text',
      text: 'command: python train.py',
      at: '1:10',
      says: 'expected a list of words, for example [python, train.py, "${args}"], but found the text "python train.py"',
      fix: 'Write `command` as a list: ["python", "train.py"]',
    },
    { wrong: 'no command at all', text: 'parameters: {a: 1}', at: '1:1', says: 'there is no `command`' },
    {
      wrong: 'an empty axis',
      text: 'command: [a]\nparameters: {N: []}',
      at: '2:14',
      says: 'an empty axis makes no runs',
    },
    {
      wrong: 'a list instead of a map',
      text: '- a',
      at: '1:1',
      says: 'but found a list',
      fix: 'Write keys with values, such as `command: [python, train.py]`; `memrl-tui init train.py` makes a file.',
    },
    {
      wrong: 'a value that is no number',
      text: 'command: [a]\nparameters: {a: [1, {b: .inf}]}',
      at: '2:21',
      says: 'found a map',
    },
    {
      wrong: 'two ways to give values',
      text: 'command: [a]\nparameters: {a: {value: 1, expr: "2"}}',
      at: '2:14',
      says: 'exactly one of',
    },
    {
      wrong: 'not a number',
      text: 'command: [a]\nparameters: {a: .nan}',
      at: '2:17',
      says: 'the number NaN',
      fix: 'Put the value of `parameters.a` in quotes.',
    },
    {
      wrong: 'a number too large',
      text: 'command: [a]\nparameters: {a: 12345678901234567890}',
      at: '2:17',
      says: 'too large to be kept exactly',
    },
    {
      wrong: 'a name with a slash',
      text: 'command: [a]\nname: a/b',
      at: '2:7',
      says: 'the text "a/b" cannot be a name: use letters, digits and . _ = + , @ -',
    },
    {
      wrong: 'a group with a blank in its name',
      text: 'command: [a]\ngroups: {"x y": {}}',
      at: '2:10',
      says: '`x y` cannot be a name here',
    },
    {
      wrong: 'a parameter with a blank',
      text: 'command: [a]\nparameters: {"x y": 1}',
      at: '2:14',
      says: '`x y` cannot be a name here',
    },
    { wrong: 'a negative grace', text: 'command: [a]\ngrace: -1', at: '2:8', says: 'a number of seconds, at least 0' },
    {
      wrong: 'a misspelt resource',
      text: 'command: [a]\nresources: {gpu: 1}',
      at: '2:13',
      says: 'Did you mean `gpus`?',
    },
    { wrong: 'half a done rule', text: "command: [a]\ndone: {where: 'x > 1'}", at: '2:1', says: '`file` is missing' },
    {
      wrong: 'half a progress rule',
      text: 'command: [a]\nmetrics: {progress: {key: step}}',
      at: '2:11',
      says: '`total` is missing',
    },
    {
      wrong: 'an unknown group in needs',
      text: 'command: [a]\ngroups: {A: {needs: [warmpu]}, warmup: {}}',
      at: '2:22',
      says: 'there is no group `warmpu`. Did you mean `warmup`?',
    },
    {
      wrong: 'groups that wait for each other',
      text: 'command: [a]\ngroups: {A: {needs: B}, B: {needs: C}, C: {needs: A}}',
      at: '2:14',
      says: 'A → B → C → A',
    },
    {
      wrong: 'a group that waits for itself',
      text: 'command: [a]\ngroups: {A: {needs: A}}',
      at: '2:14',
      says: 'A → A',
    },
    {
      wrong: 'a broken expression',
      text: 'command: [a]\nparameters: {N: 1, s: {expr: "(N * 3 + ) % 2"}}',
      at: '2:40',
      says: 'unexpected token: `)`',
    },
    {
      wrong: 'an unfinished expression',
      text: 'command: [a]\nparameters: {N: 1, s: {expr: "N +"}}',
      at: '2:34',
      says: 'the expression ends too early',
    },
    {
      wrong: 'an unknown function',
      text: 'command: [a]\nparameters: {N: 1, s: {expr: "1 + log3(N)"}}',
      at: '2:35',
      says: 'there is no function `log3`. Did you mean `log2`?',
    },
    {
      wrong: 'an unknown variable',
      text: 'command: [a]\nparameters: {seed: 1, s: {expr: "2 * sede"}}',
      at: '2:38',
      says: 'there is no parameter `sede`. Did you mean `seed`?',
    },
    {
      wrong: 'an unknown variable in a template',
      text: 'command: [a]\ngroups: {A: {name: "x_{sede}", parameters: {seed: 1}}}',
      at: '2:24',
      says: 'Did you mean `seed`?',
    },
    {
      wrong: 'an open brace in a template',
      text: 'command: [a]\ngroups: {A: {name: "x_{a", parameters: {a: 1}}}',
      at: '2:23',
      says: 'this `{` is not closed',
    },
    {
      wrong: 'expressions in a ring',
      text: 'command: [a]\nparameters: {a: {expr: b}, b: {expr: c}, c: {expr: a}}',
      at: '2:14',
      says: 'a → b → c → a',
    },
    { wrong: 'an unknown macro', text: 'command: [a, "${arg}"]', at: '1:15', says: 'Did you mean `args`?' },
    {
      wrong: 'an unknown macro inside a word',
      text: 'command: [a, "x=${sed}"]\nparameters: {seed: 1}',
      at: '1:17',
      says: 'Did you mean `seed`?',
    },
    {
      wrong: '${program} without one',
      text: 'command: ["${program}"]',
      at: '1:12',
      says: 'there is no `program` in the file',
    },
    {
      wrong: 'a metric with slashes in a rule',
      text: 'command: [a]\nstop_when: "test/bits > 3"',
      at: '2:13',
      says: '`test/bits` reads as a division',
      fix: 'Write the metric as `test_bits`.',
    },
    {
      wrong: 'budget that is no parameter',
      text: 'command: [a]\nparameters: {n_batches: 1}\nextends: [n_batch]',
      at: '3:11',
      says: 'Did you mean `n_batches`?',
    },
    {
      wrong: 'a case against an axis',
      text: 'command: [a]\nparameters: {a: [1, 2]}\ncases: [{a: 3}]',
      at: '3:13',
      says: 'is an axis of `parameters` and also set by this case',
    },
    {
      wrong: 'a broken done rule',
      text: 'command: [a]\ndone: {file: f, where: "a =="}',
      at: '2:29',
      says: 'ends too early',
    },
    {
      wrong: 'a distribution',
      text: 'command: [a]\nparameters: {lr: {min: 0.1, max: 1}}',
      at: '2:14',
      says: '`lr` is drawn at random (uniform), and the runs are a grid.',
      fix: 'List the values of `lr` ({values: […]}), or draw the runs: `method: random` and `run_cap: 20`.',
    },
    {
      wrong: 'a key said twice',
      text: 'command: [a]\ncommand: [b]',
      at: '2:1',
      says: 'this key is already in the same block',
    },
    {
      wrong: 'tabs',
      text: 'command: [a]\n\tname: b',
      at: '2:1',
      says: 'tabs are not allowed',
      fix: 'Indent with blanks instead of tabs.',
    },
    { wrong: 'an open bracket', text: 'command: [a\nname: b', at: '2:1', says: 'this is not YAML' },
    { wrong: 'two documents', text: 'command: [a]\n---\ncommand: [b]', at: '2:1', says: 'this is not YAML' },
    { wrong: 'a key that is a list', text: '? [a, b]\n: 1', at: '1:3', says: 'a key must be a simple word' },
  ])('is told: $wrong', ({ text, at, says, fix }) => {
    const told = refusal(() => parseSweepFile(text, 'x.yaml'));
    expect(told.message).toContain(says);
    expect(told.message).toMatch(new RegExp(`^x\\.yaml:${at}:`));
    if (fix !== undefined) expect(told.fix).toBe(fix);
  });

  it('in what all groups inherit is told once, and names the groups it concerns', () => {
    const text = 'command: [a]\nparameters: {s: {expr: "N + 1"}}\ngroups: {A: {parameters: {N: 1}}, B: {}, C: {}}';
    const { message } = refusal(() => parseSweepFile(text, 'x.yaml'));
    expect(message.match(/there is no parameter `N`/g)).toHaveLength(1);
    expect(message).toContain('(In group `B`, `C`.)');
  });

  it('of an empty file says what to write', () => {
    expect(refusal(() => parseSweepFile('# nothing yet\n', 'x.yaml')).fix).toContain('command: [python');
    expect(refusal(() => parseSweepFile('\n# nothing yet\n', 'x.txt')).message).toBe('x.txt is empty.');
  });

  it('on a very long line is shown with the characters around it only', () => {
    const { message } = refusal(() => parseSweepFile(`command: [a, ${'b, '.repeat(400)}"\${arg}"]`, 'x.yaml'));
    const [, excerpt, mark] = message.split('\n');
    expect(excerpt!.length).toBeLessThan(120);
    expect(excerpt!.slice(mark!.indexOf('^'), mark!.lastIndexOf('^') + 1)).toBe('${arg}');
  });
});

describe('a sweep file', () => {
  it('is named by itself, or by its file', () => {
    expect(parseSweepFile('command: [a]\nname: own', 'sweeps/other.yaml').name).toBe('own');
    expect(parseSweepFile('command: [a]', 'sweeps/lr grid.v2.yaml').name).toBe('lr-grid.v2');
    expect(parseSweepFile('echo', 'cmds.txt').name).toBe('cmds');
  });

  it('may use anchors and merges', () => {
    const plan = planOf('command: [a]\ngroups:\n  A: {parameters: &p {x: 1, y: 2}}\n  B: {parameters: {<<: *p, y: 3}}');
    expect(plan.runs.map(({ parameters }) => parameters)).toEqual([
      { x: 1, y: 2 },
      { x: 1, y: 3 },
    ]);
  });

  const scalar = fc.oneof(fc.string({ maxLength: 12 }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
  const keys = fc.constantFrom(
    ...[
      'name',
      'command',
      'cwd',
      'env',
      'parameters',
      'cases',
      'when',
      'groups',
      'extends',
      'resume_args',
      'stop_when',
    ],
    ...['metrics', 'grace', 'done', 'resources', 'needs', 'subgroup', 'title', 'values', 'expr', 'value', 'N', 'seed'],
    ...['__proto__', 'constructor', '<<', 'file', 'where', 'progress', 'total', 'key', 'show', 'for', 'optional'],
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      fc.constantFrom('N + 1', '{N}', '${args}', '${N}', 'seed', '(', 'a_{seed}', 'A'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 5 }),
    ),
  }));

  property('is planned or refused with a UserError, whatever it holds', 800, (examples) => {
    const tree = fc.dictionary(keys, value, { maxKeys: 8 }).map((file) => JSON.stringify({ command: ['a'], ...file }));
    fc.assert(
      fc.property(tree, (text) => {
        try {
          planOf(text);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
        }
      }),
      examples,
    );
  });

  property('is planned or refused with a UserError, even if it is noise', 800, (examples) => {
    const noise = fc
      .array(
        fc.constantFrom(
          'command',
          ': ',
          '\n',
          '  ',
          '- ',
          '[a]',
          '{',
          '}',
          '&x ',
          '*x',
          '"',
          '|',
          '!!int ',
          'é',
          '\t',
          '#',
          '<<',
          '${args}',
        ),
        {
          maxLength: 30,
        },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(noise, fc.constantFrom('x.yaml', 'x.txt'), (text, path) => {
        try {
          planOf(text, { path });
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
        }
      }),
      examples,
    );
  });
});

describe('parameters that are computed from seeds', () => {
  it('are those whose expressions read one, directly or not', () => {
    const text = `
command: [x]
parameters:
  seed: [0, 1]
  N: 16
  secret: {expr: '(seed * 7) % N'}
  twice: {expr: 'secret + 1'}
  half: {expr: 'N / 2'}
groups:
  a: {}
  b:
    parameters: {data_seed: 3, shuffle: {expr: 'data_seed + 1'}}
`;
    const file = parseSweepFile(text, 's.yaml');
    expect(file.kind === 'groups' && computedFromSeeds(file.blocks)).toEqual(['secret', 'shuffle', 'twice']);
  });
});
