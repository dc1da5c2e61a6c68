import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fences, importsIn, roomOf, trespasses } from './fences.js';

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

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  // What the build has made lies beside its source.
  (path) => /\.[jt]sx?$/.test(path) && !path.includes('engine/assembly/') && path !== 'lab/engine/kernel-thread.js',
);
const texts = new Map(sources.map((path) => [path, readFileSync(join('src', path), 'utf8')]));

describe('the architecture', () => {
  it('is kept by every import', () => {
    expect(trespasses(texts)).toEqual([]);
    const used = new Set(sources.map((path) => roomOf(path)));
    expect(Object.keys(fences).filter((room) => !used.has(room))).toEqual([]);
  });

  it.each<readonly [what: string, path: string, line: string]>([
    ['the lab in the manager', 'cli/options.ts', "import { purposes } from '../lab/purposes.js';"],
    ['the lab as our own package', 'cli/options.ts', "import { ppo } from 'memrl-tui/lab';"],
    ['the lab when it is needed', 'cli/verbs/ls.ts', "const lab = await import('../../lab/commands.js');"],
    ['the lab by a template', 'cli/verbs/ls.ts', 'const lab = await import(`../../lab/commands.js`);'],
    ['the lab as a file beside', 'cli/verbs/ls.ts', "start(new URL('../../lab/main.js', import.meta.url));"],
    ['the lab for a type', 'cli/verbs/ls.ts', "type Lab = import('../../lab/commands.js').Commands;"],
    ['the lab in double quotes', 'tui/app/jobs.ts', 'import { purposes } from "../../lab/purposes.js";'],
    ['the lab by its exports', 'report/report.ts', "export * from '../lab/purposes.js';"],
    ['the manager in the lab', 'lab/main.ts', "import { wrap } from '../cli/terminal.js';"],
    ['files of the manager in the lab', 'lab/main.ts', "import { writeWhole } from '../files/whole-file.js';"],
    ['the window above a widget', 'tui/widgets/row.ts', "import type { App } from '../app/window-store.js';"],
    ['the surface in the state', 'tui/state/port.ts', "import { cell } from '../surface/cells.js';"],
    ['the supervisor in the scheduler', 'scheduler/step.ts', "import { x } from '../supervisor/supervisor.js';"],
    ['the supervisor in a command', 'cli/verbs/ls.ts', "import { x } from '../../supervisor/supervisor.js';"],
    ['files in the sweep language', 'spec/planned-run.ts', "import { readFileSync } from 'node:fs';"],
    ['files by a way around', 'spec/planned-run.ts', "const fs = process.getBuiltinModule('node:fs');"],
    ['text in what stands on nothing', 'base/ids.ts', "import { wrap } from '../text/wrap.js';"],
    ['an executor beside the registry', 'supervisor/main.ts', "import { x } from '../executors/local/attempt.js';"],
    ['programs started by a screen', 'tui/screens/registry.ts', "import { spawnSync } from 'node:child_process';"],
    ['the process in a screen', 'tui/screens/registry.ts', "import process from 'node:process';"],
    ['Ink in the supervisor', 'supervisor/main.ts', "import { Box } from 'ink';"],
    ['a package that nobody knows', 'cli/verbs/ls.ts', "import pad from 'left-pad';"],
    ['a name that is computed', 'cli/verbs/ls.ts', 'const lab = await import(`../../${name}/commands.js`);'],
    ['a name that was passed on', 'cli/verbs/ls.ts', 'const lab = await importModule(name);'],
    ['a room that has no fence', 'attic/old.ts', "import { UserError } from '../base/user-error.js';"],
  ])('refuses %s', (_, path, line) => {
    expect(trespasses(new Map([[path, `// A comment.\n${line}\n`]]))).toHaveLength(1);
  });

  it('has a manager that knows no question of the laboratory: what it finds out, memrl writes into a study', () => {
    const words =
      /memoris|secretBits|signal_?bits|bits_?known|bits\/(known|answer)|_per_episode|theory\/|log2 N|pooledNoise|\bgns_|ent_mean|eval-batch|retain_only|routing_?eval|hack_freq|small-rl|\bmode(Overview|Famil|Figure|Coverage)/i;
    const found = [...texts].filter(([path, text]) => roomOf(path) !== 'lab' && words.test(text));
    expect(found.map(([path]) => path)).toEqual([]);
    expect([...texts].filter(([, text]) => words.test(text)).length).toBeGreaterThan(10);
  });

  it('starts what outlives it in one place, beside the guard of short calls', () => {
    const starters = [...texts].filter(([, text]) => /\bdetached: true\b/.test(text)).map(([path]) => path);
    expect(starters.sort()).toEqual(['processes/short-call.ts', 'processes/started-program.ts']);
  });

  it('has no two files that need each other, not even for a type', () => {
    expect(circles(texts)).toEqual([]);
    const twoTypes = [
      ['base/a.ts', "import type { B } from './b.js';"],
      ['base/b.ts', "export type { A } from './a.js';"],
    ] as const;
    expect(circles(new Map(twoTypes))).toEqual(['base/a.ts', 'base/b.ts']);
  });

  it.each(banned)('does without $what', ({ what, why, pattern }) => {
    expect(what).toMatch(pattern);
    const found = [...texts].filter(([, text]) => pattern.test(text)).map(([path]) => path);
    expect(found, why).toEqual([]);
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
function circles(all: ReadonlyMap<string, string>): string[] {
  const paths = [...all.keys()];
  const known = new Map(paths.map((path) => [path.replace(/\.tsx?$/, '.js'), path]));
  const needs = new Map([...all].map(([path, text]) => [path, neededBy(path, text, known)]));
  return paths.filter((path) => reachableFrom(path, needs).has(path));
}

function neededBy(path: string, text: string, known: ReadonlyMap<string, string>): string[] {
  return importsIn(path, text).flatMap(({ target }) =>
    target?.startsWith('.') === true ? (known.get(normalize(join(dirname(path), target))) ?? []) : [],
  );
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
