import { describe, expect, it } from 'vitest';
import { headings } from '../../src/cli/verb.js';
import { launchOptions } from '../../src/cli/verb-options.js';
import { verbs, verbTableMarkdown } from '../../src/cli/verb-table.js';

describe('the verbs', () => {
  it('have one name each, and a heading that --help shows', () => {
    expect(new Set(verbs.map(({ name }) => name)).size).toBe(verbs.length);
    for (const { heading } of verbs) expect(headings).toContain(heading);
  });

  it('say the same of an option wherever it stands', () => {
    const said = new Map<string, Set<string>>();
    for (const { flags, about } of [...verbs.flatMap(({ options }) => options)]) {
      said.set(flags, (said.get(flags) ?? new Set()).add(about));
    }
    expect([...said].filter(([, texts]) => texts.size > 1)).toEqual([]);
    expect(launchOptions.length).toBeGreaterThan(5);
  });

  it('are a table for the documentation, one line each', () => {
    const table = verbTableMarkdown().split('\n');
    expect(table).toHaveLength(verbs.length + 2);
    expect(table).toContainEqual(expect.stringContaining('| `memrl-tui priority N QUERY…` |') as string);
  });
});
