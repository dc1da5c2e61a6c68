import { closeSync, lstatSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type Conf from 'conf';
import { readRegular } from './regular-file.js';
import { makeFolder } from './make-folder.js';

type Values = Record<string, unknown>;

const name = 'preferences';
/** Whoever holds the lock writes one small file. A lock older than this was left by a process that died, ms. */
const STALE_MS = 5000;
const PATIENCE_MS = 2000;
const RETRY_MS = 10;
/** Bytes. */
const LARGEST = 2 ** 24;

/** Where a person's preferences are kept: `$MEMRL_CONFIG_DIR`, or else `memrl-tui` below the XDG folder for such files. */
export function preferencesPath(environment: Readonly<Record<string, string | undefined>>): string {
  // An empty variable counts as not set, as the XDG specification has it.
  const own = environment['MEMRL_CONFIG_DIR'] || null;
  const shared = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] || homedir(), '.config');
  return join(own ?? join(shared, 'memrl-tui'), `${name}.json`);
}

/**
 * A person's preferences: one JSON object in one file. Several programs may have it open.
 *
 * Reads once, when it is made; a change is made to what the file holds by then, so that nobody's other keys are lost.
 * Whoever reads the values must check them: the file can be edited by hand.
 */
export class PreferencesFile {
  readonly path: string;
  /** What was wrong with the file when it was read, and what became of it; null when it was well, or not there. */
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

  /** As read, with the changes asked for since. Keys this program does not know are in it too. */
  get values(): Readonly<Values> {
    return this.#values;
  }

  /**
   * Makes a change that holds at once, and is written in the background, after those before it.
   *
   * @param edit Gives the whole object as it shall be; called again with what the file holds when it is written.
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
        // What damaged the file since it was read is put out of the way, and must not keep the change from being kept.
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

  /** `conf` replaces the file in one step. It takes as long to load as the whole window to open, so reading is done without it. */
  async #open(): Promise<Conf<Values>> {
    if (this.#conf !== null) return this.#conf;
    const { default: Conf } = await import('conf');
    // Names of sweeps have dots in them.
    const options = { cwd: dirname(this.path), configName: name, accessPropertiesByDotNotation: false };
    return (this.#conf = new Conf<Values>({ ...options, configFileMode: 0o600 }));
  }
}

/** `obstacle`: why nothing could be read, nor may be written. */
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

/** Also below what is no folder: where preferences cannot be kept there are none. */
function isMissing(path: string): boolean {
  try {
    lstatSync(path);
    return false;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** Nothing a person wrote is thrown away, even if it cannot be read. */
function setAside(path: string, reason: string): string {
  const aside = `${path}.damaged`;
  try {
    renameSync(path, aside);
    return `${path} was damaged (${reason}); it is now ${aside}, and the defaults are used.`;
  } catch (error) {
    return `${path} is damaged (${reason}) and could not be moved away: ${(error as Error).message}`;
  }
}

/** Waits until no other process changes the file; gives what ends our turn. */
async function lock(path: string): Promise<() => void> {
  const begun = Date.now();
  for (;;) {
    try {
      closeSync(openSync(path, 'wx', 0o600));
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (isStale(path)) rmSync(path, { force: true });
      else if (Date.now() - begun > PATIENCE_MS) throw new Error(`another program holds ${path}`, { cause: error });
      else await delay(RETRY_MS);
    }
  }
}

function isStale(path: string): boolean {
  const age = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return age !== undefined && Date.now() - age > STALE_MS;
}
