/** A thread of an engine: computes the pieces of kernels that its leader (`ThreadPool`) asks for, on memory that both share. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import {
  attach,
  commandLength,
  doneAt,
  failedAt,
  forget,
  mostWords,
  nothing,
  type SharedHeap,
  signal,
  threadedNames,
  type ThreadStart,
  waitForChange,
} from './thread-protocol.js';

type Kernel = (...args: number[]) => void;

const { index, control, commands, words, calls } = workerData as ThreadStart;
const heaps = new Map<number, readonly Kernel[]>();

for (let seen = calls; ;) {
  waitForChange(control, signal, seen);
  seen = Atomics.load(control, signal);
  try {
    execute(commands.subarray(index * commandLength, (index + 1) * commandLength));
  } catch (error) {
    fail(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }
  Atomics.store(control, doneAt(index), seen);
  Atomics.notify(control, doneAt(index));
}

function execute(command: Float64Array): void {
  const [what = nothing, heap = 0] = command;
  if (what === nothing) return;
  if (what === forget) heaps.delete(heap);
  else if (what === attach) learn();
  else heaps.get(heap)![what]!(...command.subarray(2));
}

/** Takes in every message that has been sent. */
function learn(): void {
  for (;;) {
    const received = receiveMessageOnPort(parentPort!);
    if (received === undefined) return;
    const { id, module, memory, packing } = received.message as SharedHeap;
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    (exports['packAt'] as Kernel)(packing.at + index * packing.bytes);
    heaps.set(
      id,
      threadedNames.map((name) => exports[name] as Kernel),
    );
  }
}

function fail(why: string): void {
  const bytes = new TextEncoder().encode(why).subarray(0, mostWords);
  words.set(bytes, index * mostWords);
  Atomics.store(control, failedAt(index), bytes.length);
}
