import { isThere, type Processes } from './run-lock.js';

/** A system signal that requests a graceful stop. */
export type StopSignal = 'SIGINT' | 'SIGTERM';

/** The part of a process that the program uses; Node's `process` is one. */
export type OwnProcess = Pick<NodeJS.Process, 'argv' | 'env' | 'cwd' | 'pid' | 'kill'> & {
  readonly on: (what: StopSignal | 'exit', listener: () => void) => unknown;
  readonly stdout: { readonly write: (text: string) => boolean; readonly columns?: number };
  readonly stderr: { readonly write: (text: string) => boolean };
};

/** The parts of the process that a program of the lab needs. */
export type ProcessContext = {
  /** Writes one line of output; the manager keeps it in `output.log`. */
  readonly log: (line: string) => void;
  /** Environment variables of the process: for example which GPUs it may use. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Unix ms, for times that other programs show of a run; nothing else depends on it. */
  readonly time: () => number;
  /** Access to the list of processes, for locks. */
  readonly processes: Processes;
  /** Lets signals arrive, at little cost when called often. @returns the signal that came, or null. */
  readonly stopAsked: () => Promise<StopSignal | null>;
};

/** The context of a real process: its standard output, clocks and signals. */
export function processContext(process: OwnProcess): ProcessContext {
  let received: StopSignal | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void (received ??= signal));
  // Signals are delivered only when the event loop runs; yielding to it costs more than a step, so it is done at
  // intervals.
  const yieldEveryMs = 20;
  let lastYield = performance.now();
  const stopAsked = async () => {
    if (performance.now() - lastYield >= yieldEveryMs) {
      await new Promise((resolve) => setImmediate(resolve));
      lastYield = performance.now();
    }
    return received;
  };
  const log = (line: string) => process.stdout.write(`${line}\n`);
  const processes = {
    own: process.pid,
    answers: (pid: number) => isThere(pid, (each, signal) => process.kill(each, signal)),
  };
  return { log, processes, environment: process.env, now: () => performance.now(), time: () => Date.now(), stopAsked };
}
