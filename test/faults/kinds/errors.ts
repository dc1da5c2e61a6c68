import { runFiles } from '../../../src/contract/files.js';
import type { Scene } from '../scene.js';

const files = [
  ...[runFiles.metrics, runFiles.checkpoints, 'config.json', runFiles.log, runFiles.record],
  ...[`${runFiles.attempts}/1/${runFiles.exit}`, `${runFiles.attempts}/1/${runFiles.pid}`],
];
/** What a lack of rights, a bad sector, and a network file system that has lost a file say. */
const codes = ['EACCES', 'EIO', 'ESTALE'];

/** Every file that a run owns with every error. The last one: nothing at all can be done in its directory. */
export const errors = [
  ...files.flatMap((file) => codes.map((code) => ({ file, code }))),
  ...codes.map((code) => ({ file: '', code })),
];

/** From now on every program meets these errors, each in the directory of a run of its own (see `fail-at.mjs`). */
export function letFilesFail(scene: Scene): void {
  const rules = errors.map(({ file, code }, number) => `/ordeal/broken${number}/${file}:${code}`);
  scene.give('MEMRL_FAIL', () => rules.join(';'));
}
