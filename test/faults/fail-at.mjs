/**
 * Loaded into a program (`node --import`, or `NODE_OPTIONS`), it makes calls of `node:fs` fail as a broken disk, a network file
 * system or a lack of rights would, so that the program itself needs no such thing in it. Root, whom `chmod` does not stop,
 * is stopped by it too.
 *
 * `MEMRL_FAIL=RULE[;RULE…]`, each `PART:CODE[:CALL]`: every call whose path, as it is given, contains PART fails with CODE
 * (`EACCES`, `EIO`, `ESTALE`, …). PART has no colon. CALL limits that to one kind: `stat open read write rename mkdir …`, the
 * name of the function without `Sync`; reading and writing by descriptor counts for the path that was opened. `read` of a file
 * that was opened is what a bad sector does; without CALL nothing can be done with the path at all.
 * `MEMRL_FAIL_WHEN=FILE`: only while that file is there, so that a test can break the disk and mend it.
 *
 * Of `node:fs` the synchronous functions are covered, and of `node:fs/promises` those that take a path, and the handles.
 */
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';

const rules = (process.env.MEMRL_FAIL ?? '')
  .split(';')
  .filter((rule) => rule !== '')
  .map((rule) => {
    const [part, code, call = null] = rule.split(':');
    return { part, code, call };
  });
const when = process.env.MEMRL_FAIL_WHEN ?? null;
const byPath = [
  ...['access', 'appendFile', 'chmod', 'link', 'lstat', 'mkdir', 'open', 'opendir', 'readFile', 'readdir', 'readlink'],
  ...['realpath', 'rename', 'rm', 'rmdir', 'stat', 'statfs', 'symlink', 'truncate', 'unlink', 'writeFile'],
];
const byDescriptor = ['fdatasync', 'fstat', 'fsync', 'ftruncate', 'read', 'write'];
/** What a call by descriptor is called where it is named with a path. */
const kin = { fstat: 'stat', fdatasync: 'sync', fsync: 'sync', ftruncate: 'truncate' };
const { existsSync } = fs;

if (rules.length > 0) install();

/** Throws what the system would, if the call is to fail. */
function check(path, call) {
  const rule = rules.find((each) => String(path).includes(each.part) && (each.call === null || each.call === call));
  if (rule === undefined || (when !== null && !existsSync(when))) return;
  const errno = -(constants.errno[rule.code] ?? 0);
  throw Object.assign(new Error(`${rule.code}: injected, ${call} '${path}'`), {
    ...{ errno, code: rule.code, syscall: call, path: String(path) },
  });
}

function install() {
  const paths = new Map();
  for (const call of byPath) {
    const original = fs[`${call}Sync`];
    const failing = (path, ...rest) => {
      check(typeof path === 'number' ? paths.get(path) : path, typeof path === 'number' ? kindOf(call) : call);
      const result = original(path, ...rest);
      if (call === 'open') paths.set(result, path);
      return result;
    };
    // What the call has beside: `realpathSync.native`.
    fs[`${call}Sync`] = Object.assign(failing, original);
    const later = fsp[call];
    if (later === undefined || call === 'open') continue;
    fsp[call] = async (path, ...rest) => {
      check(path, call);
      return later(path, ...rest);
    };
  }
  fs.existsSync = (path) => {
    try {
      check(path, 'access');
    } catch {
      return false;
    }
    return existsSync(path);
  };
  for (const call of byDescriptor) {
    const original = fs[`${call}Sync`];
    fs[`${call}Sync`] = (descriptor, ...rest) => {
      check(paths.get(descriptor), kin[call] ?? call);
      return original(descriptor, ...rest);
    };
  }
  const { closeSync } = fs;
  fs.closeSync = (descriptor) => {
    paths.delete(descriptor);
    return closeSync(descriptor);
  };
  installHandles();
  syncBuiltinESMExports();
}

/** `readFileSync` and the like also take a descriptor. */
function kindOf(call) {
  return { readFile: 'read', writeFile: 'write', appendFile: 'write' }[call] ?? call;
}

function installHandles() {
  const { open } = fsp;
  fsp.open = async (path, ...rest) => {
    check(path, 'open');
    const handle = await open(path, ...rest);
    for (const call of ['read', 'write', 'stat', 'sync', 'datasync', 'truncate']) {
      const original = handle[call];
      handle[call] = async (...words) => {
        check(path, call === 'datasync' ? 'sync' : call);
        return original.apply(handle, words);
      };
    }
    return handle;
  };
}
