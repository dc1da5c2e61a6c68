import { it } from 'vitest';

type Options = { readonly timeout?: number };

/**
 * A test for each case of a table, of which the quick tier has the first few; the others are long.
 *
 * @param quick How many cases the quick tier has.
 */
export function tiered<Case>(cases: readonly Case[], quick: number, options: Options = {}) {
  return (name: string, test: (one: Case) => void | Promise<void>): void => {
    it.each(cases.slice(0, quick))(name, options, test);
    it.each(cases.slice(quick))(name, { ...options, tags: ['long'] }, test);
  };
}

/**
 * A test of a property by examples that are drawn at random: the quick tier tries a fifth of them, the long tier all.
 *
 * @param count Number of examples of the long tier.
 * @param test Hands its argument on to `fc.assert`.
 */
export function property(
  name: string,
  count: number,
  test: (examples: { readonly numRuns: number }) => void | Promise<void>,
): void {
  it(name, () => test({ numRuns: Math.ceil(count / 5) }));
  it(`${name}: ${count} examples`, { tags: ['long'] }, () => test({ numRuns: count }));
}
