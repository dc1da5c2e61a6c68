import { describe, expect, it } from 'vitest';
import { headings, parted } from '../../src/cli/verb.js';
import { launchOptions } from '../../src/cli/verb-options.js';
import { verbTableMarkdown } from '../../src/cli/verb-pages.js';
import { verbs } from '../../src/cli/verb-table.js';

describe('the verbs', () => {
  it('have one name each, and a heading that --help shows', () => {
    expect(new Set(verbs.map(({ name }) => name)).size).toBe(verbs.length);
    for (const { heading } of verbs) expect(headings).toContain(heading);
  });

  it('say the same of an option wherever it stands', () => {
    const said = new Map<string, Set<string>>();
    // A verb that launches takes the options of a launch as they are.
    const own = verbs.flatMap(({ options, heading }) =>
      heading === 'Launch' ? options.filter((option) => !launchOptions.includes(option)) : options,
    );
    for (const { flags, about } of own) {
      said.set(flags, (said.get(flags) ?? new Set()).add(about));
    }
    expect([...said].filter(([, texts]) => texts.size > 1)).toEqual([]);
    expect(launchOptions.length).toBeGreaterThan(5);
  });

  it.each([
    { typed: 'grid a=1 -- python x.py', args: ['a=1', 'python', 'x.py'], words: 1, behind: 2 },
    { typed: 'grid a=1 -- sh -- x', args: ['a=1', 'sh', '--', 'x'], words: 1, behind: 3 },
    { typed: 'grid -- python', args: ['python'], words: 0, behind: 1 },
    { typed: 'grid a=1 b=2', args: ['a=1', 'b=2'], words: 2, behind: 0 },
    { typed: 'grid a=1 --', args: ['a=1'], words: 1, behind: 0 },
  ])('know what stands behind `--`: $typed', ({ typed, args, words, behind }) => {
    const read = parted(args, typed.split(' '));
    expect([read.words, read.behind]).toEqual([args.slice(0, words), args.slice(words)]);
    expect(read.behind).toHaveLength(behind);
  });

  it('are a table for the documentation, one line each', () => {
    const table = verbTableMarkdown().split('\n');
    expect(table).toHaveLength(verbs.length + 2);
    expect(table).toContainEqual(expect.stringContaining('| `memrl-tui priority N QUERY…` |') as string);
  });
});
