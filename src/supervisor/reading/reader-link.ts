import { chdir, cwd, hrtime } from 'node:process';
import { Worker } from 'node:worker_threads';
import { errorText } from '../../base/user-error.js';
import type { Busy, ReaderHooks, ReaderLink, ReaderNews, ReaderOrder } from './reading-messages.js';

/** Where a reader keeps what the next one needs: see `JudgedRungs`, and `EndedSummaries`. */
type ReaderFiles = { judgedFile: string; summaries: string };

/** `lead`: difference between the scheduler's clock and the boot clock, ms. */
export type ThreadStart = { lead: number; busy: Busy } & ReaderFiles;

/** Memory limit of the thread, MB; usually it takes some 50. A thread that needs more ends without the supervisor. */
const MOST_MB = 1024;

/** Milliseconds since the boot, equal in all threads. */
export function bootMs(): number {
  return Number(hrtime.bigint()) / 1e6;
}

/** Starts a reader in a thread of its own. Orders of one turn of the event loop are sent together, and so are replies. */
export function openReaderThread(file: URL, files: ReaderFiles): (hooks: ReaderHooks) => ReaderLink {
  return ({ heard, ended, now, busy }) => {
    const start: ThreadStart = { lead: now() - bootMs(), busy, ...files };
    leaveDeletedDirectory();
    let worker: Worker;
    try {
      worker = new Worker(file, {
        workerData: start,
        execArgv: [],
        resourceLimits: { maxOldGenerationSizeMb: MOST_MB },
      });
    } catch (error) {
      // The machine has no thread left. Whoever opens it knows it only when this has returned.
      setImmediate(() => ended(errorText(error)));
      return { post: () => undefined, close: () => Promise.resolve() };
    }
    let why: string | null = null;
    worker.on('message', (news: readonly ReaderNews[]) => news.forEach(heard));
    worker.on('error', (error) => (why = error.message));
    worker.on('exit', (code) => ended(why ?? `its thread has ended with code ${code}`));
    // An idle supervisor may exit.
    worker.unref();
    const post = inBatches<ReaderOrder>((orders) => worker.postMessage(orders));
    return { post, close: async () => void (await worker.terminate()) };
  };
}

/** Collects the items of one turn of the event loop and passes them on together. */
export function inBatches<Item>(give: (items: Item[]) => void): (item: Item) => void {
  let items: Item[] = [];
  return (item) => {
    if (items.push(item) > 1) return;
    setImmediate(() => {
      const all = items;
      items = [];
      give(all);
    });
  };
}

/** Changes from a deleted working directory, in which Node starts no thread; it is that of the client. */
function leaveDeletedDirectory(): void {
  try {
    cwd();
  } catch {
    chdir('/');
  }
}
