import { spawn } from 'node:child_process';
import { program, type Scene } from '../scene.js';

/** What a client that was let live came to. */
export type Typed = { code: number | null; out: string; err: string; seconds: number };

/** Nobody waits longer for an answer, ms. */
const PATIENCE_MS = 30_000;

/** `before`: words in front of a command, such as a program that puts it elsewhere. `cwd`: where it is typed. `older`: another program. */
type Manner = { before?: readonly string[]; cwd?: string; older?: string };

/** Types a command and waits for its end. */
export function typed(scene: Scene, words: readonly string[], manner: Manner = {}): Promise<Typed> {
  const begin = performance.now();
  const { before = [], cwd = scene.bed.runs, older = program } = manner;
  const [first, ...rest] = [...before, process.execPath, older, ...words, '--runs', scene.bed.runs];
  return new Promise((resolve) => {
    const options = { cwd, env: scene.clientEnvironment(), timeout: PATIENCE_MS } as const;
    const child = spawn(first, rest, { ...options, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const end = (code: number | null) => resolve({ code, out, err, seconds: (performance.now() - begin) / 1000 });
    child.on('error', () => end(null));
    child.on('close', end);
  });
}

/** What is wrong with its end, in words; none where the code is one of these. */
export function codeWrong(what: string, { code, err, seconds }: Typed, allowed: readonly number[] = [0]): string[] {
  if (code !== null && allowed.includes(code)) return [];
  return [
    `${what} ended with ${code} after ${seconds.toFixed(1)} s: ${err.trim().split('\n').slice(0, 3).join(' | ')}`,
  ];
}
