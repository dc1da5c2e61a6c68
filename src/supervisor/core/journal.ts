import { createHash } from 'node:crypto';
import { constants, fstatSync, lstatSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SchedulerEvent } from '../../scheduler/event.js';
import {
  beginningParts,
  eventLines,
  headerLine,
  isInPages,
  type JournalContents,
  type JournalSink,
  parseInTurns,
  VERSION,
  versionMark,
} from './journal-text.js';
import { makeFolder } from '../../files/make-folder.js';

/** Minimum size at which a journal is compacted, in bytes. */
const LONG = 4 << 20;
/** A journal is compacted when it has grown by this factor since the last time. */
const GROWTH = 4;

/**
 * What was found when the journal was opened. `kept`: path of a copy of damaged contents; null: there were none. `damaged`: number
 * of damaged lines. `isNew`: there was no journal, or an empty one.
 */
export type JournalPast = { kept: string | null; damaged: number; isNew: boolean };

type OpenedJournal = { journal: Journal; contents: JournalContents; past: JournalPast };

type Opened = { end: number; version: number; damaged: number };

/** What a journal can be rewritten from. */
type JournalSource = {
  /** The state after all events appended so far, as plain JSON, or a promise of it: none is appended meanwhile. */
  snapshot: () => unknown;
  /** Whether this supervisor still owns the runs directory: another one's journal must not be overwritten. */
  isOurs: () => boolean;
  log: (line: string) => void;
};

/**
 * The list of all events, one a line; `step` derives the state from it.
 *
 * An appended event would survive a power failure. Events that arrive while the disk is busy are written together and share one
 * sync. A long journal is compacted: a snapshot replaces all earlier events. If someone deletes, replaces or truncates the file, it
 * is rewritten from the state in memory, which is more complete.
 */
export class Journal {
  readonly #path: string;
  #file: FileHandle;
  /** Size in bytes of the promised contents. Anything beyond it is truncated. */
  #end: number;
  /** Size in bytes from which on the journal is compacted. */
  #long = LONG;
  #version: number;
  #source: JournalSource | null = null;
  /** Whether some lines were invalid when it was opened. */
  #isDamaged: boolean;
  /** Whether the file's name is not yet synced: a power failure could still remove it, or restore the old file under it. */
  #isNew: boolean;

  private constructor(path: string, file: FileHandle, { end, version, damaged }: Opened) {
    this.#path = path;
    this.#file = file;
    this.#end = end;
    this.#version = end === 0 ? VERSION : version;
    this.#isDamaged = damaged > 0;
    this.#isNew = end === 0;
  }

  /**
   * Opens the journal, or creates one. An incomplete line that a crash left at its end is cut off. Damaged contents are copied
   * beside it before anything is written.
   *
   * @param sink Receives the contents, which the result then lacks.
   *
   * @throws {UserError} When another version wrote it, or its snapshot is damaged. The file is not changed.
   */
  static async open(path: string, sink?: JournalSink): Promise<OpenedJournal> {
    makeFolder(dirname(path), 0o700);
    const aside = await setAside(path);
    const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      const bytes = await file.readFile();
      const { end, version, damaged, ...contents } = await parseInTurns(bytes, path, sink);
      const kept = damaged > 0 ? await keep(path, bytes) : aside;
      await file.truncate(end);
      const journal = new Journal(path, file, { end, version, damaged });
      if (end === 0) await journal.#write([headerLine]);
      return { journal, contents, past: { kept, damaged, isNew: bytes.length === 0 && aside === null } };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Sets what the journal can be rewritten from when it is long or was deleted. Without it, neither is handled. */
  standsFor(source: JournalSource): void {
    this.#source = source;
  }

  /**
   * Resolves when all these events would survive a crash; rejects, with none of them kept, when the disk refuses. One call at a
   * time.
   */
  async append(events: readonly SchedulerEvent[]): Promise<void> {
    if (this.#source !== null && !this.#isInPlace()) await this.#restore(this.#source);
    else if (this.#source !== null && this.#isUnwieldy()) await this.#shorten(this.#source);
    if (this.#version > 0 && this.#version < VERSION) await this.#raiseVersion();
    await this.#write(blocksOf(events));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #write(blocks: Iterable<string>): Promise<void> {
    let end = this.#end;
    try {
      for (const block of blocks) {
        const bytes = Buffer.from(block);
        await writeAll(this.#file, bytes, end);
        end += bytes.length;
      }
      await this.#file.datasync();
      if (this.#isNew) await syncFolder(this.#path);
    } catch (error) {
      await this.#file.truncate(this.#end).catch(() => undefined);
      throw error;
    }
    this.#isNew = false;
    this.#end = end;
  }

  /** Whether the file is unchanged since the last write, and still at its path. */
  #isInPlace(): boolean {
    const there = statSync(this.#path, { throwIfNoEntry: false });
    const ours = fstatSync(this.#file.fd);
    return there?.ino === ours.ino && there.dev === ours.dev && there.size === this.#end;
  }

  /** Whether the journal should be compacted: it is too long, or has damaged lines. */
  #isUnwieldy(): boolean {
    return this.#end > this.#long || this.#isDamaged;
  }

  async #restore(source: JournalSource): Promise<void> {
    if (!source.isOurs()) throw new Error('another supervisor has taken over the runs directory');
    await this.#writeAnew(source);
    source.log('the journal was deleted or changed by someone else; it is rewritten from memory');
  }

  /** Compacts the journal. A failure does no harm, as the long one stays valid. */
  async #shorten(source: JournalSource): Promise<void> {
    try {
      await this.#writeAnew(source);
    } catch (error) {
      [this.#long, this.#version] = [this.#end * 2, this.#version || VERSION];
      this.#isDamaged = false;
      source.log(`the journal could not be shortened: ${(error as Error).message}`);
    }
  }

  /** Rewrites the journal: until the rename the old file is complete, and from then on the new one is. */
  async #writeAnew(source: JournalSource): Promise<void> {
    const parts = beginningParts(await source.snapshot());
    const draft = `${this.#path}.tmp`;
    makeFolder(dirname(this.#path), 0o700, dirname(dirname(this.#path)));
    const file = await open(draft, 'w+', 0o600);
    let end = 0;
    try {
      for (const part of parts) {
        const bytes = Buffer.from(part);
        await writeAll(file, bytes, end);
        end += bytes.length;
      }
      await file.sync();
      await rename(draft, this.#path);
    } catch (error) {
      await file.close();
      await unlink(draft).catch(() => undefined);
      throw error;
    }
    await this.#file.close().catch(() => undefined);
    [this.#file, this.#end, this.#version, this.#isNew] = [file, end, VERSION, true];
    this.#isDamaged = false;
    this.#long = Math.max(LONG, GROWTH * end);
  }

  /**
   * Upgrades the header, so that an older program does not treat new kinds of lines as damage. A single byte changes, so the write
   * is atomic.
   */
  async #raiseVersion(): Promise<void> {
    await writeAll(this.#file, Buffer.from(versionMark), 0);
    await this.#file.datasync();
    this.#version = VERSION;
  }
}

/**
 * The text of events in one block, except that a submission of many runs is written page by page, so that other work gets its turn.
 */
function* blocksOf(events: readonly SchedulerEvent[]): Generator<string> {
  let block = '';
  for (const event of events) {
    for (const line of eventLines(event)) {
      block += line;
      if (!isInPages(event)) continue;
      yield block;
      block = '';
    }
  }
  if (block !== '') yield block;
}

/** Moves anything but a file (a folder, a pipe, a link) away, without opening it. Returns its new path. */
async function setAside(path: string): Promise<string | null> {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined || there.isFile()) return null;
  const aside = `${path}.damaged-${there.ino}`;
  await rename(path, aside);
  return aside;
}

/** Copies damaged contents, under a name with their hash: once, however often the journal is opened. Returns the path. */
async function keep(path: string, bytes: Buffer): Promise<string> {
  const kept = `${path}.damaged-${createHash('sha256').update(bytes).digest('hex').slice(0, 8)}`;
  if (lstatSync(kept, { throwIfNoEntry: false })?.size === bytes.length) return kept;
  const draft = `${kept}.tmp`;
  await writeFile(draft, bytes, { mode: 0o600, flush: true });
  await rename(draft, kept);
  return kept;
}

/** Writes all bytes at an offset. */
export async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  // A nearly full disk accepts only some of the bytes, and reports only their number.
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

/** Syncs the file's folder, so that names in it survive a power failure. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
