import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { bundle } from './bundle.js';

/** A program of bench/ on the sources of an older commit, with the kernels built from them; gives its path. */
export async function olderProgram(folder: string, entry: string, commit: string): Promise<string> {
  const tree = olderTree(folder, commit);
  must(process.execPath, [join(tree, 'scripts/build.js'), '--kernels']);
  const program = await bundle(folder, entry, 'program', { plugins: [sourcesIn(tree)] });
  copyFileSync(join(tree, 'src/lab/engine/kernels.wasm'), join(dirname(program), 'kernels.wasm'));
  return program;
}

/** What files of an older commit export, together. Whoever asks says what that is: it need not be what they export now. */
export async function olderExports<Exports>(
  folder: string,
  files: readonly string[],
  commit: string,
): Promise<Exports> {
  const entry = join(olderTree(folder, commit), 'entry.ts');
  writeFileSync(entry, files.map((file) => `export * from './${file}';\n`).join(''));
  return (await import(pathToFileURL(await bundle(folder, entry, 'older')).href)) as Exports;
}

function olderTree(folder: string, commit: string): string {
  const tree = join(folder, 'tree');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  must('git', ['archive', '--output', join(folder, 'tree.tar'), commit, 'src', 'scripts', 'package.json']);
  must('tar', ['-xf', join(folder, 'tree.tar'), '-C', tree]);
  return tree;
}

/** What a program of bench/ imports from src/ comes from that tree. */
function sourcesIn(tree: string): Plugin {
  return {
    name: 'sources of an older commit',
    setup(build) {
      build.onResolve({ filter: /^\.\.\/\.\.\/src\// }, ({ path, importer }) => {
        if (importer.startsWith(tree)) return undefined;
        return { path: join(tree, path.replace('../../', '').replace(/\.js$/, '.ts')) };
      });
    },
  };
}

function must(command: string, words: readonly string[]): void {
  const { status, stderr } = spawnSync(command, [...words], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} failed: ${stderr}`);
}
