import { execFile } from 'node:child_process';

type Call = {
  cwd: string;
  environment: Readonly<Record<string, string>>;
  /** ms. */
  patienceMs: number;
  /** Bytes of output after which the program is stopped. */
  most?: number;
};

/** `isWhole`: the program ended with code 0 and said no more than it was allowed to. */
export type Answer = { output: Buffer; isWhole: boolean; problem: string | null };

const MOST = 2 ** 24;

/** Asks a program something, with an end to patience. Never rejects. */
export function shortCall(
  [program, ...words]: readonly string[],
  { cwd, environment, patienceMs, most = MOST }: Call,
): Promise<Answer> {
  return new Promise((resolve) => {
    const options = { cwd, env: environment, timeout: patienceMs, maxBuffer: most, killSignal: 'SIGKILL' } as const;
    try {
      execFile(program!, words, { ...options, encoding: 'buffer' }, (error, output) =>
        resolve({ output, isWhole: error === null, problem: error === null ? null : firstLine(error.message) }),
      );
    } catch (error) {
      // What no system call can take, a NUL byte for example.
      resolve({ output: Buffer.alloc(0), isWhole: false, problem: (error as Error).message });
    }
  });
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!;
}
