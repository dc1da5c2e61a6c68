import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UserError } from '../base/user-error.js';
import { SchedulerEvent } from '../scheduler/event.js';

const header = { type: 'journal', version: 1 } as const;

/** What was found in a journal. `dropped`: lines that were torn by a crash or make no sense, cut short. */
export type JournalContents = { events: SchedulerEvent[]; dropped: string[] };

/**
 * The list of all that has happened, one event a line; the state is what `step` makes of it.
 *
 * An event counts once it is here: it would survive the power going out. Events that come while the disk is busy are
 * written together and share one sync.
 */
export class Journal {
  readonly #file: FileHandle;
  /** Bytes that are promised. What lies beyond them is taken back. */
  #end: number;

  private constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.#end = end;
  }

  /** Opens the journal, or begins one. What a crash left half-written at its end is cut off. */
  static async open(path: string): Promise<{ journal: Journal; contents: JournalContents }> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, 'a+', 0o600).then(async (handle) => {
      await handle.close();
      return open(path, 'r+');
    });
    const { end, ...contents } = parseJournal(await file.readFile(), path);
    await file.truncate(end);
    const journal = new Journal(file, end);
    if (end === 0) await journal.#write(`${JSON.stringify(header)}\n`);
    return { journal, contents };
  }

  /** Resolves when all these events would survive a crash; rejects, with none of them kept, when the disk refuses. One call at a time. */
  async append(events: readonly SchedulerEvent[]): Promise<void> {
    await this.#write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    try {
      // A disk that is nearly full takes a part, and says so only by the number of bytes.
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, this.#end + done);
        done += bytesWritten;
      }
      await this.#file.datasync();
      this.#end += bytes.length;
    } catch (error) {
      await this.#file.truncate(this.#end).catch(() => undefined);
      throw error;
    }
  }
}

/** Reads what is whole. `end`: bytes up to the last line that makes sense. */
export function parseJournal(bytes: Buffer, path: string): JournalContents & { end: number } {
  const events: SchedulerEvent[] = [];
  const dropped: string[] = [];
  let end = 0;
  for (let from = 0; from < bytes.length;) {
    const newline = bytes.indexOf(10, from);
    const to = newline < 0 ? bytes.length : newline;
    const value = newline < 0 ? undefined : jsonOf(bytes.toString('utf8', from, to));
    const event = from === 0 ? checkHeader(value, path) : SchedulerEvent.safeParse(value).data;
    if (event !== undefined) end = to + 1;
    else dropped.push(bytes.toString('utf8', from, Math.min(to, from + 200)).replaceAll('\0', '␀'));
    if (event !== undefined && event !== null) events.push(event);
    from = to + 1;
  }
  return { events, dropped, end };
}

/** Null for our header, undefined for a torn one. */
function checkHeader(value: unknown, path: string): null | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, version } = value as { type?: unknown; version?: unknown };
  if (type === header.type && version === header.version) return null;
  throw new UserError(
    `${path} was written by another version of memrl-tui (${String(type)} ${String(version)}).`,
    'Use the version that wrote it, or move the file away: the runs stay, their history of starts is forgotten.',
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
