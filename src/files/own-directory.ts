/**
 * Whether the path of a run still leads to the directory that it was started in. A run may have put a link there; what is behind
 * it is someone else's, to be neither written nor deleted. A link that was there before the first start is a person's, who keeps
 * runs on another disk: device and inode of what it led to are remembered, and it may be used as long as it leads there.
 */
import { appendFileSync, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runFiles, supervisorFiles } from '../contract/files.js';
import { parseJsonLine } from '../contract/json-line.js';
import { makeFolder } from './make-folder.js';
import { textOrNull } from './regular-file.js';

/** Of some hundred thousand directories, bytes. */
const LARGEST = 64 << 20;

const strange =
  'its directory is behind a symbolic link that was not there when it was first started; put the directory there itself';

/** Why nothing may be written or deleted below the directory of a run, in words; null: it is its own, or not there. */
export function directoryObstacle(directory: string): string | null {
  if (!isBehindLink(directory)) return null;
  const now = statSync(directory, { throwIfNoEntry: false });
  return now === undefined || isRemembered(directory, now) ? null : strange;
}

/** Makes the directory of a run where it is missing. @throws When it is not its own any more, or what the system says. */
export function ensureOwnDirectory(directory: string): void {
  const obstacle = directoryObstacle(directory);
  if (obstacle !== null) throw new Error(obstacle);
  makeFolder(directory);
}

/**
 * Makes the directory of an attempt that is about to start, and remembers that of its run.
 *
 * @returns Why it must not be, in words; null: it is there. @throws What the system says.
 */
export function claimDirectory(directory: string, attempt: number): string | null {
  const isLinked = isBehindLink(directory);
  const isNew = isLinked && (attempt === 1 || isEmpty(directory));
  const obstacle = isLinked && !isNew ? directoryObstacle(directory) : null;
  if (obstacle !== null) return obstacle;
  const folder = join(directory, runFiles.attempts, String(attempt));
  const linked = isLink(dirname(folder)) ? dirname(folder) : isForeignLink(folder) ? folder : null;
  if (linked !== null) return `${linked} is a symbolic link`;
  makeFolder(folder);
  if (isNew) remember(directory);
  return null;
}

function isBehindLink(directory: string): boolean {
  return isLink(directory) || isLink(dirname(directory));
}

export function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** An attempt that was taken over as a later one has a link of that number. */
function isForeignLink(folder: string): boolean {
  return isLink(folder) && !/^\d+$/.test(readlinkSync(folder));
}

function isEmpty(directory: string): boolean {
  return statSync(directory, { throwIfNoEntry: false }) === undefined || readdirSync(directory).length === 0;
}

function remember(directory: string): void {
  const { dev, ino } = statSync(directory);
  if (isRemembered(directory, { dev, ino })) return;
  appendFileSync(linkedFile(directory), `${JSON.stringify({ directory, dev, ino, place: realpathSync(directory) })}\n`);
}

/** The number of a device may be another one after the machine was started anew. */
function isRemembered(directory: string, { dev, ino }: Pick<Stats, 'dev' | 'ino'>): boolean {
  const lines = (textOrNull(linkedFile(directory), LARGEST) ?? '').split('\n').map(parseJsonLine);
  const known = lines.findLast((line) => line?.['directory'] === directory);
  return known?.['ino'] === ino && (known['dev'] === dev || known['place'] === realpathSync(directory));
}

function linkedFile(directory: string): string {
  return join(dirname(dirname(directory)), supervisorFiles.directory, supervisorFiles.linked);
}
