import { isThere, type Processes } from './run-lock.js';

/** A polite request to stop, from the system. */
export type StopSignal = 'SIGINT' | 'SIGTERM';

/** The part of a process that the program uses; Node's `process` is one. */
export type OwnProcess = Pick<NodeJS.Process, 'argv' | 'env' | 'cwd' | 'pid' | 'kill'> & {
  readonly on: (what: StopSignal | 'exit', listener: () => void) => unknown;
  readonly stdout: { readonly write: (text: string) => boolean; readonly columns?: number };
  readonly stderr: { readonly write: (text: string) => boolean };
};

/** What a program of the lab needs of the process it runs in. */
export type ProcessContext = {
  /** One line for people; ends up in `output.log`. */
  readonly log: (line: string) => void;
  /** Variables of the process: which GPUs it may use. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Unix ms, for what other programs show of a run; nothing of the run depends on it. */
  readonly time: () => number;
  /** This process among others, for what only one may write. */
  readonly processes: Processes;
  /** Lets signals arrive, at little cost when called often. @returns the signal that came, or null. */
  readonly stopAsked: () => Promise<StopSignal | null>;
};

/** That of a process: its standard output, clocks and signals. */
export function processContext(process: OwnProcess): ProcessContext {
  let asked: StopSignal | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void (asked ??= signal));
  // Signals are delivered between turns of the event loop; a turn costs more than a step, so they are spaced out.
  const turnEveryMs = 20;
  let lastTurn = performance.now();
  const stopAsked = async () => {
    if (performance.now() - lastTurn >= turnEveryMs) {
      await new Promise((resolve) => setImmediate(resolve));
      lastTurn = performance.now();
    }
    return asked;
  };
  const log = (line: string) => process.stdout.write(`${line}\n`);
  const processes = {
    own: process.pid,
    answers: (pid: number) => isThere(pid, (each, signal) => process.kill(each, signal)),
  };
  return { log, processes, environment: process.env, now: () => performance.now(), time: () => Date.now(), stopAsked };
}
