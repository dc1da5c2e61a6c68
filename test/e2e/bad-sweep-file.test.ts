import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const { write, run, at } = workplace();

const head = 'command: [echo, "${args}"]\n';

describe('a sweep file that cannot be meant', () => {
  it.each([
    {
      mistake: 'a misspelt key',
      text: `${head}paramters:\n  a: [1, 2]\n`,
      says: [/bad\.yaml/, /\b2\b/, /paramters/, /parameters/],
    },
    {
      mistake: 'an unknown group in needs',
      text: `${head}groups:\n  warmup:\n    parameters: { a: 1 }\n  train:\n    needs: [warmpu]\n    parameters: { a: 2 }\n`,
      says: [/bad\.yaml/, /\b6\b/, /warmpu/, /warmup/],
    },
    {
      mistake: 'two runs of one name',
      text: `${head}name: x\nparameters:\n  a: [1, 2]\ngroups:\n  g:\n    name: same\n`,
      says: [/same/, /a=1|a: 1|a 1/, /a=2|a: 2|a 2/],
    },
    {
      mistake: 'groups that wait for each other',
      text: `${head}groups:\n  a:\n    needs: [b]\n  b:\n    needs: [a]\n`,
      says: [/a → b → a|b → a → b/],
    },
    {
      mistake: 'an expression that is none',
      text: `${head}parameters:\n  a: [1]\n  b: { expr: "a +" }\n`,
      says: [/bad\.yaml/, /\b4\b/, /a \+/],
    },
  ])('with $mistake is refused with its place and the fix, and nothing is made', async ({ text, says }) => {
    write('bad.yaml', text);
    for (const mode of [['--dry-run'], ['--plain']]) {
      const { code, out, err } = await run('bad.yaml', ...mode);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      for (const pattern of says) expect(err).toMatch(pattern);
      expect(err).toContain('→');
      expect(err).not.toMatch(/\n {4}at /);
    }
    expect(existsSync(at('runs'))).toBe(false);
  });

  it('that does not exist is refused as well', async () => {
    const { code, err } = await run('sweeps/none.yaml');
    expect(code).toBe(2);
    expect(err).toContain('sweeps/none.yaml');
  });
});
