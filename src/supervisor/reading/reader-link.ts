import { chdir, cwd, hrtime } from 'node:process';
import { Worker } from 'node:worker_threads';
import type { ReaderHooks, ReaderLink } from '../runs/watcher.js';
import type { Busy, ReaderNews, ReaderOrder } from './reading-messages.js';

/** `lead`: the scheduler's line less the boot clock, ms. */
export type ThreadStart = { lead: number; busy: Busy; judgedFile: string };

/** Memory of the thread, MB; usual are some 50. One that needs more ends alone. */
const MOST_MB = 1024;

/** Milliseconds since the boot, for all threads alike. */
export function bootMs(): number {
  return Number(hrtime.bigint()) / 1e6;
}

/**
 * Opens a reader in a thread of its own. Orders of one turn of the event loop go together, and so do the news.
 *
 * @param judgedFile See `JudgedRungs`.
 */
export function openReaderThread(file: URL, judgedFile: string): (hooks: ReaderHooks) => ReaderLink {
  return ({ heard, ended, now, busy }) => {
    const start: ThreadStart = { lead: now() - bootMs(), busy, judgedFile };
    leaveDeletedDirectory();
    const worker = new Worker(file, {
      workerData: start,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MOST_MB },
    });
    let why: string | null = null;
    worker.on('message', (news: readonly ReaderNews[]) => news.forEach(heard));
    worker.on('error', (error) => (why = error.message));
    worker.on('exit', (code) => ended(why ?? `its thread has ended with code ${code}`));
    // It keeps no supervisor alive that has nothing to do.
    worker.unref();
    const post = inBatches<ReaderOrder>((orders) => worker.postMessage(orders));
    return { post, close: async () => void (await worker.terminate()) };
  };
}

/** Gives together what comes in one turn of the event loop. */
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

/** Node starts no thread where the working directory, which is that of the client, has been deleted. */
function leaveDeletedDirectory(): void {
  try {
    cwd();
  } catch {
    chdir('/');
  }
}
