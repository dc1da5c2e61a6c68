import { type SlurmOption, slurmOptions } from '../slurm-keys.js';
import { parseScript } from './parse-script.js';
import { literalText } from './script-node.js';

/** The options in the `#SBATCH` lines of a script, which end with its first command. */
export function directives(text: string): SlurmOption[] {
  const all: SlurmOption[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line !== '' && !line.startsWith('#')) break;
    const [, said] = /^#SBATCH\s+(.*)$/.exec(line) ?? [];
    const [node] = said === undefined ? [] : parseScript(said.replace(/\s#.*$/, ''));
    const words = node?.kind === 'simple' ? node.words.map((word) => literalText(word) ?? '') : [];
    all.push(...slurmOptions(words, index + 1).options);
  }
  return all;
}
