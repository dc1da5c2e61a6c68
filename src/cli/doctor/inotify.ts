import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { numberIn } from './ask.js';
import { type Check, type Finding, ok, type Place, warn } from './check.js';
import { countText } from './limits.js';

/** The list of what is in use is not worth more time, ms. */
const PATIENCE_MS = 300;
/** Each live run has some files that are watched. */
const FEW_WATCHES = 1000;
const FEW_INSTANCES = 5;

export const watches: Check = {
  topic: 'Limits',
  name: 'File watches',
  look: async ({ uid }: Place) => {
    const [most, instances] = await Promise.all([
      numberIn('/proc/sys/fs/inotify/max_user_watches'),
      numberIn('/proc/sys/fs/inotify/max_user_instances'),
    ]);
    if (most === null || instances === null) return ok('not limited here');
    return judgeWatches({ watches: most, instances }, usageOf(uid));
  },
};

type Count = { watches: number; instances: number };

/** @param most Allowed for one user. @param used By all processes of this user that were looked at. */
export function judgeWatches(most: Count, used: Count): Finding {
  const found = `${countText(used.watches)} of ${countText(most.watches)} used, by ${used.instances} of ${most.instances} watchers`;
  if (most.instances - used.instances < FEW_INSTANCES) {
    return warn(found, 'Raise it: `sudo sysctl fs.inotify.max_user_instances=1024`. Until then metrics come late.');
  }
  if (most.watches - used.watches < FEW_WATCHES) {
    return warn(found, 'Raise it: `sudo sysctl fs.inotify.max_user_watches=524288`. Until then metrics come late.');
  }
  return ok(found);
}

/** Counts what the user's processes watch. */
function usageOf(uid: number): Count {
  const end = performance.now() + PATIENCE_MS;
  const used: Count = { watches: 0, instances: 0 };
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || performance.now() > end) continue;
    for (const file of watchersOf(pid, uid)) {
      used.instances += 1;
      used.watches += linesOf(file);
    }
  }
  return used;
}

function watchersOf(pid: string, uid: number): string[] {
  try {
    if (statSync(`/proc/${pid}`).uid !== uid) return [];
    const open = readdirSync(`/proc/${pid}/fd`);
    return open.filter((fd) => isWatcher(`/proc/${pid}/fd/${fd}`)).map((fd) => `/proc/${pid}/fdinfo/${fd}`);
  } catch {
    return [];
  }
}

function isWatcher(link: string): boolean {
  try {
    return readlinkSync(link) === 'anon_inode:inotify';
  } catch {
    return false;
  }
}

function linesOf(file: string): number {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('inotify ')).length;
  } catch {
    return 0;
  }
}
