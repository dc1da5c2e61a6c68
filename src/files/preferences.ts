import { closeSync, lstatSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type Conf from 'conf';
import { readRegular } from './regular-file.js';
import { makeFolder } from './make-folder.js';

type Values = Record<string, unknown>;

const name = 'preferences';
/** The holder of the lock writes one small file. An older lock was left by a process that died, ms. */
const STALE_MS = 5000;
const PATIENCE_MS = 2000;
const RETRY_MS = 10;
/** Size limit in bytes. */
const LARGEST = 2 ** 24;

/** Path of the user's preferences: in `$MEMRL_CONFIG_DIR`, or else in `memrl-tui` below the XDG configuration folder. */
export function preferencesPath(environment: Readonly<Record<string, string | undefined>>): string {
  // An empty variable counts as not set, by the XDG specification.
  const own = environment['MEMRL_CONFIG_DIR'] || null;
  const shared = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] || homedir(), '.config');
  return join(own ?? join(shared, 'memrl-tui'), `${name}.json`);
}

/**
 * The user's preferences: one JSON object in one file, which several programs may use at once.
 *
 * The file is read once, when the object is created; a change is applied to the file's content at that time, so that other
 * programs' keys are kept. Callers must validate the values, as the file may be edited by hand.
 */
export class PreferencesFile {
  readonly path: string;
  /** What was wrong with the file when it was read, and what was done about it; null: nothing, or there is no file. */
  readonly problem: string | null;
  #values: Values;
  #conf: Conf<Values> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.path = path;
    const { values, problem } = readValues(path);
    this.#values = values;
    this.problem = problem;
  }

  /** The values as read, with the changes since. They include keys that this program does not know. */
  get values(): Readonly<Values> {
    return this.#values;
  }

  /**
   * Makes a change that applies at once, and is written in the background, after earlier ones.
   *
   * @param edit Returns the whole object after the change; called again with the file's content when it is written.
   * @returns Why it could not be written; null when it was. Never rejects.
   */
  change(edit: (values: Readonly<Values>) => Values): Promise<string | null> {
    this.#values = edit(this.#values);
    const written = this.#last.then(() => this.#write(edit));
    this.#last = written;
    return written;
  }

  async #write(edit: (values: Readonly<Values>) => Values): Promise<string | null> {
    try {
      makeFolder(dirname(this.path));
      const release = await lock(`${this.path}.lock`);
      try {
        // A file that was damaged since it was read is moved aside, so that the change can still be saved.
        const { values, obstacle } = readValues(this.path);
        if (obstacle !== null) throw new Error(obstacle);
        (await this.#open()).store = edit(values);
        return null;
      } finally {
        release();
      }
    } catch (error) {
      return `Preferences could not be saved in ${this.path}: ${(error as Error).message}`;
    }
  }

  /** `conf` replaces the file atomically. Loading it takes as long as opening the whole window, so it is not used for reading. */
  async #open(): Promise<Conf<Values>> {
    if (this.#conf !== null) return this.#conf;
    const { default: Conf } = await import('conf');
    // Names of sweeps contain dots.
    const options = { cwd: dirname(this.path), configName: name, accessPropertiesByDotNotation: false };
    return (this.#conf = new Conf<Values>({ ...options, configFileMode: 0o600 }));
  }
}

/** `obstacle`: why the file is not readable, and so must not be written. */
type Read = { readonly values: Values; readonly problem: string | null; readonly obstacle: string | null };

const nothing: Read = { values: {}, problem: null, obstacle: null };

function readValues(path: string): Read {
  if (isMissing(path)) return nothing;
  const read = readRegular(path, LARGEST);
  if (read.kind === 'absent') return nothing;
  if (read.kind === 'unreadable') {
    return { values: {}, problem: `${path} cannot be read: ${read.reason}`, obstacle: read.reason };
  }
  try {
    const values: unknown = JSON.parse(read.text);
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw new Error('it is not a JSON object');
    return { ...nothing, values: values as Values };
  } catch (error) {
    return { ...nothing, problem: setAside(path, (error as Error).message) };
  }
}

/** Whether nothing is at the path, also if a parent is not a folder. */
function isMissing(path: string): boolean {
  try {
    lstatSync(path);
    return false;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** Moves a damaged file aside: a user's text is never deleted, even if it is not readable. */
function setAside(path: string, reason: string): string {
  const aside = `${path}.damaged`;
  try {
    renameSync(path, aside);
    return `${path} was damaged (${reason}); it is now ${aside}, and the defaults are used.`;
  } catch (error) {
    return `${path} is damaged (${reason}) and could not be moved away: ${(error as Error).message}`;
  }
}

/** Waits until no other process changes the file; returns a function that releases the lock. */
async function lock(path: string): Promise<() => void> {
  const begun = performance.now();
  for (;;) {
    try {
      closeSync(openSync(path, 'wx', 0o600));
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (isStale(path)) rmSync(path, { force: true });
      else if (performance.now() - begun > PATIENCE_MS)
        throw new Error(`another program holds ${path}`, { cause: error });
      else await delay(RETRY_MS);
    }
  }
}

function isStale(path: string): boolean {
  const age = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return age !== undefined && Date.now() - age > STALE_MS;
}
