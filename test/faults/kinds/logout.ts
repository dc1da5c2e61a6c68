import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../../supervisor/testbed.js';
import type { Trial } from '../kind.js';
import type { Scene } from '../scene.js';
import { codeWrong, typed } from './typed.js';

/**
 * The user logs out and in again: his runtime directory goes, with the socket in it, and comes back empty. Or somebody deletes
 * the socket alone. Whoever comes then finds the supervisor that is there.
 */
export const logouts: readonly Trial[] = [
  {
    name: 'logout',
    why: () => null,
    undergo: (scene) =>
      after('logout', scene, () => {
        rmSync(scene.runtime, { recursive: true });
        mkdirSync(scene.runtime, { mode: 0o700 });
      }),
  },
  {
    name: 'socket deleted',
    why: () => null,
    undergo: (scene) =>
      after('the socket was deleted', scene, () => {
        for (const file of readdirSync(scene.runtime, { recursive: true, encoding: 'utf8' })) {
          if (file.endsWith('.sock')) rmSync(join(scene.runtime, file));
        }
      }),
  },
];

async function after(what: string, scene: Scene, harm: () => void): Promise<string[]> {
  const pid = scene.supervisorPid;
  harm();
  const looked = await typed(scene, ['ls', 'steady0', '--json']);
  const launched = await typed(scene, ['status', 'ordeal', '--json']);
  const stayed = await waitFor('a supervisor', () => scene.supervisorPid);
  return [
    ...codeWrong(`ls, after ${what},`, looked),
    ...codeWrong(`status, after ${what},`, launched),
    ...(stayed === pid ? [] : [`another supervisor took over after ${what}`]),
  ];
}
