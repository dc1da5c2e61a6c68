import { systemRefusal } from '../../base/system-refusal.js';
import { obstacleOf } from '../../files/regular-file.js';

/**
 * Stores what was launched, for readers of the runs directory; each run's own parameters are in its run.json. The runs are submitted
 * by then: where the disk takes nothing more, nothing else is different.
 *
 * @returns In words why it could not be stored; null: it was.
 */
export function keepLaunched(sweepDirectory: string, write: () => void): string | null {
  try {
    write();
    return null;
  } catch (error) {
    const obstacle = obstacleOf(error);
    if (systemRefusal(error) === null || obstacle.kind !== 'unreadable') throw error;
    return (
      `The runs are submitted, but the text of the sweep could not be kept in ${sweepDirectory}: ${obstacle.reason}. ` +
      'Launch the file again when that is fixed; nothing is started twice.'
    );
  }
}
