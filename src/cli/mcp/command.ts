import { Readable, Writable } from 'node:stream';
import type { OwnProcess, Ports } from '../ports.js';
import type { WholeProgram } from '../verb.js';

/** The output of a command, and its exit code. */
export type Printed = { readonly code: number; readonly out: string; readonly err: string };

/** Who waits for a command, and may give it up. */
export type Caller = Pick<OwnProcess, 'onProgress'> & { readonly signal?: AbortSignal };

/** Runs a command line of memrl-tui in this process and collects what it prints. */
export type RunCommand = (words: readonly string[], caller?: Caller) => Promise<Printed>;

/** @param around The process of the server, whose environment and working directory the commands share. */
export function commandsIn({ process, programs }: Ports, main: WholeProgram['main']): RunCommand {
  return async (words, { signal, onProgress } = {}) => {
    const [out, err] = [new Collected(), new Collected()];
    const ended = new AbortController();
    const abandoned = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
    const exited = new Promise<number>((resolve) => ended.signal.addEventListener('abort', () => resolve(code)));
    let code = 0;
    const own = {
      env: process.env,
      cwd: () => process.cwd(),
      // A command that leaves something pending calls it; the process goes on.
      exit: (asked: number) => {
        code = asked;
        ended.abort();
      },
      once: () => undefined,
      ...{ stdin: Readable.from([]), stdout: out, stderr: err, abandoned, onProgress },
    };
    // Neither end of it is a terminal, whose properties are absent.
    const ports = { process: own as unknown as OwnProcess, programs };
    const last = await Promise.race([main(words, ports), exited]);
    return { code: last, out: out.text(), err: err.text() };
  };
}

/** Keeps what is written to it. */
export class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, written: () => void): void {
    this.#chunks.push(chunk);
    written();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
