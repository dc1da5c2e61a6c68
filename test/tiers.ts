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
