import { join } from 'node:path';
import { textOrNull } from './regular-file.js';

/** Size limit of the settings of Hydra, bytes. */
const LARGEST = 1 << 18;
/** In what Hydra writes of itself, as PyYAML has it. */
const jobName = /^ {2}job:\n(?: {4}.*\n)*? {4}name: ['"]?(.+?)['"]?$/m;

/** Path of the log that Hydra writes in the folder of a job, by the job's name; null: the folder is of none. */
export function hydraLog(directory: string): string | null {
  const name = jobName.exec(textOrNull(join(directory, '.hydra/hydra.yaml'), LARGEST) ?? '')?.[1];
  return name === undefined ? null : join(directory, `${name}.log`);
}
