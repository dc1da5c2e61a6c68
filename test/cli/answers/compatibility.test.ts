import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { exitCodes, exitCodesMarkdown } from '../../../src/cli/answers/exit-codes.js';
import { schemaFiles } from '../../../src/cli/answers/json-schema.js';
import { breaks, type Schema } from './compatibility.js';

/** What the release before printed: a release copies `docs/json` there. */
const previousFolder = 'test/fixtures/json-previous';
const isSchemaFile = (name: string) => name !== 'exit-codes.json';
const previously = (name: string) => JSON.parse(readFileSync(`${previousFolder}/${name}`, 'utf8')) as Schema;
const present = Object.fromEntries(
  Object.entries(schemaFiles()).map(([name, text]) => [name, JSON.parse(text) as Schema]),
);

describe('the schemas in `docs/json`', () => {
  it('are those of the sources (`npm run tables` writes them)', () => {
    const written = readdirSync('docs/json').map((name) => [name, readFileSync(`docs/json/${name}`, 'utf8')]);
    expect(Object.fromEntries(written)).toEqual(schemaFiles());
  });

  it('have the exit codes beside them, as the page of commands does', () => {
    expect(readFileSync('docs/commands.md', 'utf8')).toContain(exitCodesMarkdown());
  });
});

describe('a reader of the previous release', () => {
  it.each(readdirSync(previousFolder).filter(isSchemaFile))('can read %s', (name) => {
    expect(present[name], 'the answer itself').toBeDefined();
    expect(breaks(previously(name), present[name]!)).toEqual([]);
  });

  it('finds every exit code with the meaning that it had', () => {
    expect(exitCodes).toMatchObject(previously('exit-codes.json'));
  });

  it.each(Object.keys(present).filter(isSchemaFile))(
    'would miss any field of %s that is taken away or renamed',
    (name) => {
      const whole = present[name]!;
      const kept = mutations(whole, (properties, field) => {
        const { [field]: value, ...others } = properties;
        return [others, { ...others, [`${field}2`]: value! }];
      }).filter(({ mutated }) => breaks(whole, mutated).length === 0);
      expect(kept.map(({ field }) => field)).toEqual([]);
    },
  );
});

describe('an answer', () => {
  const rest = {
    state: z.enum(['running', 'done']),
    health: z.enum(['ok', 'nan']).meta({ 'x-may-grow': true }),
    eta: z.number().nullable(),
    runs: z.int().nonnegative(),
    metrics: z.record(z.string(), z.number()),
    range: z.tuple([z.number(), z.number()]),
    gpus: z.array(z.object({ index: z.int() })),
  };
  const before = { ...rest, name: z.string(), note: z.string().optional() };
  const schema = (shape: z.ZodRawShape, version = 1) =>
    z.toJSONSchema(z.object({ version: z.literal(version), ...shape }), { io: 'input' }) as Schema;
  const compared = (shape: z.ZodRawShape, version?: number) => breaks(schema(before), schema(shape, version));

  it.each<{ what: string; now: z.ZodRawShape }>([
    { what: 'stays as it is', now: before },
    { what: 'gets a field', now: { ...before, more: z.string() } },
    {
      what: 'gets a field within a list',
      now: { ...before, gpus: z.array(z.object({ index: z.int(), uuid: z.string() })) },
    },
    { what: 'always has a field that it sometimes had', now: { ...before, note: z.string() } },
    { what: 'has a value for what could be null', now: { ...before, eta: z.number() } },
    { what: 'has whole numbers where there were any', now: { ...before, eta: z.int().nullable() } },
    { what: 'has fewer words', now: { ...before, state: z.literal('done') } },
    {
      what: 'has more of the words of which there may be more',
      now: { ...before, health: z.enum(['ok', 'nan', 'slow']) },
    },
    { what: 'has fixed fields for any', now: { ...before, metrics: z.object({ loss: z.number() }) } },
  ])('that $what is what its readers expect', ({ now }) => {
    expect(compared(now)).toEqual([]);
  });

  it.each<{ what: string; now: z.ZodRawShape; says: string }>([
    { what: 'loses a field', now: { ...rest, note: before.note }, says: '.name: is gone' },
    { what: 'loses a field that was optional', now: { ...rest, name: before.name }, says: '.note: is gone' },
    {
      what: 'gives a field another name',
      now: { ...rest, note: before.note, title: z.string() },
      says: '.name: is gone',
    },
    { what: 'may lack a field', now: { ...before, name: z.string().optional() }, says: '.name: may be absent' },
    { what: 'may have null', now: { ...before, name: z.string().nullable() }, says: '.name: may be of type null' },
    { what: 'has another type', now: { ...before, name: z.number() }, says: '.name: may be of type number' },
    { what: 'has a list for one', now: { ...before, name: z.array(z.string()) }, says: '.name: may be of type array' },
    {
      what: 'has any number for whole ones',
      now: { ...before, runs: z.number() },
      says: '.runs: may be of type number',
    },
    { what: 'may be negative', now: { ...before, runs: z.int() }, says: '.runs: may be less than 0' },
    {
      what: 'has another word',
      now: { ...before, state: z.enum(['running', 'done', 'lost']) },
      says: '.state: may be lost',
    },
    { what: 'has any text for words', now: { ...before, state: z.string() }, says: '.state: may be any string' },
    { what: 'may be anything', now: { ...before, name: z.unknown() }, says: '.name: may be anything' },
    {
      what: 'has other values in a map',
      now: { ...before, metrics: z.record(z.string(), z.string()) },
      says: '.metrics.*: may be of type string',
    },
    {
      what: 'has a longer tuple',
      now: { ...before, range: z.tuple([z.number(), z.number(), z.number()]) },
      says: '.range: has another length',
    },
    {
      what: 'loses a field within a list',
      now: { ...before, gpus: z.array(z.object({})) },
      says: '.gpus[].index: is gone',
    },
  ])('that $what is refused, unless its version is raised', ({ now, says }) => {
    expect(compared(now)).toContain(says);
    expect(compared(now, 2)).toEqual([]);
  });

  it('that is a list has the version in its entries', () => {
    const list = (shape: z.ZodRawShape, version = 1) =>
      z.toJSONSchema(z.array(z.object({ version: z.literal(version), ...shape })), { io: 'input' }) as Schema;
    expect(breaks(list(before), list(rest))).toContain('[].name: is gone');
    expect(breaks(list(before), list(rest, 2))).toEqual([]);
    expect(breaks(list(before, 2), list(before))).toEqual(['version: 2 has become 1']);
  });
});

type Properties = Readonly<Record<string, Schema>>;
type Mutation = { readonly field: string; readonly mutated: Schema };

/** The schema with each of its fields changed in turn, at any depth. */
function mutations(
  schema: Schema,
  change: (properties: Properties, field: string) => Properties[],
  at = '',
): Mutation[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const within = (part: unknown, rebuilt: (mutated: Schema) => unknown) =>
      mutations(part as Schema, change, `${at}/${keyword}`).map(({ field, mutated }) => {
        return { field, mutated: { ...schema, [keyword]: rebuilt(mutated) } };
      });
    if (Array.isArray(value)) {
      const parts: readonly unknown[] = value;
      return parts.flatMap((part, index) =>
        isSchema(part) ? within(part, (mutated) => parts.with(index, mutated)) : [],
      );
    }
    if (!isSchema(value) || keyword === '$defs') return [];
    if (keyword !== 'properties') return within(value, (mutated) => mutated);
    const properties = value as Properties;
    const own = Object.keys(properties).filter((field) => field !== 'version');
    return own.flatMap((field) => [
      ...change(properties, field).map((changed) => {
        return { field: `${at}/${field}`, mutated: { ...schema, properties: changed } };
      }),
      ...within(properties[field], (mutated) => ({ ...properties, [field]: mutated })),
    ]);
  });
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
