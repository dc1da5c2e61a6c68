import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../../files/make-folder.js';
import { Tail } from '../../../files/followed-file.js';
import { textOrNull } from '../../../files/regular-file.js';
import { writeWhole } from '../../../files/whole-file.js';
import type { RunId } from '../../../base/ids.js';
import { parseJsonLine } from '../../../contract/json-line.js';
import type { LaunchSpec } from '../../executor.js';
import { newestIn } from '../disk-evidence.js';
import type { QueuedJob } from '../slurm-calls.js';
import {
  addLines,
  linesIn,
  packFiles,
  type PackText,
  type QueueLine,
  type Submission,
  workerFile,
  type WorkerLine,
} from './pack-files.js';

/** Of a file with environments, bytes. */
const LARGEST = 8 << 20;
/** A line is read whole, so a longer one would not be: bytes. */
const LONGEST = 200 << 10;
/** What nobody has come back to for so long is removed, ms. */
const OLD_MS = 7 * 86_400_000;

/** A worker, as it is seen from here. Times: `performance.now()`. */
export type Worker = {
  /** Of the job: `KEY.INDEX` of its submission. */
  readonly name: string;
  readonly log: Tail;
  /** Since when the controller answers and does not know it; null: it does, or was not asked. */
  missingSince: number | null;
  /** As the controller told of it last; null: it never did. */
  seen: QueuedJob | null;
  /** What it has said of itself; null: nothing yet. */
  up: { job: number; node: string; gpus?: readonly number[] } | null;
  /** The time of its file, and since when that is the same. */
  beat: { mtimeMs: number; since: number };
  /** Whether the worker has said that it ends. */
  hasLeft: boolean;
  /** Since when the worker is known to be gone; null: it is not. */
  goneSince: number | null;
  /** Whether the worker is gone and the ends of all its runs have been reported. */
  isSettled: boolean;
};

/** Takes attempts for its workers, and gives what these have to tell. */
export class Pack {
  readonly key: string;
  readonly folder: string;
  readonly text: PackText;
  readonly workers = new Map<string, Worker>();
  /** Attempts that stand in the queue, as `ID ATTEMPT`. */
  readonly #tasks = new Set<string>();
  #unwritten: QueueLine[] = [];

  private constructor(root: string, key: string, text: PackText) {
    this.key = key;
    this.folder = join(root, key);
    this.text = text;
  }

  /** @throws What the system says. */
  static make(root: string, key: string, text: PackText): Pack {
    const pack = new Pack(root, key, text);
    makeFolder(root);
    makeFolder(pack.folder, 0o700);
    writeWhole(join(pack.folder, packFiles.pack), JSON.stringify(text), { mode: 0o600 });
    return pack;
  }

  /** One that an earlier supervisor has made; null: there is none. */
  static find(root: string, key: string): Pack | null {
    const text = parseJsonLine(textOrNull(join(root, key, packFiles.pack), LARGEST) ?? '');
    if (text === null) return null;
    const pack = new Pack(root, key, text as PackText);
    for (const line of pack.#linesOf<QueueLine>(packFiles.queue))
      if (line.kind === 'task') pack.#tasks.add(`${line.task.id} ${line.task.attempt}`);
    for (const submission of pack.#linesOf<Submission>(packFiles.submissions)) pack.#expect(submission);
    return pack;
  }

  /** Whether a worker will come to the attempt. */
  has(id: RunId, attempt: number): boolean {
    return this.#tasks.has(`${id} ${attempt}`);
  }

  /** Puts an attempt into the queue. @returns Whether it can stand there: it has a line, which has a length. */
  take(id: RunId, spec: LaunchSpec): boolean {
    const { directory, attempt, argv, cwd, nice, needs, environment } = spec;
    const own = Object.fromEntries(
      Object.entries(environment).filter(([name, value]) => this.text.environment[name] !== value),
    );
    const task = {
      id,
      directory,
      attempt,
      argv,
      cwd,
      own,
      seconds: needs.seconds ?? null,
      ...(nice === undefined ? {} : { nice }),
    };
    const line: QueueLine = { kind: 'task', task };
    if (JSON.stringify(line).length > LONGEST) return false;
    this.#tasks.add(`${id} ${attempt}`);
    this.write(line);
    return true;
  }

  /** What is written in one turn is one write. */
  write(line: QueueLine): void {
    if (this.#unwritten.length === 0) setImmediate(() => this.#flush());
    this.#unwritten.push(line);
  }

  /** Writes down that workers are asked for, before that is done. @throws What the system says. */
  noteSubmission(submission: Submission): void {
    addLines(join(this.folder, packFiles.submissions), [submission]);
    this.#expect(submission);
  }

  /** What a worker has told since the last time. */
  newsOf({ log }: Worker): WorkerLine[] {
    return linesIn<WorkerLine>(log.read().lines);
  }

  /** The last line that its workers printed, for a person; null: none. */
  lastWords(): string | null {
    return textOrNull(join(this.folder, packFiles.log), LARGEST)?.trim().split('\n').at(-1) || null;
  }

  /** Whether a worker shows that it lives. Each does every few seconds, by the time of its file. @param quietMs For longer than that it does not. */
  isHeardOf({ name, beat }: Worker, quietMs: number): boolean {
    const mtimeMs = statSync(workerFile(this.folder, name), { throwIfNoEntry: false })?.mtimeMs;
    if (mtimeMs === undefined) return false;
    if (mtimeMs !== beat.mtimeMs) Object.assign(beat, { mtimeMs, since: performance.now() });
    return performance.now() - beat.since < quietMs;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #expect({ key, count }: Submission): void {
    for (let index = 0; index < count; index++) {
      const name = `${key}.${index}`;
      const beat = { mtimeMs: 0, since: performance.now() };
      const unseen = { missingSince: null, seen: null, up: null, hasLeft: false, goneSince: null, isSettled: false };
      this.workers.set(name, { name, log: new Tail(workerFile(this.folder, name)), beat, ...unseen });
    }
  }

  /** A disk that is full now may not be later. */
  #flush(): void {
    const lines = this.#unwritten;
    this.#unwritten = [];
    try {
      addLines(join(this.folder, packFiles.queue), lines);
    } catch {
      this.#unwritten = [...lines, ...this.#unwritten];
      setTimeout(() => this.#flush(), 1000).unref();
    }
  }

  #linesOf<Line>(file: string): Line[] {
    const tail = new Tail(join(this.folder, file));
    const lines: Line[] = [];
    for (let more = true; more;) {
      const read = tail.read();
      lines.push(...linesIn<Line>(read.lines));
      more = read.more;
    }
    return lines;
  }
}

/** Removes packs that nobody has come back to. */
export function removeOldPacks(root: string): void {
  try {
    const folders = readdirSync(root).map((name) => join(root, name));
    for (const folder of folders.filter((each) => Date.now() - newestIn(each) > OLD_MS))
      rmSync(folder, { recursive: true, force: true });
  } catch {
    // There are none, or somebody else removes them.
  }
}
