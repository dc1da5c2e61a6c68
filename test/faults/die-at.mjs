/**
 * Loaded into a supervisor (`node --import`), it kills it with SIGKILL at one chosen operation, so that the program itself
 * needs no such thing in it. `MEMRL_FAULT=PLACE:N:MOMENT`: at the N-th operation of that place (`any`: of all places),
 * `before` it, `after` it, or `torn`: when half of its bytes are written. `MEMRL_FAULT_LOG`: file that tells of the deaths.
 *
 * Places: `journal-write journal-sync journal-rename record-write record-rename plan-write plan-rename lock claim attempt spawn`.
 */
import childProcess from 'node:child_process';
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const [place, nth, moment] = (process.env.MEMRL_FAULT ?? '').split(':');
const { appendFileSync, writeSync, openSync } = fs;
const counts = new Map();

if (place) install();

function die(where) {
  appendFileSync(process.env.MEMRL_FAULT_LOG, `${where} ${moment}\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** Whether this is the operation; counts it. */
function isHere(where) {
  if (where === null || (place !== 'any' && place !== where)) return false;
  counts.set(place, (counts.get(place) ?? 0) + 1);
  return counts.get(place) === Number(nth);
}

/** Does the operation, or dies at it. `half` does a half of it. */
function at(where, whole, half) {
  if (!isHere(where)) return whole();
  if (moment === 'torn') half?.();
  if (moment !== 'after') die(where);
  const result = whole();
  if (typeof result?.then !== 'function') die(where);
  return result.then(() => die(where));
}

function placeOf(path, verb) {
  const text = String(path);
  if (text.includes('journal.jsonl')) return `journal-${verb}`;
  if (text.includes('run.json')) return `record-${verb}`;
  if (text.includes('/plans/') || text.includes('/environments/')) return `plan-${verb}`;
  if (text.includes('lock.')) return 'lock';
  if (text.includes('/attempts/')) return verb === 'mkdir' ? 'attempt' : 'claim';
  return null;
}

function install() {
  const paths = new Map();
  for (const name of ['renameSync', 'linkSync', 'unlinkSync']) {
    const original = fs[name];
    fs[name] = (path, ...rest) => at(placeOf(path, 'rename'), () => original(path, ...rest));
  }
  const { writeFileSync, mkdirSync } = fs;
  fs.mkdirSync = (path, ...rest) => at(placeOf(path, 'mkdir'), () => mkdirSync(path, ...rest));
  fs.openSync = (path, ...rest) => {
    const fd = openSync(path, ...rest);
    paths.set(fd, path);
    return fd;
  };
  const writeHalf = (file, text, options) => {
    const fd = typeof file === 'number' ? file : openSync(file, 'w', options?.mode);
    writeSync(fd, String(text).slice(0, String(text).length / 2));
  };
  fs.writeFileSync = (file, text, options) => {
    const where = placeOf(typeof file === 'number' ? paths.get(file) : file, 'write');
    return at(
      where,
      () => writeFileSync(file, text, options),
      () => writeHalf(file, text, options),
    );
  };
  fs.writeSync = (fd, ...rest) => at(placeOf(paths.get(fd), 'write'), () => writeSync(fd, ...rest));
  const { spawn } = childProcess;
  childProcess.spawn = (...words) => at('spawn', () => spawn(...words));
  installPromises();
  syncBuiltinESMExports();
}

function installPromises() {
  const { open, rename } = fsp;
  fsp.rename = (path, ...rest) => at(placeOf(path, 'rename'), () => rename(path, ...rest));
  fsp.open = async (path, ...rest) => {
    const handle = await open(path, ...rest);
    const { write, datasync, sync } = handle;
    const half = (bytes, from, length, position) => writeSync(handle.fd, bytes, from, Math.floor(length / 2), position);
    handle.write = (...words) =>
      at(
        placeOf(path, 'write'),
        () => write.apply(handle, words),
        () => half(...words),
      );
    handle.datasync = () => at(placeOf(path, 'sync'), () => datasync.call(handle));
    handle.sync = () => at(placeOf(path, 'sync'), () => sync.call(handle));
    return handle;
  };
}
