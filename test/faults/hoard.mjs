/**
 * Loaded into a supervisor (`NODE_OPTIONS`), it takes what the machine has, as others do at a bad moment.
 *
 * `MEMRL_HOARD=FILE`: while that file is there, all descriptors of the process are taken but as many as it is long, in bytes, with
 * each turn of its loop anew. While `FILE.processes` is there, no process and no thread can be started, as where there are no
 * more of them (EAGAIN). The time of last access of `MEMRL_HOARD.turns` counts those turns, in seconds: that takes no descriptor.
 */
import { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, statSync, utimesSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';
import threads from 'node:worker_threads';

const TURN_MS = 20;
const path = process.env.MEMRL_HOARD;
const hoard = [];
let turns = 0;

if (path !== undefined && path !== '' && threads.isMainThread) {
  setInterval(turn, TURN_MS).unref();
  refuseProcesses();
}

function turn() {
  const wanted = statSync(path, { throwIfNoEntry: false });
  if (wanted === undefined) release(hoard.length);
  else takeAllBut(wanted.size);
  utimesSync(`${path}.turns`, ++turns, 0);
}

function takeAllBut(left) {
  try {
    for (;;) hoard.push(openSync('/dev/null'));
  } catch {
    // Now there is none.
  }
  release(left);
}

function release(count) {
  for (const descriptor of hoard.splice(0, count)) closeSync(descriptor);
}

function refuseProcesses() {
  const isShort = () => existsSync(`${path}.processes`);
  const handle = Object.getPrototypeOf(new ChildProcess()._handle);
  const { spawn } = handle;
  handle.spawn = function (...words) {
    return isShort() ? -constants.errno.EAGAIN : spawn.apply(this, words);
  };
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(...words) {
      if (isShort()) throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
      super(...words);
    }
  };
  syncBuiltinESMExports();
}
