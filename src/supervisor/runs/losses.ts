import { unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { supervisorFiles } from '../../contract/files.js';
import { textOrNull } from '../../files/regular-file.js';

/** What was lost, in words, and the sweeps that were lost with it: their directories are there, and nobody knows of them. */
const Loss = z.object({ words: z.string(), sweeps: z.array(z.string()) });
type Loss = z.infer<typeof Loss>;
const Lost = z.object({ lost: z.array(Loss) });

const FILE = 'lost.json';
const LIMIT = 1 << 20;

/**
 * What became of the supervisor's own memory, and what to do about it. Kept in a file, because the supervisor that finds it
 * may be gone before anybody looks; removed when every sweep it names has been launched again.
 */
export class Losses {
  readonly #path: string;
  readonly #known: ReadonlyMap<string, unknown>;
  readonly #losses: Loss[];
  /** Found by this supervisor, with nothing to be launched again. */
  readonly #remarks: string[] = [];

  /** @param known The sweeps that are known; may change. */
  constructor(runsDirectory: string, known: ReadonlyMap<string, unknown>) {
    this.#path = join(runsDirectory, supervisorFiles.directory, FILE);
    this.#known = known;
    this.#losses = read(this.#path);
  }

  /** @param sweeps Those that went with it. */
  note(words: string, sweeps: readonly string[]): void {
    if (sweeps.length === 0) {
      this.#remarks.push(words);
      return;
    }
    const others = this.#losses.filter((loss) => loss.words !== words);
    this.#losses.splice(0, Infinity, ...others, { words, sweeps: [...sweeps] });
    this.#write();
  }

  /** For the people who look, in one line; null: there is nothing to say. */
  words(): string | null {
    if (this.#losses.length > 0 && this.#missing().length === 0) this.#forget();
    const missing = this.#missing();
    const remedy =
      missing.length === 0
        ? []
        : [`launch ${missing.join(', ')} again: finished runs are skipped, running ones are taken over`];
    const all = [...this.#losses.map(({ words }) => words), ...this.#remarks, ...remedy];
    return all.length === 0 ? null : all.join('; ');
  }

  #missing(): string[] {
    const names = new Set(this.#losses.flatMap(({ sweeps }) => sweeps));
    return [...names].filter((name) => !this.#known.has(name));
  }

  #forget(): void {
    this.#losses.length = 0;
    try {
      unlinkSync(this.#path);
    } catch {
      // Somebody else has removed it.
    }
  }

  #write(): void {
    try {
      writeFileSync(this.#path, `${JSON.stringify({ lost: this.#losses }, null, 2)}\n`, { mode: 0o600 });
    } catch {
      // A full disk: this supervisor says it all the same.
    }
  }
}

function read(path: string): Loss[] {
  try {
    return Lost.parse(JSON.parse(textOrNull(path, LIMIT) ?? '{}')).lost;
  } catch {
    return [];
  }
}
