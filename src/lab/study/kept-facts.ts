import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, replaceFile } from '../run/read-json.js';

/** Name of the file in the directory of a sweep; it may be removed at any time. */
const file = 'study.cache';
/** Version of the stored values: another version of the program may compute other values from the same files. */
const VERSION = 2;

type Entry = { readonly key: string; readonly value: unknown };

/**
 * A cache of what earlier studies of a sweep computed, so that the next study only computes what a new run changes. A
 * value is valid for exactly the key it was stored with. A damaged file is ignored.
 */
export class KeptFacts {
  readonly #path: string;
  readonly #known: Readonly<Record<string, Entry>>;
  readonly #used: Record<string, Entry> = {};
  #isNew = false;

  constructor(directory: string) {
    this.#path = join(directory, file);
    const { version, values } = (readJson(this.#path, revive) ?? {}) as {
      version?: unknown;
      values?: Record<string, Entry>;
    };
    this.#known = version === VERSION ? (values ?? {}) : {};
  }

  /**
   * @param name Names the value in this sweep.
   * @param by Everything that decides it, as JSON.
   * @param compute Its result must be JSON, in which numbers may be infinite.
   */
  value<Value>(name: string, by: unknown, compute: () => Value): Value {
    const key = createHash('sha256').update(JSON.stringify(by, infinite)).digest('base64url');
    const known = this.#known[name];
    const entry = known?.key === key ? known : { key, value: compute() };
    this.#isNew ||= entry !== known;
    this.#used[name] = entry;
    return entry.value as Value;
  }

  /** Stores the values that were requested. */
  save(): void {
    if (this.#isNew) replaceFile(this.#path, JSON.stringify({ version: VERSION, values: this.#used }, infinite));
  }
}

const INFINITE = '\u{221e}';

function infinite(_key: string, value: unknown): unknown {
  return value === Infinity ? INFINITE : value;
}

function revive(_key: string, value: unknown): unknown {
  return value === INFINITE ? Infinity : value;
}

/** A text that changes whenever the content of a file may have changed. */
export function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}
