import { spawnSync } from 'node:child_process';
import type { Trial } from '../kind.js';
import type { Scene } from '../scene.js';
import { submitWords } from './clients.js';
import { codeWrong, typed } from './typed.js';

/** Words that put a program into a PID namespace of its own, from where pids of here mean something else. */
const elsewhere = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

/** The same in a container: of this machine it sees the runs directory, and not the sockets. */
function container({ runtime }: Scene): string[] {
  return [...elsewhere, 'sh', '-c', 'mount -t tmpfs none "$0" && exec "$@"', runtime];
}

/**
 * Somebody comes from a PID namespace of his own, with and without a way to the supervisor's socket. He sees what there is, or
 * why he cannot; and neither deposes the supervisor nor loses or doubles a run.
 */
export const strangers: readonly Trial[] = [
  { name: 'visit from another PID namespace', why: whyNot, undergo: (scene) => visit(scene, elsewhere, [0]) },
  { name: 'visit from a container', why: whyNot, undergo: (scene) => visit(scene, container(scene), [2]) },
];

/** @param codes That a launch may end with: where it is refused, it may not be half done. */
async function visit(scene: Scene, where: readonly string[], codes: readonly number[]): Promise<string[]> {
  return sameSupervisor(scene, async () => [
    ...codeWrong('ls from another PID namespace', await typed(scene, ['ls', 'steady'], { before: where }), [
      0,
      ...codes,
    ]),
    ...codeWrong('status from another PID namespace', await typed(scene, ['status', '--json'], { before: where }), [
      0,
      ...codes,
    ]),
    ...codeWrong(
      'a launch from another PID namespace',
      await typed(scene, submitWords(scene, 2), { before: where }),
      codes,
    ),
  ]);
}

async function sameSupervisor(scene: Scene, act: () => Promise<string[]>): Promise<string[]> {
  const pid = scene.supervisorPid;
  const wrong = await act();
  const { runs } = scene.fleet;
  const lost = [...runs.values()].filter(({ name, state }) => name.startsWith('steady') && state !== 'running');
  return [
    ...wrong,
    ...(scene.supervisorPid === pid ? [] : ['the supervisor was deposed from another PID namespace']),
    ...lost.map(({ name, state }) => `${name} is ${state} after a visit from another PID namespace`),
  ];
}

function whyNot(): string | null {
  const [first, ...rest] = [...elsewhere, 'true'];
  return spawnSync(first, rest).status === 0 ? null : 'unshare --pid is not permitted here (it takes root)';
}
