import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Who may import whom. A part may always import itself and `base`. A change here is a design decision. */
const allowed: Record<string, string[]> = {
  base: [],
  contract: [],
  // Opening what others have put on the disk, safely: every part that reads a run's files needs it.
  files: ['contract'],
  spec: [],
  scheduler: [],
  protocol: ['scheduler', 'spec'],
  store: ['contract', 'files'],
  executors: ['contract', 'files'],
  supervisor: ['scheduler', 'executors', 'protocol', 'store', 'spec', 'contract', 'files'],
  client: ['protocol', 'scheduler', 'contract', 'files'],
  tui: ['client', 'store', 'scheduler', 'files'],
  report: ['store', 'contract', 'spec', 'files'],
  // `executors` for the inventory of GPUs alone: a dry run has no supervisor to ask. `contract` for the names of the files
  // in a run directory: `logs`, `export` and `doctor` read them.
  cli: ['spec', 'client', 'store', 'scheduler', 'tui', 'report', 'executors', 'contract', 'files'],
  lab: ['contract'],
};
/** Parts that may not touch the outside world at all. */
const pure = ['base', 'contract', 'spec', 'scheduler', 'protocol'];
/** The only packages a pure part may use: they compute, and nothing else. */
const purePackages = ['zod', 'yaml', '@marcbachmann/cel-js'];

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.tsx?$/.test(path) && !path.includes('engine/assembly/'),
);
const imports = sources.flatMap((path) =>
  [...readFileSync(join('src', path), 'utf8').matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, target]) => ({
    path,
    target: target!,
  })),
);
const partOf = (path: string) => path.split('/')[0]!;

describe('the architecture', () => {
  it('knows every part', () => {
    expect([...new Set(sources.map(partOf))].filter((part) => !(part in allowed))).toEqual([]);
  });

  it('keeps the arrows between parts pointing one way', () => {
    const crossings = imports
      .filter(({ target }) => target.startsWith('.') && !target.endsWith('.json'))
      .map(({ path, target }) => ({ path, from: partOf(path), to: partOf(normalize(join(dirname(path), target))) }))
      .filter(({ from, to }) => ![from, 'base', ...(allowed[from] ?? [])].includes(to));
    expect(crossings).toEqual([]);
  });

  it('keeps the pure parts away from the world', () => {
    const worldly = imports
      .filter(({ path, target }) => pure.includes(partOf(path)) && !target.startsWith('.'))
      .filter(({ target }) => !purePackages.includes(target));
    expect(worldly).toEqual([]);
  });
});
