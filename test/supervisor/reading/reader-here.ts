import { Reader } from '../../../src/supervisor/reading/reader.js';
import type { ReadingQueue } from '../../../src/supervisor/reading/reading-queue.js';
import type { ReaderHooks, ReaderLink } from '../../../src/supervisor/runs/watcher.js';

/** A reader in this thread. */
export function readerHere(queue?: ReadingQueue): (hooks: ReaderHooks) => ReaderLink {
  return ({ heard, now, busy }) => {
    const reader = new Reader({ tell: heard, now, busy, ...(queue === undefined ? {} : { queue }) });
    return { post: (order) => reader.take(order), close: () => reader.close() };
  };
}
