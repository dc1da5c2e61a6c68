import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lateDeclarations } from './module-order.js';

describe('what is used above its line', () => {
  it.each<{ what: string; source: string; late: string[] }>([
    {
      what: 'a constant, by a program that is run above it',
      source:
        'await main();\nasync function main() { await wait(); }\nfunction wait() { return LIMIT; }\nconst LIMIT = 1;',
      late: ['LIMIT'],
    },
    {
      what: 'a constant, in a function that a called one makes',
      source:
        'try { main(); } catch {}\nfunction main() { new Promise((wake) => setTimeout(wake, LIMIT)); }\nconst LIMIT = 1;',
      late: ['LIMIT'],
    },
    {
      what: 'a constant, by the value of another',
      source: 'const all = names.map((name) => before + name);\nconst before = "";',
      late: ['before'],
    },
    {
      what: 'a table, by a schema that is made of it',
      source:
        'export const Word = z.enum(words());\nfunction words() { return Object.keys(table); }\nconst table = {};',
      late: ['table'],
    },
    { what: 'a class', source: 'const one = new Late();\nclass Late {}', late: ['Late'] },
    {
      what: 'a constant, by a class of which there is one at once',
      source: 'class Early { limit() { return LIMIT; } }\nexport const early = new Early();\nconst LIMIT = 1;',
      late: ['LIMIT'],
    },
    {
      what: 'a part of an object',
      source: 'main();\nfunction main() { use(part); }\nconst { part, other } = whole;',
      late: ['part'],
    },
  ])('is found: $what', ({ source, late }) => {
    expect(lateDeclarations(source)).toEqual(late);
  });

  it.each<{ what: string; source: string }>([
    {
      what: 'of a function that is called later',
      source: 'export function later() { return LIMIT; }\nconst LIMIT = 1;',
    },
    {
      what: 'of a function that is kept',
      source: 'export const later = () => LIMIT;\nconst table = { later: () => LIMIT };\nconst LIMIT = 1;',
    },
    {
      what: 'of a function that stands in a table',
      source: 'export const check = { look };\nfunction look() { return LIMIT; }\nconst LIMIT = 1;',
    },
    { what: 'of a method', source: 'export class Later { limit() { return LIMIT; } }\nconst LIMIT = 1;' },
    {
      what: 'in types',
      source: 'const a: Wish = wish();\nfunction wish(): typeof LIMIT { return 1; }\nconst LIMIT = 1;',
    },
    { what: 'as the name of a property', source: 'const a = of({ LIMIT: 1 }).LIMIT;\nconst LIMIT = 1;' },
    { what: 'below its line', source: 'const LIMIT = 1;\nawait main();\nfunction main() { return LIMIT; }' },
  ])('is allowed $what', ({ source }) => {
    expect(lateDeclarations(source)).toEqual([]);
  });
});

describe('the programs', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path));

  it('use nothing at module level above the line that makes it', () => {
    const late = files.flatMap((path) =>
      lateDeclarations(readFileSync(join('src', path), 'utf8')).map((name) => `${path}: ${name}`),
    );
    expect(late).toEqual([]);
  });
});
