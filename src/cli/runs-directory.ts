import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { obstacleOf } from '../files/regular-file.js';

/** File systems in which the kernel tells of itself (proc, sysfs, cgroup, cgroup2, devpts): to make a folder there may never end. */
const madeByKernel = [0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x1cd1];

/** Why there can be no runs directory here, in words; null: nothing is wrong with the place. It need not be there yet. */
export function obstacleAt(directory: string): string | null {
  try {
    const stat = statSync(directory, { throwIfNoEntry: false });
    if (stat === undefined) return dirname(directory) === directory ? null : obstacleAt(dirname(directory));
    if (!stat.isDirectory()) return 'it, or a part of its path, is a file';
    return madeByKernel.includes(statfsSync(directory).type) ? 'what is there is made by the system' : null;
  } catch (error) {
    const obstacle = obstacleOf(error);
    return obstacle.kind === 'absent' ? null : obstacle.reason;
  }
}
