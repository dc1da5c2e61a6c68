import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { programOptions } from '../program-options.js';

/** The kernels twice: as they are, and on memory that threads share. */
const simd = ['--enable', 'simd'];
const variants = {
  'kernels.wasm': simd,
  'kernels-shared.wasm': [...simd, '--enable', 'threads', '--sharedMemory', '--maximumMemory', '65535'],
};
const thread = 'kernel-thread.js';

/** Writes the kernels, and what each thread of an engine runs, into the sources, where tests find them. */
export async function buildKernels(root) {
  const engine = join(root, 'src/lab/engine');
  const compiling = Object.entries(variants).map(([file, features]) => compileKernels(engine, file, features));
  await Promise.all([...compiling, bundleThread(root, engine)]);
}

/** The same files, to be written beside the programs. */
export function kernelFiles(root) {
  return [...Object.keys(variants), thread].map((name) => ({
    name,
    content: readFileSync(join(root, 'src/lab/engine', name)),
  }));
}

/** The warm-ups that come with memrl, likewise. */
export function warmupFiles(root) {
  const folder = join(root, 'src/lab/run');
  const names = ['SINGLE_STEP', 'MULTI_STEP'].flatMap((name) =>
    ['model.json', 'model.safetensors'].map((file) => `warmups/${name}/${file}`),
  );
  return names.map((name) => ({ name, content: readFileSync(join(folder, name)) }));
}

async function compileKernels(engine, file, features) {
  const asc = join(dirname(createRequire(import.meta.url).resolve('assemblyscript/package.json')), 'bin/asc.js');
  const options = ['-O3', '--noAssert', '--runtime', 'stub', '--importMemory', ...features];
  const source = join(engine, 'assembly/kernels.ts');
  const draft = join(engine, `${process.pid}-${file}`);
  const child = spawn(process.execPath, [asc, source, '-o', draft, ...options], { stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  if (status !== 0) process.exit(status ?? 1);
  renameSync(draft, join(engine, file));
}

async function bundleThread(root, engine) {
  await build({
    absWorkingDir: root,
    entryPoints: ['src/lab/engine/kernels/kernel-thread.ts'],
    outfile: join(engine, thread),
    ...programOptions,
    logLevel: 'warning',
  });
}
