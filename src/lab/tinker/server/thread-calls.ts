/** Calls the methods of an object that lives in another thread. Arguments, results and errors are copied. */
import { Worker, type MessagePort } from 'node:worker_threads';
import { UserError } from '../../../base/user-error.js';
import type { EngineRequest } from '../../engine/choose-engine.js';
import type { ComputationMethods } from './computation.js';
import { Refusal } from './refusal.js';
import type { TimeSlices } from './time-slices.js';

/** `home`: directory for the models that are built here. `models`: paths of those that were given. */
export type ComputeSettings = Pick<EngineRequest, 'engine' | 'threads'> & {
  readonly home: string;
  readonly models: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
};

type Call = { readonly id: number; readonly method: string; readonly values: readonly unknown[] };
/** Cancels a call whose result nobody waits for any more. */
type Cancel = { readonly cancelled: number };
type Outcome = { readonly id: number } & ({ readonly result: unknown } | { readonly error: CopiedError });

/** An error as it travels: a copy that the runtime makes would lose its class and its fields. */
type CopiedError =
  | { readonly kind: 'user'; readonly problem: string; readonly fix: string }
  | { readonly kind: 'refusal'; readonly status: number; readonly detail: string }
  | { readonly kind: 'other'; readonly fields: Readonly<Record<string, unknown>> };

/** Carries out calls, which share the thread by time slices. */
export function answerCalls(port: MessagePort, target: object, slices: TimeSlices): void {
  const methods = target as Record<string, (...values: readonly unknown[]) => Promise<unknown>>;
  const cancels = new Map<number, AbortController>();
  const answer = async ({ id, method, values }: Call) => {
    const cancel = new AbortController();
    cancels.set(id, cancel);
    try {
      const result = await slices.run(() => methods[method]!(...values), cancel.signal);
      port.postMessage({ id, result } satisfies Outcome);
    } catch (error) {
      port.postMessage({ id, error: copyError(error) } satisfies Outcome);
    }
    cancels.delete(id);
  };
  port.on('message', (message: Call | Cancel) => {
    if ('cancelled' in message) cancels.get(message.cancelled)?.abort();
    else void answer(message);
  });
}

type ComputeThread = {
  readonly computing: ComputationMethods;
  /** Rejects when the thread has ended by itself; never resolves. */
  readonly lost: Promise<never>;
  readonly close: () => Promise<void>;
};

/** Starts the thread that computes. @param file The bundle of `compute-thread.ts`. */
export function startComputing(file: URL, settings: ComputeSettings): ComputeThread {
  const worker = new Worker(file, { workerData: settings, execArgv: [] });
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  let count = 0;
  let ended: UserError | null = null;
  let lose: (error: UserError) => void;
  const lost = new Promise<never>((_, reject) => (lose = reject));
  // Prevents an unhandled rejection; callers see the loss of the thread in their next call.
  lost.catch(() => undefined);
  const end = (why: string) => {
    ended ??= new UserError(
      `The thread that computes has ended: ${why}.`,
      'Start memrl serve again; saved weights are still there.',
    );
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
    lose(ended);
  };
  worker.on('error', (error) => end(error.message));
  worker.on('exit', (code) => end(`its exit code is ${code}`));
  worker.on('message', (outcome: Outcome) => {
    const call = waiting.get(outcome.id);
    waiting.delete(outcome.id);
    if ('error' in outcome) call?.reject(reviveError(outcome.error));
    else call?.resolve(outcome.result);
  });
  const call = (method: string, values: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      if (ended !== null) return void reject(ended);
      waiting.set(++count, { resolve, reject });
      send(worker, { id: count, method, values });
    });
  const computing = new Proxy({} as ComputationMethods, {
    get:
      (_, method: string) =>
      (...values: readonly unknown[]) =>
        call(method, values),
  });
  return { computing, lost, close: async () => void (await worker.terminate()) };
}

/** Sends a call. A signal at the end of its values stays here: when it is aborted, the call is cancelled. */
function send(worker: Worker, { id, method, values }: Call): void {
  const last = values.at(-1);
  const signal = last instanceof AbortSignal ? last : null;
  worker.postMessage({ id, method, values: signal === null ? values : values.slice(0, -1) } satisfies Call);
  signal?.addEventListener('abort', () => worker.postMessage({ cancelled: id } satisfies Cancel));
}

function copyError(error: unknown): CopiedError {
  if (error instanceof UserError) return { kind: 'user', problem: error.message, fix: error.fix };
  if (error instanceof Refusal) return { kind: 'refusal', status: error.status, detail: error.message };
  if (!(error instanceof Error)) return { kind: 'other', fields: { message: String(error) } };
  const { message, stack, code, syscall, path } = error as NodeJS.ErrnoException;
  return { kind: 'other', fields: { message, stack, code, syscall, path } };
}

function reviveError(error: CopiedError): Error {
  switch (error.kind) {
    case 'user':
      return new UserError(error.problem, error.fix);
    case 'refusal':
      return new Refusal(error.status, error.detail);
    default:
      return Object.assign(new Error(), error.fields);
  }
}
