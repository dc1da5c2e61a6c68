import { parseJsonLine } from '../../../contract/json-line.js';
import { stepKeyOf } from '../../counters.js';
import { valueOf } from '../csv.js';
import type { WrittenRow } from '../format.js';
import { isOfFailure } from './failure-line.js';
import { readLine } from './printed-line.js';
import { toNumber } from './printed-number.js';
import { parsePythonDict } from './python-dict.js';

/** Text before a dict that holds settings, not metrics. */
const ofSettings = /(?:config\w{0,40}|args|arguments|params|parameters|settings|options)\W{0,8}$/i;

const mayBeJson = /^\{\s{0,8}["}]/;

/**
 * The dict or JSON object in a line, with a logger's prefix before it, and pairs after it: `epoch=1 metrics={'loss': 0.5}
 * step=100`. Null also for a dict that is labelled as settings.
 */
export function objectIn(line: string): WrittenRow | null {
  const from = line.indexOf('{');
  if (from < 0) return null;
  const to = line.lastIndexOf('}') + 1;
  if (to === 0) return null;
  if (line.includes('Trial ')) return trialIn(line);
  const after = pairsIn(line.slice(to).trim());
  if (after === null || isOther(line, from)) return null;
  const text = line.slice(from, to);
  // An attempt at JSON that fails costs more than all else that is done for a line.
  const json = mayBeJson.test(text) ? parseJsonLine(text) : null;
  const row = json ?? parsePythonDict(text);
  return row === null ? null : joined(after, withAxis(withNumbers(row)));
}

/** Whether an object that begins there is a part of a message of failure, or is labelled as settings. */
function isOther(line: string, from: number): boolean {
  if (from === 0) return false;
  return isOfFailure(line) || ofSettings.test(line.slice(Math.max(0, from - 80), from));
}

/** Pairs after a dict; null: other text is there. */
function pairsIn(text: string): WrittenRow | null {
  if (text === '') return {};
  const printed = /^[\w.]{1,80} ?=/.test(text) ? readLine(text) : null;
  return printed && { ...Object.fromEntries(printed.places.map(({ name, at }) => [name, at])), ...printed.metrics };
}

/** Converts numbers that were written as texts (fairseq). */
function withNumbers(row: WrittenRow): WrittenRow {
  if (!Object.values(row).some((value) => typeof value === 'string')) return row;
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => {
      const number = typeof value === 'string' ? valueOf(value) : value;
      return [key, typeof number === 'number' ? number : value];
    }),
  );
}

const trial = /\bTrial (\d+) finished with value: (\S+) .*\bBest is trial \d+ with value: (\S+)\.$/;

function trialIn(line: string): WrittenRow | null {
  const [, number, value, best] = trial.exec(line) ?? [];
  return number === undefined
    ? null
    : { trial: Number(number), value: toNumber(value!), 'best value': toNumber(best!) };
}

/** Counters that get another name in a row. */
const aliases: ReadonlySet<string> = new Set(['num_updates', 'Epoch', 'steps', 'Step', 'Iteration']);

/** Renames a counter of the program to `step`. */
export function withAxis(row: WrittenRow): WrittenRow {
  const alias = stepKeyOf(Object.keys(row), (key) => row[key])?.key;
  if (alias === undefined || !aliases.has(alias)) return row;
  return { [alias === 'Epoch' ? 'epoch' : 'step']: row[alias], ...without(row, alias) };
}

/** Both in one row, of which the second counts. Spread, the same takes ten times as long: it is done for each line. */
export function joined(one: WrittenRow, other: WrittenRow): WrittenRow {
  return Object.assign({}, one, other);
}

export function without(row: WrittenRow, key: string): WrittenRow {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== key));
}
