/**
 * Starts a run as told, in a process of its own that can be short of files, processes or rights, and prints what came of it.
 *
 * `start-program.js ORDER SHORTAGE`: `files` none can be opened; `one file` the log can, more cannot;
 * `processes` none can be made; `one process` the shim can, its command cannot.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { RunId } from '../../../src/base/ids.js';
import type { LaunchSpec } from '../../../src/executors/executor.js';
import { LocalExecutor } from '../../../src/executors/local/local-executor.js';

const order = JSON.parse(process.argv[2]!) as LaunchSpec & { input?: never };
const relieve = shortOf(process.argv[3] ?? '');
const id = RunId.parse('s/run');
/** Nothing of a run keeps the one who started it. */
const alive = setInterval(() => undefined, 1000);
const executor = new LocalExecutor({
  ended: (_id, _attempt, ending) => {
    console.log(JSON.stringify(ending));
    clearInterval(alive);
  },
  changed: () => undefined,
  troubled: () => undefined,
  mayGiveUp: () => true,
});

const isTransient = attempted();
await relieve();
if (isTransient && attempted()) clearInterval(alive);

/** Starts the run; whether it may be tried again. */
function attempted(): boolean {
  const start = executor.start(id, order);
  if (start.kind === 'started') return false;
  console.log(JSON.stringify(start));
  if (!start.transient) clearInterval(alive);
  return start.transient;
}

/** Makes a shortage; gives what ends it. */
function shortOf(what: string): () => Promise<void> {
  if (what === 'processes') return shortOfProcesses(1);
  // Threads count, and so does the one who lifts the limit.
  if (what === 'one process') return shortOfProcesses(readdirSync('/proc/self/task').length + 2);
  return shortOfFiles(what);
}

function shortOfFiles(what: string): () => Promise<void> {
  const files: number[] = [];
  try {
    while (what !== '') files.push(openSync('/dev/null', 'r'));
  } catch {
    if (what === 'one file') closeSync(files.pop()!);
  }
  return async () => files.forEach((file) => closeSync(file));
}

/** @param most Processes that its user may have. */
function shortOfProcesses(most: number): () => Promise<void> {
  const limit = (count: number) => `prlimit --pid ${process.pid} --nproc=${count}:`;
  // It takes a process to lift the limit, so it must be there before.
  const lift = spawn('sh', ['-c', `read line; ${limit(4000)}`], { stdio: ['pipe', 'inherit', 'inherit'] });
  spawnSync('sh', ['-c', limit(most)]);
  return async () => {
    lift.stdin.end('now\n');
    await once(lift, 'exit');
  };
}
