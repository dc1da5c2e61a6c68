import { describe, expect, it } from 'vitest';
import { tiered } from '../tiers.js';
import { withinTime } from '../../src/spec/expand/expression/time-limit.js';
import { planOf, refusal } from './sweeps.js';

/** What refuses a file. @param limitMs Of the time that it may take; absent: as usual. */
function messageOf(text: string, limitMs?: number): string {
  const read = () => planOf(text);
  return refusal(limitMs === undefined ? read : () => withinTime('x.yaml', limitMs, read)).message;
}

const command = 'command: [python, train.py, "${args}"]\n';
const list = (length: number) => `[${Array.from({ length }, (_, index) => index).join(', ')}]`;
const xs = `xs: {value: ${list(50)}}`;
/** All of a list, and again, and again. */
const bomb = [0, 1, 2, 3, 4, 5].reduceRight((body, level) => `xs.all(v${level}, ${body})`, 'loss < 1');

describe('an expression in a sweep file that is too much work', () => {
  const maps = [0, 1, 2, 3, 4].reduceRight((body, level) => `${list(50)}.map(v${level}, ${body})`, 'loss');
  const large = `size(${maps}) > 0`;

  it.each<{ where: string; text: string; place: RegExp }>([
    { where: 'when', text: `when: '${large}'\nparameters: {loss: 1}`, place: /x\.yaml:2:\d+: when: this makes more/ },
    { where: 'expr', text: `parameters: {loss: 1, b: {expr: '${large}'}}`, place: /parameters\.b\.expr: this makes/ },
    {
      where: 'name',
      text: `groups: {A: {name: 'x{${large}}', parameters: {loss: 1}}}`,
      place: /groups\.A\.name: this makes/,
    },
  ])('is refused with its place where it needs much memory: $where', ({ text, place }) => {
    expect(messageOf(command + text)).toMatch(place);
  });

  const slow = [
    { where: 'when', text: `when: '${bomb}'\nparameters: {loss: 0, ${xs}}` },
    { where: 'expr', text: `parameters: {loss: 0, ${xs}, b: {expr: '${bomb}'}}` },
    { where: 'name', text: `groups: {A: {name: 'x{${bomb}}', parameters: {loss: 0, ${xs}}}}` },
    {
      where: 'all points together',
      text: `parameters: {a: {values: ${list(400)}}, b: {values: ${list(400)}}, c: {expr: '${list(300)}.all(v, v != a * b + 1e9)'}}`,
    },
  ];
  tiered(slow, 1)('is named when the time is over: $where', ({ text }) => {
    const message = messageOf(command + text, 2000);
    expect(message).toMatch(/^x\.yaml took more than 2 s, and was at the expression `(xs\.all|\[0, 1, 2)/);
  });

  it('is named when it takes too long to look at its types', () => {
    const types = `[]${Array.from({ length: 40 }, (_, n) => `.map(v${n}, {v${n}: v${n}})`).join('')}`;
    const message = messageOf(`${command}stop_when: '${types} == loss'`, 2000);
    expect(message).toMatch(/was at the expression `\[\]\.map/);
  });

  it('is left to those who look at the rows where it is a rule', () => {
    const { runs } = planOf(`${command}stop_when: '${bomb}'\ndone: {file: x.jsonl, where: '${bomb}'}`);
    expect(runs[0]!.stopWhen?.when).toBe(bomb);
  });

  it('does not hang where a pattern could', () => {
    const text = `${command}parameters: {s: ${'a'.repeat(60)}b}\nwhen: '!s.matches("^(a+)+$")'`;
    expect(planOf(text).runs).toHaveLength(1);
  });
});

describe('names that mean something to somebody else', () => {
  const hostile = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];

  it('are parameters like all others', () => {
    const axes = hostile.map((name) => `${name}: [1, 2]`).join(', ');
    const { runs } = planOf(
      `${command}parameters: {${axes}, k: {expr: "constructor + toString"}}\nwhen: "valueOf < 3"`,
    );
    expect(runs).toHaveLength(16);
    expect(runs[0]!.name).toBe('constructor1_toString1_hasOwnProperty1_valueOf1');
    expect(runs[15]!.parameters).toEqual(Object.fromEntries([...hostile.map((name) => [name, 2]), ['k', 4]]));
    expect(runs[0]!.argv).toContain('--constructor=1');
  });

  it('are not there where they are not passed', () => {
    const text = `${command}parameters: {a: [1, 2], constructor: {value: 7, when: "a == 1"}}`;
    expect(planOf(text).runs.map(({ name }) => name)).toEqual(
      ['runs_a1_constructor7', 'runs_a2'].map((name) => name.slice(5)),
    );
    const used = `${text}\nmetrics: {progress: {key: s, total: constructor}}`;
    expect(messageOf(used)).toContain('`constructor` is not passed');
  });

  it.each(hostile)('are groups and environment variables too: %s', (name) => {
    const { runs } = planOf(`${command}groups: {${name}: {parameters: {a: 1}}}\nenv: {${name}: x}`);
    expect(runs[0]!.group).toBe(name);
    expect(Object.hasOwn(runs[0]!.env, name)).toBe(true);
  });

  it.each(['__proto__', 'constructor', 'toString'])('are no variables that the environment has: %s', (name) => {
    expect(messageOf(`command: [a, "\${envvar:${name}}"]`)).toContain(`the environment has no variable \`${name}\``);
    const notify = `command: [a]\nnotify: {webhook: "https://x.org/\${envvar:${name}}"}`;
    expect(messageOf(notify)).toContain(`the environment has no variable \`${name}\``);
  });

  it.each(['{__proto__: 1}', '{_.proto__: 1}', '{_-proto__: [1, 2]}', '{_: {parameters: {proto__: 1}}}'])(
    'are refused as parameters where they mean nothing to anybody: %s',
    (parameters) => expect(messageOf(`${command}parameters: ${parameters}`)).toMatch(/simple word|__proto__/),
  );

  it.each(['sweep.yaml', 'Sweep.YAML', 'code', 'captured.json', 'origin.txt', 'sweep-20261122-043000.yaml', 'a.'])(
    'are refused as the name of a run: %s',
    (name) =>
      expect(messageOf(`command: [a]\ngroups: {A: {name: "${name}"}}`)).toMatch(/own files are beside|ends with a dot/),
  );

  it.each(['..', '.x', '-rf', 'a/b', 'x'.repeat(201)])('are refused as the name of a run: %.10s', (name) => {
    expect(messageOf(`command: [a]\ngroups: {A: {name: "${name}"}}`)).toContain('not safe as a folder name');
  });

  it('are kept apart where they differ in small and capital letters alone', () => {
    const written = `${command}parameters: {opt: [Adam, adam]}`;
    expect(new Set(planOf(written).runs.map(({ name }) => name.toLowerCase())).size).toBe(2);
    expect(messageOf(`${command}groups: {A: {name: "{opt}", parameters: {opt: [Adam, adam]}}}`)).toContain(
      '`Adam` and `adam` differ only in small and capital letters',
    );
  });
});

describe('metrics.progress above the groups', () => {
  const text = (total: string) => `${command}metrics: {progress: {key: step, total: ${total}}}
groups: {A: {parameters: {n: 10, s: [1, 2]}}, B: {parameters: {m: 5}}, C: {parameters: {n: {value: 7, when: "s == 1"}, s: [1, 2]}}}`;

  it('counts where its parameters are there', () => {
    const totals = planOf(text('n * 2')).runs.map(({ name, metrics }) => [name, metrics.progress?.total ?? null]);
    expect(totals).toEqual([
      ...[
        ['A_s1', 20],
        ['A_s2', 20],
        ['B', null],
        ['C_n7_s1', 14],
        ['C_s2', null],
      ],
    ]);
  });

  it('is a mistake where no group has them', () => {
    expect(messageOf(text('k * 2'))).toContain('no group has a parameter `k`');
    expect(messageOf(text('n * m'))).toContain('no group has all of `n`, `m`');
    expect(messageOf(text('n *'))).toContain('the expression ends too early');
  });

  it('is still a mistake in a group of its own', () => {
    expect(messageOf(`${command}groups: {A: {parameters: {n: 1}, metrics: {progress: {key: s, total: m}}}}`)).toContain(
      'there is no parameter `m`',
    );
  });
});
