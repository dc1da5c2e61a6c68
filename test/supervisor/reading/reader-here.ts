import { Reader } from '../../../src/supervisor/reading/reader.js';
import type { ReadingQueue } from '../../../src/supervisor/reading/reading-queue.js';
import type { ReaderHooks, ReaderLink } from '../../../src/supervisor/reading/reading-messages.js';

/** A reader in this thread. @param summaries Folder of summaries of ended runs; absent: none are kept. */
export function readerHere(queue?: ReadingQueue, summaries?: string): (hooks: ReaderHooks) => ReaderLink {
  return ({ heard, now, busy }) => {
    const given = {
      ...(queue === undefined ? {} : { queue }),
      ...(summaries === undefined ? {} : { summaries, summariesMs: 100 }),
    };
    const reader = new Reader({ tell: heard, now, busy, ...given });
    return { post: (order) => reader.take(order), close: () => reader.close() };
  };
}
