import { parameterOf } from '../../../base/scalar.js';
import { cleanText } from '../../../text/display-text.js';
import { distinctNames } from '../../../text/distinct-names.js';
import { folderText, romanized } from '../../../text/romanized.js';
import type { RunSummary } from '../../state/port.js';
import { parameterText } from '../parameter-text.js';
import { varyingParametersOf } from '../varying-parameters.js';

/** Labels of runs in one list, in order: the part of each name that distinguishes it from the others. */
export function runLabels(runs: readonly RunSummary[], { isAscii }: { readonly isAscii: boolean }): readonly string[] {
  if (runs.some(({ name }) => isCut(name))) {
    const names = byParameters(runs);
    return distinctNames(isAscii ? names.map(romanized) : names);
  }
  // Without Unicode, names are shown as folders have them.
  return distinctNames(runs.map(isAscii ? ({ name }) => cleanText(name) : readableName));
}

/** Whether a name was too long for a folder, so that a hash replaces its last values. */
function isCut(name: string): boolean {
  return /^.{120,}_[0-9a-f]{8}$/.test(name);
}

/** Labels such as `lr=0.1_model=a`; the names themselves if parameters do not distinguish the runs. */
function byParameters(runs: readonly RunSummary[]): string[] {
  const varying = [...varyingParametersOf(runs).keys()];
  const names = runs.map(({ parameters }) =>
    varying
      .filter((key) => parameterOf(parameters, key) !== undefined)
      .map((key) => `${cleanText(key)}=${parameterText(parameterOf(parameters, key))}`)
      .join('_'),
  );
  return new Set(names).size === names.length ? names : runs.map(({ name }) => name);
}

/** The name with original parameter values where a folder name cannot hold them: `data-模型`, not `data-u6a21-u578b`. */
function readableName({ name, parameters }: RunSummary): string {
  let readable = cleanText(name);
  for (const key in parameters) {
    const value = parameterOf(parameters, key);
    if (typeof value !== 'string' || isFolderName.test(value)) continue;
    const written = folderText(value);
    const at = readable.indexOf(written);
    const isWord = leastWord.test(written) && !/^[\p{L}\p{N}]/u.test(readable.slice(at + written.length));
    if (at >= 0 && isWord) readable = readable.slice(0, at) + cleanText(value) + readable.slice(at + written.length);
  }
  return readable;
}

const isFolderName = /^[A-Za-z0-9._=+,@-]*$/;
/** A value is replaced only if it contains two letters or digits in a row; less could match any part of a name. */
const leastWord = /[A-Za-z0-9]{2}/;
