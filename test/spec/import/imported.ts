import { type Imported, importSweep } from '../../../src/spec/import/formats.js';
import { planOf } from '../sweeps.js';

type Options = { command?: readonly string[]; files?: Readonly<Record<string, string>> };

/** The sweep file made of a text. */
export function imported(text: string, path: string, { command = [], files = {} }: Options = {}): Imported {
  return importSweep({ text, path, command, readFile: (name) => files[name] ?? null });
}

/** The commands of its plan, in order, with the words joined by blanks; a word with a blank is in brackets. */
export function commandsOf({ text }: Pick<Imported, 'text'>): string[] {
  return planOf(text).runs.map(({ argv }) => argv.map((word) => (/\s|^$/.test(word) ? `⟨${word}⟩` : word)).join(' '));
}
