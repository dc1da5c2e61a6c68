import { lineFormat, type LineParser } from './line-format.js';
import { tableParser } from './csv.js';

/** The episodes of one environment of stable-baselines3: `r,l,t` of each, after a comment line of JSON. */
export const monitorCsv = lineFormat({
  name: 'stable-baselines3 monitor',
  looksFor: '*monitor.csv',
  filing: 'points',
  isNamed: (name) => /(^|\.)monitor\.csv$/.test(name),
  recognise: () => ({ is: 'yes', why: 'its name' }),
  parser: (path) => monitorParser(path),
});

const names: Readonly<Record<string, string>> = { r: 'episode_reward', l: 'episode_length', t: 'episode_time' };

/** Parses episodes; the step is the sum of their lengths. */
function monitorParser(path: string): LineParser {
  const worker = /([^/]+)\.monitor\.csv$/.exec(path)?.[1];
  const prefix = worker === undefined ? 'monitor/' : `monitor/${worker}/`;
  const parse = tableParser((column) => prefix + (names[column] ?? column));
  let steps = 0;
  return (line) => {
    const row = parse(line);
    if (row === null || row === 'attempt') return row;
    const length = row[`${prefix}episode_length`];
    steps += typeof length === 'number' ? length : 0;
    return { step: steps, ...row };
  };
}
