/** Entry point of the thread that reads the metrics of runs. */
import { parentPort, workerData } from 'node:worker_threads';
import { Reader } from './reader.js';
import { bootMs, inBatches, type ThreadStart } from './reader-link.js';
import type { ReaderNews, ReaderOrder } from './reading-messages.js';

const { lead, busy, ...files } = workerData as ThreadStart;
const reader = new Reader({
  tell: inBatches<ReaderNews>((news) => parentPort!.postMessage(news)),
  now: () => Math.round(lead + bootMs()),
  ...{ busy, ...files },
});
parentPort!.on('message', (orders: readonly ReaderOrder[]) => {
  for (const order of orders) reader.take(order);
});
