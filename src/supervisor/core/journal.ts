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

/** A journal shorter than this is not worth shortening, bytes. */
const LONG = 4 << 20;
/** It is shortened when it is so many times as long as it was after the last time. */
const GROWTH = 4;

/**
 * What was found when it was opened. `kept`: where what could not be understood is kept; null: there was nothing of that kind.
 * `damaged`: lines. `isNew`: there was no journal, or nothing in it.
 */
export type JournalPast = { kept: string | null; damaged: number; isNew: boolean };

type OpenedJournal = { journal: Journal; contents: JournalContents; past: JournalPast };

type Opened = { end: number; version: number; damaged: number };

/** What a journal can be written anew from. */
type JournalSource = {
  /** The state that all events appended so far have led to, as plain JSON, or a promise of it: none is appended meanwhile. */
  snapshot: () => unknown;
  /** Whether the runs directory is still ours: nobody may write over the journal of another supervisor. */
  isOurs: () => boolean;
  log: (line: string) => void;
};

/**
 * The list of all that has happened, one event a line; the state is what `step` makes of it.
 *
 * An event counts once it is here: it would survive the power going out. Events that come while the disk is busy are
 * written together and share one sync. When it has grown long, one line takes the place of all that came before. When
 * someone deletes, replaces or cuts the file, it is written anew: what is known here is more than what is there.
 */
export class Journal {
  readonly #path: string;
  #file: FileHandle;
  /** Bytes that are promised. What lies beyond them is taken back. */
  #end: number;
  /** Bytes from which on it is long. */
  #long = LONG;
  #version: number;
  #source: JournalSource | null = null;
  /** Some of it made no sense when it was opened. */
  #isDamaged: boolean;
  /** The file is new under its name, and a power cut could still take the name away, or give it back to the old one. */
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
   * Opens the journal, or begins one. What a crash left half-written at its end is cut off.
   *
   * @param sink Gets what is in it instead of `contents`.
   * What cannot be understood is kept beside it before anything is written.
   *
   * @throws {UserError} When another version wrote it, or what it goes on from is damaged. It is left as it is.
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

  /** Says what it can be written anew from, when it is long or gone. Without it, neither is seen to. */
  standsFor(source: JournalSource): void {
    this.#source = source;
  }

  /**
   * Resolves when all these events would survive a crash; rejects, with none of them kept, when the disk refuses.
   * One call at a time.
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

  /** Nobody but us has touched the file, and it is still what its name stands for. */
  #isInPlace(): boolean {
    const there = statSync(this.#path, { throwIfNoEntry: false });
    const ours = fstatSync(this.#file.fd);
    return there?.ino === ours.ino && there.dev === ours.dev && there.size === this.#end;
  }

  /** Too long, or damaged: what it says is worth more without that. */
  #isUnwieldy(): boolean {
    return this.#end > this.#long || this.#isDamaged;
  }

  async #restore(source: JournalSource): Promise<void> {
    if (!source.isOurs()) throw new Error('another supervisor has taken over the runs directory');
    await this.#writeAnew(source);
    source.log('the journal was deleted or changed by someone else; it is rewritten from memory');
  }

  /** That it cannot be done is no harm: the long one is as good. */
  async #shorten(source: JournalSource): Promise<void> {
    try {
      await this.#writeAnew(source);
    } catch (error) {
      [this.#long, this.#version] = [this.#end * 2, this.#version || VERSION];
      this.#isDamaged = false;
      source.log(`the journal could not be shortened: ${(error as Error).message}`);
    }
  }

  /** Until the moment of the renaming the old file is whole, and from then on the new one is. */
  async #writeAnew(source: JournalSource): Promise<void> {
    const parts = beginningParts(await source.snapshot());
    const draft = `${this.#path}.tmp`;
    makeFolder(dirname(this.#path), 0o700);
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

  /** So that an older program does not take what it cannot read for damage. One byte changes, so it is done or it is not. */
  async #raiseVersion(): Promise<void> {
    await writeAll(this.#file, Buffer.from(versionMark), 0);
    await this.#file.datasync();
    this.#version = VERSION;
  }
}

/** All in one, but a submission of many runs page by page: others have their turn while one is written. */
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

/** Something that is no file (a folder, a pipe, a link) is moved out of the way, and not looked into. Gives its new path. */
async function setAside(path: string): Promise<string | null> {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined || there.isFile()) return null;
  const aside = `${path}.damaged-${there.ino}`;
  await rename(path, aside);
  return aside;
}

/** Keeps what cannot all be read, under a name of its content: once, however often it is opened. Gives the path. */
async function keep(path: string, bytes: Buffer): Promise<string> {
  const kept = `${path}.damaged-${createHash('sha256').update(bytes).digest('hex').slice(0, 8)}`;
  if (lstatSync(kept, { throwIfNoEntry: false })?.size === bytes.length) return kept;
  const draft = `${kept}.tmp`;
  await writeFile(draft, bytes, { mode: 0o600, flush: true });
  await rename(draft, kept);
  return kept;
}

/** Writes all bytes from there on. */
export async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  // A disk that is nearly full takes a part, and says so only by the number of bytes.
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

/** Makes the names in the file's folder survive a power cut. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  await folder.sync().finally(() => folder.close());
}
