import { lstat, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { probeSupervisor, type SupervisorProbe } from '../../client/connection.js';
import { supervisorFiles } from '../../contract/files.js';
import type { SupervisorLock } from '../../contract/supervisor-lock.js';
import { placeIn, relationTo } from '../../processes/host-identity.js';
import { isAlive } from '../../processes/process-identity.js';
import { sizeText } from '../../text/numbers.js';
import { bad, type Check, type Finding, ok, type Place, warn } from './check.js';

export const supervisor: Check = {
  topic: 'Runs directory',
  name: 'Supervisor',
  patienceMs: 6000,
  look: async ({ runsDirectory }) => {
    const probe = await probeSupervisor(runsDirectory);
    return judgeSupervisor(probe, 'lock' in probe ? sightOf(probe.lock) : 'dead');
  },
};

/** Whether the process that holds the lock lives, as far as that can be seen from here. */
type Sight = 'up' | 'dead' | 'out of sight';

function sightOf(lock: SupervisorLock): Sight {
  if (relationTo(placeIn(lock)) === 'foreign') return 'out of sight';
  return isAlive(lock) ? 'up' : 'dead';
}

export function judgeSupervisor(probe: SupervisorProbe, sight: Sight): Finding {
  switch (probe.kind) {
    case 'none':
      return ok('not running; it starts with the first launch');
    case 'unreadable':
      return bad(
        `its lock cannot be read: ${probe.reason}`,
        'Take ownership of the folder `.supervisor`, or delete lock.json in it.',
      );
    case 'silent':
      if (sight === 'out of sight') {
        return warn(
          `process ${probe.lock.pid} on ${probe.lock.host ?? 'another host'} has the lock and cannot be reached from here`,
          'Work there. If it is gone, `memrl-tui attach` takes over when its lease has expired.',
        );
      }
      if (sight === 'dead')
        return ok(`process ${probe.lock.pid} was killed; the next launch or \`attach\` takes over its runs`);
      return bad(
        `process ${probe.lock.pid} does not answer`,
        `Kill it: \`kill -9 ${probe.lock.pid}\`. Its runs keep running, and \`memrl-tui attach\` takes them over.`,
      );
    case 'answers':
      if (probe.isOurs) return ok(`process ${probe.lock.pid} answers`);
      return warn(
        `process ${probe.lock.pid} is another version of memrl-tui`,
        `Replace it: \`kill ${probe.lock.pid}\`, then \`memrl-tui attach\`. Its runs keep running.`,
      );
  }
}

/** Bytes. The journal is written anew when it grows; a log that large holds a complaint that repeats. */
const LARGE = 256 * 2 ** 20;

export const stateFolder: Check = { topic: 'Runs directory', name: 'State', look: lookAtState };

async function lookAtState({ runsDirectory }: Place): Promise<Finding> {
  const folder = join(runsDirectory, supervisorFiles.directory);
  const own = await stat(folder).catch(() => null);
  if (own === null) return ok('none yet');
  const sizes = await Promise.all(
    [supervisorFiles.journal, supervisorFiles.log].map((name) => sizeOf(join(folder, name))),
  );
  const [journal = 0, log = 0] = sizes;
  const found = `journal ${sizeText(journal)}, log ${sizeText(log)}`;
  const open = await openToOthers(folder, own.mode);
  if (open !== null)
    return warn(`${open} can be read by others, and holds your environment`, `Run \`chmod -R go= ${folder}\`.`);
  if (log > LARGE)
    return warn(found, `Read the end of ${join(folder, supervisorFiles.log)}, fix the cause, and empty it.`);
  return journal > LARGE ? warn(found, 'Forget sweeps that you no longer need.') : ok(found);
}

/** The folder or file with secrets that others may read; null when there is none. */
async function openToOthers(folder: string, mode: number): Promise<string | null> {
  if ((mode & 0o077) === 0) return null;
  const environments = join(folder, 'environments');
  const facts = await stat(environments).catch(() => null);
  if (facts === null || (facts.mode & 0o077) === 0) return null;
  for (const name of await readdir(environments)) {
    const file = join(environments, name);
    if (((await stat(file)).mode & 0o077) !== 0) return file;
  }
  return null;
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Longer paths are cut off by the system without a word; bytes. */
const LONGEST = 107;

export const socketFolder: Check = { topic: 'Runs directory', name: 'Socket', look: lookAtFolders };

/** The supervisor takes the first folder that will do; what it will find, without making any. */
async function lookAtFolders({ environment, uid }: Place): Promise<Finding> {
  const runtime = environment['XDG_RUNTIME_DIR'];
  const folders = [
    ...(runtime ? [join(runtime, 'memrl')] : []),
    join(environment['TMPDIR'] ?? tmpdir(), `memrl-${uid}`),
    `/tmp/memrl-${uid}`,
  ];
  const reasons: string[] = [];
  for (const folder of folders) {
    const path = join(folder, '01234567.sock');
    const problem = Buffer.byteLength(path) > LONGEST ? `longer than ${LONGEST} bytes` : await problemOf(folder, uid);
    if (problem !== null) reasons.push(`${folder}: ${problem}`);
    else if (reasons.length === 0) return ok(folder);
    else return warn(`${folder}, because ${reasons[0]}`, 'Correct XDG_RUNTIME_DIR or TMPDIR, or the folder.');
  }
  return bad(`no place for it: ${reasons.join('; ')}`, 'Set XDG_RUNTIME_DIR to a short path of a folder that you own.');
}

async function problemOf(folder: string, uid: number): Promise<string | null> {
  const facts = await lstat(folder).catch(() => null);
  if (facts === null) return (await lstat(dirname(folder)).catch(() => null)) === null ? 'its parent is missing' : null;
  if (!facts.isDirectory()) return 'it is not a folder';
  if (facts.uid !== uid) return 'it belongs to someone else';
  return (facts.mode & 0o077) === 0 ? null : 'others may enter it';
}
