import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { withLazySchemas } from '../../scripts/build/lazy-schemas.js';

describe('a source whose schemas are built when they are first used', () => {
  const source = `import * as z from 'zod';
export const Name = z.string().regex(/^[a-z]+$/).brand();
export const Run = z.strictObject({ name: Name, kind: z.enum(['a', 'b']).default('a'), next: Name.optional() });
export const Longer = Run.extend({ step: z.int() });
export const Either = z.discriminatedUnion('kind', [Run.extend({ kind: z.literal('a') }), z.object({ kind: z.literal('c') })]);
export const sum = z.int().parse(3) + 1;
`;

  it('builds none while it is loaded', () => {
    const built: string[] = [];
    const watched = new Proxy(z, {
      get: (target, name) => (built.push(String(name)), Reflect.get(target, name) as unknown),
    });
    const { Longer } = loaded(watched);
    expect(built).toEqual(['int']);
    Longer.parse({ name: 'abc', step: 1 });
    expect(built).toContain('strictObject');
  });

  it('reads and refuses what the schemas read and refuse that are built at once', () => {
    const lazy = loaded(z);
    expect(lazy.sum).toBe(4);
    expect(lazy.Longer.parse({ name: 'abc', step: 1 })).toEqual({ name: 'abc', kind: 'a', step: 1 });
    expect(lazy.Longer.safeParse({ name: 'A', step: 1 }).error?.issues).toMatchObject([{ path: ['name'] }]);
    expect(lazy.Run.safeParse({ name: 'a', nme: 'b' }).error?.issues).toMatchObject([{ code: 'unrecognized_keys' }]);
    expect(lazy.Either.parse({ kind: 'c' })).toEqual({ kind: 'c' });
    expect(z.array(lazy.Name).optional().parse(['abc'])).toEqual(['abc']);
    expect(lazy.Name).toBeInstanceOf(z.ZodString);
    expect(Object.keys(lazy.Run.shape)).toEqual(['name', 'kind', 'next']);
  });

  it('leaves a source without schemas as it is', () => {
    expect(withLazySchemas("import { z } from './z.js';\nconst a = z.b();\n")).toBe(
      "import { z } from './z.js';\nconst a = z.b();\n",
    );
  });

  type Loaded = { Name: z.ZodString; Run: z.ZodObject; Longer: z.ZodObject; Either: z.ZodType; sum: number };

  function loaded(zod: typeof z): Loaded {
    const script = withLazySchemas(source)
      .replace(/^import .*\n/, '')
      .replaceAll('export const', 'const');
    const names = 'Name, Run, Longer, Either, sum';
    // eslint-disable-next-line no-new-func, typescript/no-implied-eval
    return new Function('z', `${script}\nreturn { ${names} };`)(zod) as Loaded;
  }
});
