import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { supervisorFiles } from '../../contract/files.js';
import { ask, bad, type Check, type Finding, ok, type Place, warn } from './check.js';

/** As in package.json. */
const OLDEST = [20, 19] as const;

export const node: Check = { topic: 'Machine', name: 'Node', look: () => judgeNode(process.version) };

export function judgeNode(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  if (!isOld) return ok(version);
  return bad(`${version} is older than ${OLDEST.join('.')}`, 'Install a newer one, for example with `nvm install 22`.');
}

export const python: Check = {
  topic: 'Machine',
  name: 'Python',
  look: async (place) => {
    const version = (await ask(place, 'python3', '--version')) ?? (await ask(place, 'python', '--version'));
    return ok(version === null ? 'none on the PATH (needed only by runs in Python)' : version.replace(/^Python /, ''));
  },
};

export const git: Check = {
  topic: 'Machine',
  name: 'git',
  look: async (place) => {
    const version = await ask(place, 'git', '--version');
    if (version !== null) return ok(version.replace(/^git version /, ''));
    return warn('none on the PATH: run.json will not say which code ran', 'Install git.');
  },
};

/** A file may be this far in the future on another machine's disk, ms. */
const SLACK_MS = 120_000;

export const clock: Check = {
  topic: 'Machine',
  name: 'Clock',
  look: async (place) => {
    const now = Date.now();
    const found = new Date(now).toISOString().replace(/\..*/, 'Z');
    const ahead = (await newest(place)) - now;
    if (ahead > SLACK_MS) {
      const minutes = Math.round(ahead / 60_000);
      return warn(
        `${found}, but files of the runs are ${minutes} min ahead of it`,
        'Set the clock: `sudo timedatectl set-ntp true`.',
      );
    }
    if ((await isSynchronized(place)) !== false) return ok(found);
    return warn(`${found}, not synchronised`, 'Switch time synchronisation on: `sudo timedatectl set-ntp true`.');
  },
};

/** When the supervisor last wrote something, Unix ms. */
async function newest({ runsDirectory }: Place): Promise<number> {
  const { directory, journal, log } = supervisorFiles;
  const files = ['', join(directory, journal), join(directory, log)].map((name) => join(runsDirectory, name));
  const times = await Promise.all(
    files.map((file) =>
      stat(file)
        .then(({ mtimeMs }) => mtimeMs)
        .catch(() => 0),
    ),
  );
  return Math.max(...times);
}

/** Null: nobody can say. */
async function isSynchronized(place: Place): Promise<boolean | null> {
  if (!existsSync('/run/systemd/system')) return null;
  const answer = await ask(place, 'timedatectl', 'show', '--property=NTPSynchronized', '--value');
  return answer === 'yes' ? true : answer === 'no' ? false : null;
}
