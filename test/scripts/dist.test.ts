import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Dist, sourcesHash } from '../../scripts/build/dist.js';
import { removeFolder } from '../remove-folder.js';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'memrl-dist-'));
  write('src/main.ts', 'one');
  write('package.json', '{}');
});
afterEach(() => removeFolder(root));

describe('the folder of the programs', () => {
  it('is of these sources when a build of them has ended, and no file is missing', () => {
    expect(next().isBuilt()).toBe(false);
    build({ 'memrl-tui.js': 'one' });
    expect(next().isBuilt()).toBe(true);
    write('src/main.ts', 'two');
    expect(next().isBuilt()).toBe(false);
    write('src/main.ts', 'one');
    removeFolder(join(root, 'dist/memrl-tui.js'));
    expect(next().isBuilt()).toBe(false);
  });

  it.each(['package.json', 'package-lock.json', 'node_modules/.package-lock.json', 'scripts/build.js', 'src/new.ts'])(
    'is of other sources when %s is another',
    (path) => {
      const before = sourcesHash(root, []);
      write(path, 'other');
      expect(sourcesHash(root, [])).not.toBe(before);
    },
  );

  it('is of other sources with other options, and of the same whatever a build writes into them', () => {
    const before = sourcesHash(root, []);
    expect(sourcesHash(root, ['--plain-ink'])).not.toBe(before);
    write('src/lab/engine/kernels.wasm', 'made');
    write('src/lab/engine/kernel-thread.js', 'made');
    expect(sourcesHash(root, [])).toBe(before);
  });

  it('has only the files of the last build in the package, though those of the one before may be running', () => {
    write('package.json', JSON.stringify({ name: 'packed', version: '1.0.0', files: ['dist'] }));
    build({ 'parts/a-1.cjs': 'one', 'memrl-tui.js': 'a-1' });
    write('src/main.ts', 'two');
    build({ 'parts/a-2.cjs': 'two', 'memrl-tui.js': 'a-2' });
    write('dist/bench-idle.mjs', 'a tool');
    next().sweep();
    expect(read('dist/parts/a-1.cjs')).toBe('one');
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--offline', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
    });
    const [packed] = JSON.parse(stdout) as { files: { path: string }[] }[];
    const paths = packed!.files.map(({ path }) => path).filter((path) => path.startsWith('dist/'));
    expect(paths.toSorted()).toEqual(['dist/build.json', 'dist/memrl-tui.js', 'dist/parts/a-2.cjs']);
  });

  it('has whole programs, of one build or the other, at each moment of a build, and where that is interrupted', () => {
    const one = { 'parts/a-1.cjs': 'one', 'memrl-tui.js': 'a-1' };
    build(one);
    const dist = next();
    for (const [name, content] of Object.entries({ 'parts/a-2.cjs': 'two', 'memrl-tui.js': 'a-2' })) {
      expect(read(`dist/parts/${read('dist/memrl-tui.js')}.cjs`)).toBe('one');
      dist.write({ name, content });
    }
    // Ctrl-C here: neither `finish` nor `sweep`.
    expect(read(`dist/parts/${read('dist/memrl-tui.js')}.cjs`)).toBe('two');
    expect(next().isBuilt()).toBe(true);
    expect(readdirSync(join(root, 'dist'), { recursive: true }).filter((name) => /tmp$/.test(String(name)))).toEqual(
      [],
    );
  });

  it('keeps the parts of the build before for an hour, for commands that began with them', () => {
    build({ 'parts/a-1.cjs': 'one' });
    age('dist/parts/a-1.cjs');
    write('src/main.ts', 'two');
    build({ 'parts/a-2.cjs': 'two' });
    expect(existsSync(join(root, 'dist/parts/a-1.cjs'))).toBe(true);
    age('dist/parts/a-1.cjs');
    next().sweep();
    expect(readdirSync(join(root, 'dist/parts'))).toEqual(['a-2.cjs']);
  });
});

function next(): Dist {
  return new Dist(root, sourcesHash(root, []));
}

function build(files: Readonly<Record<string, string>>): void {
  const dist = next();
  for (const [name, content] of Object.entries(files)) dist.write({ name, content });
  dist.finish();
  dist.sweep();
}

/** Of a build of hours ago. */
function age(path: string): void {
  utimesSync(join(root, path), 0, 0);
}

function write(path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
