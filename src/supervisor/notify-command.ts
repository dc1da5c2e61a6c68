import { spawn } from 'node:child_process';
import { LineSplitter } from '../base/line-splitter.js';
import type { Message } from './news.js';

type Surroundings = {
  environment: Readonly<Record<string, string>>;
  /** Told each line that the command writes. */
  heard: (line: string) => void;
  signal: AbortSignal;
  patienceMs?: number;
};

/** A command that takes longer hangs, ms. */
const PATIENCE_MS = 30_000;
/** Lines of its output that are passed on. */
const MOST_LINES = 50;

/**
 * Starts the command, without a shell, with the message in words as its last argument and as one line of JSON on its
 * stdin. Gives what went wrong, or null. Never rejects.
 */
export async function runNotifyCommand(
  words: readonly string[],
  message: Message,
  surroundings: Surroundings,
): Promise<string | null> {
  try {
    return await run(words, message, surroundings);
  } catch (error) {
    // What no system call can take: a NUL byte, more than fits on a command line.
    return (error as Error).message;
  }
}

function run(
  [program, ...words]: readonly string[],
  message: Message,
  { environment, heard, signal, patienceMs = PATIENCE_MS }: Surroundings,
): Promise<string | null> {
  return new Promise((resolve) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
    const options = { env: environment, signal: limit, killSignal: 'SIGKILL' } as const;
    const child = spawn(program!, [...words, message.text], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    passOn(child.stdout, heard);
    passOn(child.stderr, heard);
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.name !== 'AbortError') return resolve(error.code === 'ENOENT' ? 'no such program' : error.message);
      resolve(signal.aborted ? 'the supervisor ended first' : `still running after ${patienceMs / 1000} s`);
    });
    // Not `close`: something it left behind may hold its output for ever.
    child.on('exit', (code, ended) => resolve(code === 0 ? null : `ended with ${ended ?? `code ${code}`}`));
    // A command need not read what it is told.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(message)}\n`);
  });
}

function passOn(stream: NodeJS.ReadableStream, heard: (line: string) => void): void {
  const splitter = new LineSplitter();
  let left = MOST_LINES;
  stream.on('data', (chunk: Buffer) => {
    if (left <= 0) return;
    for (const line of splitter.push(chunk).slice(0, left)) {
      heard(line);
      left -= 1;
    }
  });
}
