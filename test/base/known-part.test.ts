import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { knownPart } from '../../src/base/known-part.js';

const Rule = z.union([z.strictObject({ exit: z.literal(0) }), z.strictObject({ file: z.string() })]);
const Channel = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('mail'), to: z.string() }),
  z.strictObject({ kind: z.literal('web'), url: z.string() }),
]);
const Whole = z.strictObject({ name: z.string(), rules: z.array(Rule), channel: Channel.nullable() });

const whole = { name: 'a', rules: [{ exit: 0 }, { file: 'x' }], channel: { kind: 'web', url: 'u' } };

describe('what is known of what a newer version wrote', () => {
  it.each([
    { where: 'at the top', json: { ...whole, colour: 1 }, unknown: ['colour'] },
    {
      ...{ where: 'in members of a union', unknown: ['rules.0.how', 'rules.1.where', 'rules.1.when'] },
      json: {
        ...whole,
        rules: [
          { exit: 0, how: 1 },
          { file: 'x', where: 1, when: 2 },
        ],
      },
    },
    {
      ...{ where: 'in a kind', unknown: ['channel.mood'] },
      json: { ...whole, channel: { kind: 'web', url: 'u', mood: { deep: [1] } } },
    },
    { where: 'nowhere', json: whole, unknown: [] },
  ])('is all but the keys that are not, $where', ({ json, unknown }) => {
    const parsed = knownPart(Whole, structuredClone(json));
    expect(parsed).toEqual({ success: true, data: whole, unknown: expect.arrayContaining(unknown) as string[] });
    expect('unknown' in parsed && parsed.unknown.length).toBe(unknown.length);
  });

  it.each([
    { what: 'a value of another type', json: { ...whole, name: 1, colour: 1 } },
    { what: 'a missing key', json: { name: 'a', rules: [], colour: 1 } },
    { what: 'a member of no kind that is known', json: { ...whole, channel: { kind: 'pigeon', to: 'x' } } },
    { what: 'nothing', json: undefined },
  ])('is nothing where there is $what', ({ json }) => {
    expect(knownPart(Whole, structuredClone(json)).success).toBe(false);
  });
});
