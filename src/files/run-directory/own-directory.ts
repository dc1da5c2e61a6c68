/**
 * Checks whether the path of a run still leads to the directory that it was started in. A run may have put a link there; its target
 * belongs to someone else, and must be neither written nor deleted. A link from before the first start was made by the user, who
 * keeps runs on another disk: device and inode of its target are recorded, and it may be used as long as it leads there.
 */
import { appendFileSync, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { runFiles, supervisorFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { makeFolder } from '../make-folder.js';
import { textOrNull } from '../regular-file.js';

/** Size limit in bytes, for some hundred thousand directories. */
const LARGEST = 64 << 20;

const strange =
  'its directory is behind a symbolic link that was not there when it was first started; put the directory there itself';

/** Why nothing may be written or deleted below the directory of a run, in words; null: it is the run's own, or does not exist. */
export function directoryObstacle(directory: string): string | null {
  if (!isBehindLink(directory)) return null;
  const now = statSync(directory, { throwIfNoEntry: false });
  return now === undefined || isRemembered(directory, now) ? null : strange;
}

/**
 * Creates the directory of a run if it is missing. @throws When it is no longer the run's own, or an error of the operating system.
 */
export function ensureOwnDirectory(directory: string): void {
  const obstacle = directoryObstacle(directory);
  if (obstacle !== null) throw new Error(obstacle);
  makeFolder(directory, undefined, runsDirectoryOf(directory));
}

/** The directory of all runs, which nobody creates again for one of them. */
function runsDirectoryOf(directory: string): string {
  return dirname(dirname(directory));
}

/**
 * Creates the directory of an attempt that is about to start, and records that of its run.
 *
 * @returns Why it must not be used, in words; null: it exists. @throws The error of the operating system.
 */
export function claimDirectory(directory: string, attempt: number): string | null {
  const isLinked = isBehindLink(directory);
  const isNew = isLinked && (attempt === 1 || isEmpty(directory));
  const obstacle = isLinked && !isNew ? directoryObstacle(directory) : null;
  if (obstacle !== null) return obstacle;
  const folder = join(directory, runFiles.attempts, String(attempt));
  const linked = isLink(dirname(folder)) ? dirname(folder) : isForeignLink(folder) ? folder : null;
  if (linked !== null) return `${linked} is a symbolic link`;
  makeFolder(folder, undefined, runsDirectoryOf(directory));
  if (isNew) remember(directory);
  return null;
}

function isBehindLink(directory: string): boolean {
  return isLink(directory) || isLink(dirname(directory));
}

export function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/**
 * Whether a folder of an attempt is a foreign link. An attempt that was adopted under a later number has a link to the earlier one.
 */
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

/**
 * Whether a directory was recorded, by its inode and device. A device may get another number with a reboot; then the real path must
 * match.
 */
function isRemembered(directory: string, { dev, ino }: Pick<Stats, 'dev' | 'ino'>): boolean {
  const lines = (textOrNull(linkedFile(directory), LARGEST) ?? '').split('\n').map(parseJsonLine);
  const known = lines.findLast((line) => line?.['directory'] === directory);
  return known?.['ino'] === ino && (known['dev'] === dev || known['place'] === realpathSync(directory));
}

function linkedFile(directory: string): string {
  return join(dirname(dirname(directory)), supervisorFiles.directory, supervisorFiles.linked);
}

/** An attempt by the directory of its run and its number. */
export type AttemptPlace = { readonly directory: string; readonly number: number };

/** The number that an attempt began with, which is in the marks of its processes: one that is adopted under a later number has both. */
export function firstNumber({ directory, number }: AttemptPlace): number {
  try {
    return Number(basename(realpathSync(join(directory, runFiles.attempts, String(number))))) || number;
  } catch {
    return number;
  }
}
