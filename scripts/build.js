/**
 * Builds what is shipped: the lab's kernels (AssemblyScript → WebAssembly) and one bundle per program.
 *
 * One bundle each because a cold start from node_modules costs three times as much (Ink alone is 40 files).
 * With `--kernels` only the kernels are built.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { programOptions } from './program-options.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const kernels = join(root, 'src/lab/engine/kernels.wasm');

const kernelsOnly = process.argv.includes('--kernels');
if (!kernelsOnly) rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, 'bin'), { recursive: true });
compileKernels();
copyFileSync(kernels, join(dist, 'kernels.wasm'));
if (!kernelsOnly) await bundlePrograms();

async function bundlePrograms() {
  await bundle('memrl-tui', 'src/cli/main.ts');
  await bundle('memrl', 'src/lab/main.ts');
  await bundle('supervisor', 'src/supervisor/main.ts');
}

function compileKernels() {
  const asc = join(dirname(createRequire(import.meta.url).resolve('assemblyscript/package.json')), 'bin/asc.js');
  const options = ['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--importMemory'];
  const source = join(root, 'src/lab/engine/assembly/kernels.ts');
  const { status } = spawnSync(process.execPath, [asc, source, '-o', kernels, ...options], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

async function bundle(name, entry) {
  const file = join(dist, `${name}.js`);
  await build({
    absWorkingDir: root,
    entryPoints: { [name]: entry },
    outdir: dist,
    // What a verb alone needs is a file of its own: the window does not wait until the reader of sweep files is compiled. All lie
    // in one folder, because some look for files beside themselves. What lives for weeks is one file, so that it does not look
    // for parts that a newer build has taken away.
    splitting: name === 'memrl-tui',
    chunkNames: `${name}-[hash]`,
    sourcemap: false,
    legalComments: 'none',
    ...programOptions,
    banner: { js: `#!/usr/bin/env node\n${programOptions.banner.js}` },
    logLevel: 'warning',
  });
  chmodSync(file, 0o755);
  // Runs find both programs here by name, however memrl-tui itself was started.
  const link = join(dist, 'bin', name);
  if (existsSync(link)) unlinkSync(link);
  symlinkSync(`../${name}.js`, link);
}
