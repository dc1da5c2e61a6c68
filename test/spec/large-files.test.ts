import { beforeAll, describe, expect, it } from 'vitest';
import { tiered } from '../tiers.js';
import { computedMsOf } from '../times-as-much.js';
import { UserError } from '../../src/base/user-error.js';
import { planOf, refusal } from './sweeps.js';

const command = 'command: [python, train.py, "${args}"]\n';
const many = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

/** Nine levels of ten aliases each. */
const laughs = `a0: &a0 [x]\n${many(9, (n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(', ')}]\n`)}`;
const wide = `x: &x [${many(5000, () => '1,')}1]\ny: [${many(900, () => '*x,')}1]\n`;

/** A file that is as large as one may be. */
const tenThousand = () => {
  const values = Array.from({ length: 10_000 }, (_, index) => index);
  return planOf(`${command}parameters: {seed: ${JSON.stringify(values)}}`);
};
let planningMs: number;
beforeAll(() => void (planningMs = computedMsOf(tenThousand)));

describe('a large file', () => {
  const files: { what: string; text: string; said: RegExp }[] = [
    {
      what: 'unknown keys',
      text: many(60_000, (n) => `key${n}: 1\n`),
      said: /this map has 60,000 keys; the limit is 10,000/,
    },
    {
      what: 'the same key',
      text: many(40_000, () => 'key: 1\n'),
      said: /has 40,000 mistakes. These are the first 20/,
    },
    {
      what: 'parameters',
      text: `${command}parameters:\n${many(8000, (n) => `  p${n}: 1\n`)}`,
      said: /8000 parameters; the limit/,
    },
    {
      what: 'groups',
      text: `${command}groups:\n${many(8000, (n) => `  g${n}: {}\n`)}`,
      said: /8,000 groups; the limit is 2,000/,
    },
    {
      what: 'groups that inherit',
      text: `${command}parameters: {p: [${many(5000, (n) => `${n},`)}1]}\ngroups:\n${many(1500, (n) => `  g${n}: {}\n`)}`,
      said: /inherit 5,\d+ values each/,
    },
    {
      what: 'cases',
      text: `${command}parameters: {${many(200, (n) => `p${n}: 1,`)}}\ncases:\n${many(30_000, (n) => `  - {c: ${n}}\n`)}`,
      said: /30,000 cases of 200 parameters/,
    },
    {
      what: 'needs',
      text: `${command}groups: {a: {needs: [${many(100_000, (n) => `g${n},`)}b]}}`,
      said: /20 mistakes/,
    },
    { what: 'extends', text: `${command}extends: [${many(100_000, (n) => `g${n},`)}b]`, said: /20 mistakes/ },
    {
      what: 'runs',
      text: `${command}parameters: {${'abcdefgh'
        .split('')
        .map((k) => `${k}: [1,2,3,4,5,6,7,8,9]`)
        .join(', ')}}`,
      said: /43,046,721 runs; the limit is 200,000/,
    },
    {
      what: 'includes',
      text: `${command}parameters: {a: [${many(20_000, (n) => `${n},`)}0]}\ninclude:\n${many(6000, (n) => `  - {a: ${n}, b: ${n}}\n`)}`,
      said: /6,000 entries of/,
    },
    { what: 'aliases of aliases', text: laughs, said: /aliases/ },
    { what: 'aliases of a long list', text: wide, said: /aliases/ },
    { what: 'brackets', text: '['.repeat(50_000), said: /nested|not YAML/ },
    { what: 'one long word', text: `${command}x${'y'.repeat(2_000_000)}: 1`, said: /not YAML/ },
    { what: 'commands', text: 'true\n'.repeat(250_000), said: /250,000 commands; the limit/ },
  ];
  tiered(files, 5)('is refused before it takes long: $what', ({ what, text, said }) => {
    const took = computedMsOf(() => {
      const { message, fix } = refusal(() => planOf(text, what === 'commands' ? { path: 'x.txt' } : {}));
      expect(message.slice(0, 400)).toMatch(said);
      expect(fix).not.toBe('');
    });
    expect(took / planningMs).toBeLessThan(12);
  });

  it('of ten thousand values is planned', () => {
    expect(tenThousand().runs).toHaveLength(10_000);
    expect(() => planOf('a: &a {b: 1}\nb: *a')).toThrow(UserError);
  });
});
