import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Who may import whom. A part may always import itself, `base` and `text`. A change here is a design decision.
 *
 * `files` opens what others have put on the disk, safely: every part that reads a run's files needs it. `processes` tells one
 * process from another: the executor, who accounts for GPUs and who holds a lock all need it.
 */
const allowed: Record<string, string[]> = {
  base: [],
  text: [],
  contract: [],
  query: [],
  spec: [],
  analysis: ['contract'],
  scheduler: [],
  protocol: ['scheduler', 'spec'],
  files: ['contract'],
  processes: ['contract', 'files'],
  metrics: ['contract', 'files'],
  logs: ['contract', 'files'],
  gpu: ['contract', 'files', 'processes'],
  provenance: ['contract', 'files', 'processes'],
  executors: ['contract', 'files', 'processes', 'gpu'],
  supervisor: [
    ...['contract', 'query', 'spec', 'analysis', 'scheduler', 'protocol', 'files', 'processes'],
    ...['metrics', 'logs', 'gpu', 'provenance', 'executors'],
  ],
  client: ['protocol', 'scheduler', 'contract', 'query', 'files', 'processes'],
  tui: ['client', 'protocol', 'query', 'metrics', 'logs', 'analysis', 'contract', 'files'],
  report: ['metrics', 'logs', 'analysis', 'contract', 'spec', 'files'],
  view: ['metrics', 'logs', 'analysis', 'contract', 'spec', 'files', 'client', 'report'],
  cli: [
    ...[
      'contract',
      'query',
      'spec',
      'analysis',
      'scheduler',
      'protocol',
      'files',
      'processes',
      'metrics',
      'logs',
      'gpu',
    ],
    ...['provenance', 'executors', 'supervisor', 'client', 'tui', 'report', 'view'],
  ],
  wandb: ['metrics', 'spec'],
  lab: ['contract', 'analysis'],
  start: [],
};
/**
 * The rooms of the window, from what everybody may know up to what knows everybody: a room may import itself and those named.
 * What is chosen (`state`) knows nothing of the window; what a key does (`keys`) knows no screen; nothing imports `app`.
 */
const rooms: Record<string, string[]> = {
  state: [],
  terminal: ['state'],
  surface: ['state', 'terminal'],
  // What is shown, in shapes of its own: how it is drawn and how it is chosen from stands above.
  model: ['state', 'surface'],
  widgets: ['state', 'surface', 'model'],
  keys: ['state', 'model', 'widgets'],
  screens: ['state', 'surface', 'model', 'widgets', 'keys'],
  dialogs: ['state', 'surface', 'model', 'widgets', 'keys', 'screens'],
  app: ['state', 'terminal', 'surface', 'model', 'widgets', 'keys', 'screens', 'dialogs'],
};
/** Parts that may not touch the outside world at all. */
const pure = ['base', 'text', 'contract', 'query', 'spec', 'scheduler', 'protocol', 'analysis'];
/** The only packages a pure part may use: they compute, and nothing else. */
const purePackages = ['zod', 'smol-toml', 'yaml', '@marcbachmann/cel-js', 'get-east-asian-width', 're2js'];
/** Who keeps the time of a computation that may never end; no other sees a clock. */
const timeKeeper = { path: 'spec/expand/expression/time-limit.ts', targets: ['node:vm', 'node:process'] };
/** What no source may write, and why. */
const banned = [
  {
    what: 'mkdir(path, { recursive: true })',
    why: 'Node may try for ever: take `makeFolder` (files/make-folder.ts), in the lab `makeDirectory`',
    pattern: /\bmkdir(Sync)?\([^;]*\brecursive\b/,
  },
  {
    what: "import { z } from 'zod'",
    why: 'it brings all of its languages into the programs: take `* as z`',
    pattern: /^import (?!type\b)[^;]*[{,]\s*z\b[^;]*\bfrom 'zod'/m,
  },
];
/** More files than this in one folder, and a subject in it wants a room of its own. */
const MOST_IN_A_FOLDER = 25;

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.tsx?$/.test(path) && !path.includes('engine/assembly/'),
);
const texts = new Map(sources.map((path) => [path, readFileSync(join('src', path), 'utf8')]));
const imports = [...texts].flatMap(([path, text]) =>
  [...text.matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, target]) => ({
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
      .filter(({ from, to }) => ![from, 'base', 'text', ...(allowed[from] ?? [])].includes(to));
    expect(crossings).toEqual([]);
  });

  it('lets `base` stand on nothing', () => {
    expect(imports.filter(({ path, target }) => partOf(path) === 'base' && target.includes('../'))).toEqual([]);
  });

  it('lets no room of the window import those above it', () => {
    const roomOf = (path: string) => /^tui\/(\w+)\//.exec(path)?.[1];
    const trespasses = imports
      .filter(({ path, target }) => roomOf(path) !== undefined && target.startsWith('.'))
      .map(({ path, target }) => ({ path, room: roomOf(path)!, into: roomOf(normalize(join(dirname(path), target))) }))
      .filter(({ room, into }) => into !== undefined && into !== room && !rooms[room]?.includes(into));
    expect(trespasses).toEqual([]);
  });

  it('keeps the pure parts away from the world', () => {
    const worldly = imports
      .filter(({ path, target }) => pure.includes(partOf(path)) && !target.startsWith('.'))
      .filter(({ target }) => !purePackages.includes(target))
      .filter(({ path, target }) => path !== timeKeeper.path || !timeKeeper.targets.includes(target));
    expect(worldly).toEqual([]);
  });

  it('starts what outlives it in one place, beside the guard of short calls', () => {
    const starters = [...texts].filter(([, text]) => /\bdetached: true\b/.test(text)).map(([path]) => path);
    expect(starters.sort()).toEqual(['processes/short-call.ts', 'processes/started-program.ts']);
  });

  it('has no two files that need each other, not even for a type', () => {
    expect(circles()).toEqual([]);
  });

  it('lets nobody but the registry know which executors there are', () => {
    // What all kinds of them share is `attempt/`.
    const inside = (path: string) => /^executors\/(?!attempt\/)\w+\//.exec(path)?.[0];
    const insights = imports
      .filter(({ path, target }) => target.startsWith('.') && path !== 'executors/registry.ts')
      .map(({ path, target }) => ({ path, into: inside(normalize(join(dirname(path), target))) }))
      .filter(({ path, into }) => into !== undefined && into !== inside(path));
    expect(insights).toEqual([]);
  });

  it.each(banned)('does without $what', ({ what, why, pattern }) => {
    expect(what).toMatch(pattern);
    const found = [...texts].filter(([, text]) => pattern.test(text)).map(([path]) => path);
    expect(found, why).toEqual([]);
  });

  it('has no folder that nobody can take in', () => {
    const sizes = new Map<string, number>();
    for (const folder of sources.map((path) => dirname(path))) sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
    expect([...sizes].filter(([, size]) => size > MOST_IN_A_FOLDER)).toEqual([]);
  });
});

it('helpers of tests have no hook of their own: in a process that many files share it is one of the first of them alone', () => {
  const helpers = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path),
  );
  const hooked = helpers.filter((path) =>
    /^(before|after)(Each|All)\(/m.test(readFileSync(join('test', path), 'utf8')),
  );
  expect(helpers.length).toBeGreaterThan(50);
  expect(hooked).toEqual([]);
});

/** Files from which one comes back to them by way of their imports. */
function circles(): string[] {
  const known = new Map(sources.map((path) => [path.replace(/\.tsx?$/, '.js'), path]));
  const needs = new Map<string, string[]>(sources.map((path) => [path, []]));
  for (const { path, target } of imports) {
    const needed = target.startsWith('.') ? known.get(normalize(join(dirname(path), target))) : undefined;
    if (needed !== undefined) needs.get(path)!.push(needed);
  }
  return sources.filter((path) => reachableFrom(path, needs).has(path));
}

function reachableFrom(start: string, needs: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set<string>();
  const queue = [...needs.get(start)!];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    queue.push(...needs.get(path)!);
  }
  return found;
}
