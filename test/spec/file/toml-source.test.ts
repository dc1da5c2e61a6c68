import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parse, stringify, type TomlTable } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import type { KeyPath } from '../../../src/spec/file/diagnostic.js';
import { readToml } from '../../../src/spec/file/toml-source.js';
import { readYaml, type YamlSource } from '../../../src/spec/file/yaml-source.js';
import { planOf, refusal } from '../sweeps.js';

const source = (text: string): YamlSource => {
  const read = readToml(text, 'x.toml');
  if (!('value' in read)) throw new Error(read[0]!.problem);
  return read;
};
const tomlPlan = (text: string, options = {}) => planOf(text, { path: 'x.toml', ...options });
const mistake = (text: string) => refusal(() => tomlPlan(text)).message;

const whole = `# A sweep of everything.
description = """
Two lines \\
  in one."""
command = [
  "python", # the interpreter
  'train.py',
  "\${args}",
]
include = [{ lr = 0.5, "seed" = 9 }]

[parameters]
lr = [1e-3, 0.10]
seed = { min = 0, max = 1 }
width.expr = "seed * 2"
"model.depth" = 1_000
text = '''a "quoted" one'''

[parameters.net.parameters]
layers = { value = [64, 32] }

[[cases]]
opt = "adam"
[[cases]]
opt = "sgd"
momentum = { values = [0.0, 0.9] }

[groups.a]
title = "A"
[groups.b.parameters]
lr = 0.2
[groups.b.resources]
cpus = 2
`;

const sameInYaml = `
description: Two lines in one.
command: [python, train.py, "\${args}"]
include: [{lr: 0.5, seed: 9}]
parameters:
  lr: [1e-3, 0.10]
  seed: {min: 0, max: 1}
  width: {expr: "seed * 2"}
  model.depth: 1000
  text: a "quoted" one
  net: {parameters: {layers: {value: [64, 32]}}}
cases: [{opt: adam}, {opt: sgd, momentum: {values: [0.0, 0.9]}}]
groups:
  a: {title: A}
  b: {parameters: {lr: 0.2}, resources: {cpus: 2}}
`;

describe('a sweep file in TOML', () => {
  it('is what the same in YAML is, to the last digit of its commands', () => {
    expect(tomlPlan(whole)).toEqual(planOf(sameInYaml));
  });

  it.each(readdirSync('sweeps').filter((name) => name.endsWith('.yaml')))('could be any that we have: %s', (name) => {
    const text = readFileSync(`sweeps/${name}`, 'utf8');
    const yaml = readYaml(text, name) as YamlSource;
    // TOML has no null.
    const said = JSON.parse(JSON.stringify(yaml.value), (_, value: unknown) => value ?? undefined) as unknown;
    expect(source(stringify(said)).value).toEqual(said);
  });

  it('takes what the command line sets, and is read as W&B’s where it has a method', () => {
    const text = 'program = "t.py"\nmethod = "grid"\n[parameters]\nb.values = [1, 2]\na.values = ["x"]\n';
    const { runs } = tomlPlan(text, { set: ['b=7'] });
    expect(runs.map(({ argv }) => argv.slice(3))).toEqual([['--a=x', '--b=7']]);
  });

  it.each<{ what: string; text: string; says: string; marks: string }>([
    {
      what: 'an unknown key',
      text: 'command = ["a"]\n\n[parametrs]\nlr = 1',
      says: 'x.toml:3:2: parametrs: `parametrs` is not a key of a sweep file',
      marks: 'parametrs',
    },
    {
      what: 'an unknown key in a table',
      text: 'command = ["a"]\n[resources]\ncpuss = 1',
      says: 'x.toml:3:1: resources.cpuss',
      marks: 'cpuss',
    },
    {
      what: 'an unknown key of a dotted one',
      text: 'command = ["a"]\nparameters.lr.vales = [1]',
      says: 'x.toml:2:15: parameters.lr.vales',
      marks: 'vales',
    },
    {
      what: 'a wrong value',
      text: 'command = ["a"]\ntimeout = true',
      says: 'x.toml:2:11: timeout: expected',
      marks: 'true',
    },
    {
      what: 'a wrong value in an inline table',
      text: 'command = ["a"]\nresources = { gpus = 1, cpus = "two" }',
      says: 'x.toml:2:32: resources.cpus: expected',
      marks: '"two"',
    },
    {
      what: 'a wrong value in a list over several lines',
      text: 'command = [\n  "a", # first\n  [1],\n]',
      says: 'x.toml:3:3: command[1]: expected',
      marks: '[1]',
    },
    {
      what: 'a wrong value in a list of tables',
      text: 'command = ["a"]\n[[cases]]\na = 1\n[[cases]]\nb.vals = 2',
      says: 'x.toml:5:3: cases[1].b.vals',
      marks: 'vals',
    },
    {
      what: 'a mistake in an expression',
      text: 'command = ["a"]\n[parameters]\nn = 1\nm.expr = "n + k"',
      says: 'x.toml:4:15: parameters.m.expr',
      marks: 'k',
    },
    { what: 'what is missing', text: 'parameters.lr = 1', says: 'x.toml:1:1', marks: '' },
    {
      what: 'a number that cannot be kept',
      text: 'command = ["a"]\nparameters.seed = 9007199254740993',
      says: 'x.toml:2:19: parameters.seed: this whole number is too large',
      marks: '9007199254740993',
    },
    {
      what: 'a key that is no name',
      text: 'command = ["a"]\n[parameters]\n"__proto__" = 1',
      says: 'x.toml:3:1: a key must be a simple word',
      marks: '"__proto__"',
    },
    {
      what: 'infinity',
      text: 'command = ["a"]\nparameters.a = inf',
      says: 'x.toml:2:16: parameters.a: expected',
      marks: 'inf',
    },
  ])('has its mistakes told with line, column and mark: $what', ({ text, says, marks }) => {
    const message = mistake(text);
    expect(message).toContain(says);
    if (marks !== '') expect(message).toMatch(new RegExp(`^ +\\| +\\^{${marks.length}}$`, 'm'));
  });

  it.each([
    { text: 'command = ["a"]\nname = "x', at: '2:8' },
    { text: 'command = ["a"]\r\nname = x', at: '2:8' },
    { text: 'a = 1\na = 2', at: '2:1' },
    { text: '[a]\n[b\n', at: '2:3' },
    { text: 'command: [a]', at: '1:8' },
    { text: `a = ${'['.repeat(500)}${']'.repeat(500)}`, at: '1:' },
  ])('is refused where it is no TOML: $at', ({ text, at }) => {
    expect(mistake(text)).toContain(`x.toml:${at}`);
    expect(mistake(text)).toContain('this is not TOML');
  });

  it('has dates as texts, and numbers however they are written', () => {
    const { value } = source('a = 2026-01-02 03:04:05\nb = 1979-05-27\nc = 0x1f\nd = 1_0.5e1\ne = [07:32:00, true]\n');
    expect(value).toEqual({ a: '2026-01-02 03:04:05', b: '1979-05-27', c: 31, d: 105, e: ['07:32:00', true] });
  });

  it('finds each value where it stands, whatever the text', () => {
    const key = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('a', 'b', 'a.b', '"', "'", ' ', 'ü'));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.constantFrom('a\nb', '"""', "'''", '\\', '# no comment', '[x]', 'a = 1', '\u{1f600}'),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 5 }), (table) => {
        if (JSON.stringify(table).includes('__proto__')) return;
        const text = `# first\n${stringify(table)}`;
        const read = source(text);
        expect(read.value).toEqual(plain(parse(text)));
        for (const [keys, leaf] of leavesOf(read.value, [])) {
          const { start, end } = read.placeOf(keys);
          expect(parse(`v = ${text.slice(start, end)}`)['v']).toEqual(leaf);
        }
      }),
    );
  });
});

const plain = (table: TomlTable): unknown => JSON.parse(JSON.stringify(table)) as unknown;

function leavesOf(value: unknown, keys: KeyPath): [KeyPath, unknown][] {
  if (typeof value !== 'object' || value === null) return [[keys, value]];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...keys, isList ? Number(key) : key]));
}
