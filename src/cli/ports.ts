/** What the program takes from its process: that of `memrl-tui` itself, or one that a caller in another program plays. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isAbsolute, resolve } from 'node:path';
import { isZone } from '../text/zoned-time.js';

/** The part of a process that the command line uses; Node's `process` is one. */
export type OwnProcess = Pick<NodeJS.Process, 'env' | 'cwd' | 'chdir' | 'stdin' | 'stdout' | 'stderr'> & {
  /** Ends the program, even if other work is pending. */
  readonly exit: (code: number) => void;
  readonly once: (signal: 'SIGINT', listener: () => void) => unknown;
  /** Aborts when nobody waits for the command any more while the process goes on. Absent: the process ends then. */
  readonly abandoned?: AbortSignal;
  /** Hears how far a long command is. `done` grows up to `all`, both in runs. Absent: nobody listens. */
  readonly onProgress?: (done: number, all: number, words: string) => void;
};

export type Ports = {
  readonly process: OwnProcess;
  /** Folder of the built programs: `dist`. */
  readonly programs: string;
};

/** `words`: what was typed behind the name of the program, without what is for another host. */
type Kept = Ports & { words: readonly string[] };

/** Of the program that has the process to itself. A store makes each `await` three times as expensive in Node 20. */
let whole: Kept | undefined;
/** The ports of each call, where several calls share one process. */
const shared = new AsyncLocalStorage<Kept>();

/** Gives the process to the program, for good. */
export function takeProcess(ports: Ports, words: readonly string[]): void {
  whole = { ...ports, words };
}

/** Does some work with ports of its own, beside other calls in the same process. */
export function withPorts<Result>(ports: Ports, words: readonly string[], work: () => Result): Result {
  return shared.run({ ...ports, words }, work);
}

/** What the running command takes from its process. Outside of the program it is that of Node. */
export function own(): OwnProcess {
  return kept()?.process ?? process;
}

export function ownPrograms(): string {
  const ports = kept();
  if (ports === undefined) throw new Error('Only a running program knows where the others are.');
  return ports.programs;
}

/** The words of the command line after the name of the program. */
export function typedWords(): readonly string[] {
  return kept()?.words ?? [];
}

/** The words before `--`, behind which a command stands. */
export function beforeDashes(words: readonly string[]): readonly string[] {
  return words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
}

/** Puts other words in their place: an order's, or those without hosts. */
export function retype(words: readonly string[]): void {
  kept()!.words = words;
}

/** The absolute path of one that was typed. An absolute one needs no working directory, which may be gone. */
export function at(path: string): string {
  return isAbsolute(path) ? resolve(path) : resolve(own().cwd(), path);
}

/** The time zone of who typed the command: that of `TZ`, if it names one, else that of the process. */
export function localZone(): string {
  const asked = own().env['TZ'] ?? '';
  return asked !== '' && isZone(asked) ? asked : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function kept(): Kept | undefined {
  return shared.getStore() ?? whole;
}
