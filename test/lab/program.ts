import { spawn, type ChildProcess } from 'node:child_process';
import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { removeFolder } from '../remove-folder.js';

/** How a process ended, and what it said. */
export type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** The program `memrl`, bundled as it is shipped, in a folder of its own. */
export type Program = {
  readonly start: (argv: readonly string[]) => { child: ChildProcess; ended: Promise<Ended> };
  readonly run: (argv: readonly string[]) => Promise<Ended>;
  readonly remove: () => void;
};

export async function bundledProgram(): Promise<Program> {
  const { directory, remove } = await bundled({ memrl: 'src/lab/main.ts', ...thread });
  const file = join(directory, 'memrl.js');
  const start = (argv: readonly string[]) => {
    const child = spawn(process.execPath, [file, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const ended = new Promise<Ended>((resolve) =>
      child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
    );
    return { child, ended };
  };
  return { start, run: (argv) => start(argv).ended, remove };
}

const thread = { 'compute-thread': 'src/lab/tinker/server/compute-thread.ts' };

/** The thread of `memrl serve` that computes, bundled as it is shipped. */
export async function bundledThread(): Promise<{ readonly file: URL; readonly remove: () => void }> {
  const { directory, remove } = await bundled(thread);
  return { file: pathToFileURL(join(directory, 'compute-thread.js')), remove };
}

/** Bundles into a folder of their own, with the kernels beside them. */
async function bundled(entryPoints: Record<string, string>): Promise<{ directory: string; remove: () => void }> {
  const directory = mkdtempSync(join(tmpdir(), 'memrl-program-'));
  const js = "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);";
  await build({
    entryPoints,
    outdir: directory,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js },
  });
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  for (const kernels of ['kernels.wasm', 'kernels-shared.wasm', 'kernels-relaxed.wasm', 'kernel-thread.js']) {
    copyFileSync(`src/lab/engine/${kernels}`, join(directory, kernels));
  }
  return { directory, remove: () => removeFolder(directory) };
}
