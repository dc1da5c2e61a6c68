/**
 * Builds what is shipped: the lab's kernels (AssemblyScript → WebAssembly) and one bundle per program.
 *
 * One bundle each because a cold start from node_modules costs three times as much (Ink alone is 40 files).
 * With `--kernels` only the kernels are built.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';
import { programOptions } from './program-options.js';
import { programParts } from './program-parts.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const engine = join(root, 'src/lab/engine');

/** The kernels thrice: as they are; on memory that threads share; and there with fused products, whose bits are the processor's. */
const simd = ['--enable', 'simd'];
const shared = ['--enable', 'threads', '--sharedMemory', '--maximumMemory', '65535'];
const variants = {
  'kernels.wasm': simd,
  'kernels-shared.wasm': [...simd, ...shared],
  'kernels-relaxed.wasm': [...simd, '--enable', 'relaxed-simd', ...shared],
};

const kernelsOnly = process.argv.includes('--kernels');
if (!kernelsOnly) rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, 'bin'), { recursive: true });
await Promise.all(Object.entries(variants).map(([file, options]) => compileKernels(file, options)));
await bundleThread();
for (const file of [...Object.keys(variants), 'kernel-thread.js']) copyFileSync(join(engine, file), join(dist, file));
if (!kernelsOnly) await bundlePrograms();

async function bundlePrograms() {
  await bundle('memrl-tui', './src/cli/main.ts');
  await bundle('memrl', 'src/lab/main.ts');
  await bundle('supervisor', 'src/supervisor/main.ts');
  await bundle('reader-thread', 'src/supervisor/reading/reader-thread.ts');
  await bundle('compute-thread', 'src/lab/tinker/server/compute-thread.ts');
  await bundle('slurm-worker', 'src/executors/slurm/packs/worker-main.ts');
  await bundleLibrary();
}

/** `memrl-tui/lab`: what a person's own modules are written against, and its types. */
async function bundleLibrary() {
  const entry = join(root, 'src/lab/own-modules.ts');
  const options = { ...programOptions, logLevel: 'warning' };
  await build({ absWorkingDir: root, entryPoints: [entry], outfile: join(dist, 'lab.js'), ...options });
  const types = {
    declaration: true,
    emitDeclarationOnly: true,
    outDir: join(dist, 'types'),
    rootDir: join(root, 'src'),
  };
  const compiler = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, strict: true, types: ['node'] };
  ts.createProgram([entry], { ...types, ...compiler, skipLibCheck: true }).emit();
}

async function compileKernels(file, features) {
  const asc = join(dirname(createRequire(import.meta.url).resolve('assemblyscript/package.json')), 'bin/asc.js');
  const options = ['-O3', '--noAssert', '--runtime', 'stub', '--importMemory', ...features];
  const source = join(engine, 'assembly/kernels.ts');
  const child = spawn(process.execPath, [asc, source, '-o', join(engine, file), ...options], { stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  if (status !== 0) process.exit(status ?? 1);
}

/** What each thread of an engine runs. Beside the kernels, in the sources too: so tests find it. */
async function bundleThread() {
  await build({
    absWorkingDir: root,
    entryPoints: ['src/lab/engine/kernels/kernel-thread.ts'],
    outfile: join(engine, 'kernel-thread.js'),
    ...programOptions,
    logLevel: 'warning',
  });
}

async function bundle(name, entry) {
  const file = join(dist, `${name}.js`);
  const isInParts = name === 'memrl-tui';
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { [name]: entry },
    outdir: dist,
    // What a verb alone needs is a file of its own: the window does not wait until the reader of sweep files is compiled. All lie
    // in one folder, because some look for files beside themselves. What lives for weeks is one file, so that it does not look
    // for parts that a newer build has taken away.
    splitting: isInParts,
    chunkNames: `${name}-[hash]`,
    sourcemap: false,
    legalComments: 'none',
    write: false,
    ...programOptions,
    plugins: [...programOptions.plugins, ...(isInParts ? [programParts] : [])],
    banner: { js: `#!/usr/bin/env node\n${programOptions.banner.js}` },
    logLevel: 'warning',
  });
  for (const { path, text } of outputFiles) writeFileSync(path, inAscii(text));
  chmodSync(file, 0o755);
  if (name.endsWith('-thread') || name.endsWith('-worker')) return;
  // Runs find both programs here by name, however memrl-tui itself was started.
  const link = join(dist, 'bin', name);
  if (existsSync(link)) unlinkSync(link);
  symlinkSync(`../${name}.js`, link);
}

/**
 * The same program in ASCII, of which V8 keeps one byte per character instead of two. The bundler leaves other characters in regular
 * expressions and in tagged templates; the only tag here that reads its texts unprocessed is `String.raw`, for regular expressions.
 */
function inAscii(text) {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
