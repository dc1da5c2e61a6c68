import { spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { copyFileSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { main } from '../../src/lab/program.js';
import type { OwnProcess } from '../../src/lab/run/process-context.js';
import { bundled } from '../bundled.js';

/** How a process ended, and what it said. */
export type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs `memrl` to its end in the process of the test. @param isEnough Once it holds, a SIGTERM comes. */
export async function memrl(
  argv: readonly string[],
  isEnough?: () => boolean,
): Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>> {
  const said = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof said) => ({ write: (text: string) => ((said[name] += text), true) });
  const own: OwnProcess & EventEmitter = Object.assign(new EventEmitter(), {
    ...{ argv: [process.execPath, 'src/lab/main.ts', ...argv], env: { ...process.env }, pid: process.pid },
    ...{ cwd: () => process.cwd(), kill: (pid: number, signal?: string | number) => process.kill(pid, signal) },
    ...{ stdout: stream('stdout'), stderr: stream('stderr') },
  });
  const looking = isEnough && setInterval(() => isEnough() && own.emit('SIGTERM'), 20);
  const code = await main(argv, own);
  clearInterval(looking);
  own.emit('exit');
  return { code, ...said };
}

/** The program `memrl`, bundled as it is shipped. */
export type Program = {
  readonly start: (argv: readonly string[]) => { child: ChildProcess; ended: Promise<Ended> };
  readonly run: (argv: readonly string[]) => Promise<Ended>;
};

export async function bundledProgram(): Promise<Program> {
  const file = join(await bundledLab(), 'memrl.js');
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
  return { start, run: (argv) => start(argv).ended };
}

/** The thread of `memrl serve` that computes, bundled as it is shipped. */
export async function bundledThread(): Promise<URL> {
  return pathToFileURL(join(await bundledLab(), 'compute-thread.js'));
}

/** Both programs, with the kernels beside them. */
function bundledLab(): Promise<string> {
  const programs = { memrl: 'src/lab/main.ts', 'compute-thread': 'src/lab/tinker/server/compute-thread.ts' };
  return bundled('lab', programs, (folder) => {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const kernels of ['kernels.wasm', 'kernels-shared.wasm', 'kernel-thread.js']) {
      copyFileSync(`src/lab/engine/${kernels}`, join(folder, kernels));
    }
    cpSync('src/lab/run/warmups', join(folder, 'warmups'), { recursive: true });
  });
}
