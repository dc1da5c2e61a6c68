import { type SlurmOption, slurmOptions } from '../slurm-keys.js';
import { parseScript } from './parse-script.js';
import { literalText, placedAt } from './script-node.js';

/** The options in the `#SBATCH` lines of a script, which end with its first command. */
export function directives(text: string): SlurmOption[] {
  const all: SlurmOption[] = [];
  let start = 0;
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line !== '' && !line.startsWith('#')) break;
    const [, said] = /^#SBATCH\s+(.*)$/.exec(line) ?? [];
    const place = { start, end: start + raw.length };
    const [node] = said === undefined ? [] : placedAt(place, () => parseScript(said.replace(/\s#.*$/, '')));
    const words = node?.kind === 'simple' ? node.words.map((word) => literalText(word) ?? '') : [];
    all.push(...slurmOptions(words, index + 1).options);
    start += raw.length + 1;
  }
  return all;
}
