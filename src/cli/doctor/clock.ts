import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ask } from './ask.js';
import { type Check, ok, type Place, warn } from './check.js';

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
  const files = ['', '.supervisor/journal.jsonl', '.supervisor/log'].map((name) => join(runsDirectory, name));
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
