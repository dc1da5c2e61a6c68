import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { firstPicture } from '../../../src/tui/app/frame.js';
import { plainText } from '../../../src/tui/surface/span.js';
import { aWindow, screenText } from '../frames.js';
import { memorySweep } from '../simulated-fleet.js';

/** Files that are loaded with this one: what it imports for more than a type, and so on. Packages by their names. */
function loadedWith(start: string): Set<string> {
  const found = new Set<string>();
  const queue = [start];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    if (existsSync(path)) queue.push(...importsOf(path));
  }
  return found;
}

function importsOf(path: string): string[] {
  const statements = readFileSync(path, 'utf8').matchAll(/^(?:import|export) (?!type\b)[^;]*?from '([^']+)'/gm);
  return [...statements].map(([, target]) => {
    if (!target!.startsWith('.')) return target!;
    const file = join(dirname(path), target!.replace(/\.js$/, ''));
    return existsSync(`${file}.ts`) ? `${file}.ts` : `${file}.tsx`;
  });
}

it('draws the first picture without Ink, React and all that is made of them', () => {
  const loaded = loadedWith('src/tui/app/open-window.ts');
  expect(loaded).toContain('src/tui/app/window-store.ts');
  expect([...loaded].filter((path) => path.endsWith('.tsx') || /^(ink|react)\b/.test(path))).toEqual([]);
  expect(loadedWith('src/tui/app/mount-app.tsx')).toContain('ink');
});

it.each([
  [100, 30],
  [120, 40],
  [80, 24],
  [40, 10],
])('draws the first picture at %d × %d as its components do', (width, height) => {
  const store = aWindow(memorySweep());
  store.resize(width, height);
  const picture = firstPicture(store.model(), store.size).map((line) => plainText(line).trimEnd());
  expect(picture).toEqual(screenText(store));
  store.close();
});
