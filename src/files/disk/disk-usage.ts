import { type Dir, lstatSync, opendirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { readRunRecord } from '../run-directory/run-record-file.js';
import { readCheckpointRows } from './checkpoint-paths.js';

export const usageKinds = ['checkpoints', 'logs', 'metrics', 'attempts', 'other'] as const;
type UsageKind = (typeof usageKinds)[number];

/** The disk space of a directory as `du` counts it, in bytes by kind. `unread`: number of folders that are not readable. */
export type DiskUsage = Record<UsageKind, number> & { unread: number };

/** A unit of `st_blocks`, bytes. */
const BLOCK = 512;

/** The sum over all kinds. */
export function totalUsage(usage: DiskUsage): number {
  return usageKinds.reduce((sum, kind) => sum + usage[kind], 0);
}

export function addedUsage(usages: Iterable<DiskUsage>): DiskUsage {
  const sum = noUsage();
  for (const usage of usages) for (const key in usage) sum[key as keyof DiskUsage] += usage[key as keyof DiskUsage];
  return sum;
}

/** `path`: relative to the root. `kind`: of everything below it; null: entries have kinds of their own. */
type Folder = { path: string; kind: UsageKind | null };
type OpenFolder = Folder & { dir: Dir };

/**
 * Measures the directory of a run in steps, as it may hold a million entries. Counts as `du` does: blocks, not lengths, so that
 * holes are free; a file with several names once; a link itself, never its target.
 */
export class UsageReading {
  readonly usage = noUsage();
  readonly #root: string;
  readonly #seen: Set<string>;
  readonly #checkpoints: ReadonlySet<string>;
  /** Folders that have yet to be read. */
  readonly #folders: Folder[] = [];
  #open: OpenFolder | null = null;

  /** @param seen Files with several names that were already counted; shared by readings that are added up. */
  constructor(directory: string, seen: Set<string> = new Set()) {
    this.#root = directory;
    this.#seen = seen;
    const rows = readCheckpointRows(directory, readRunRecord(directory)?.cwd ?? null);
    this.#checkpoints = new Set(rows.flatMap((row) => [...row.values()]));
    const stat = statOf(directory);
    if (stat !== null) this.#count(stat, 'other');
    // A run's directory may itself be a link to another disk.
    if (stat !== null) this.#folders.push({ path: '', kind: null });
  }

  get isOver(): boolean {
    return this.#open === null && this.#folders.length === 0;
  }

  /** Reads some hundred entries, which takes 1 or 2 ms on a local disk. */
  step(entries = 200): void {
    for (let left = entries; left > 0 && !this.isOver; left--) this.#next();
  }

  /** Stops a reading early. */
  close(): void {
    this.#open?.dir.closeSync();
    this.#open = null;
    this.#folders.length = 0;
  }

  #next(): void {
    const open = this.#open ?? this.#enter();
    if (open === null) return;
    try {
      const entry = open.dir.readSync();
      if (entry === null) return this.#leave(open.dir);
      this.#look(open.path === '' ? entry.name : join(open.path, entry.name), open.kind);
    } catch {
      this.usage.unread += 1;
      this.#leave(open.dir);
    }
  }

  #enter(): OpenFolder | null {
    const { path, kind } = this.#folders.pop()!;
    try {
      this.#open = { dir: opendirSync(join(this.#root, path)), path, kind };
    } catch {
      this.usage.unread += 1;
    }
    return this.#open;
  }

  #leave(dir: Dir): void {
    this.#open = null;
    dir.closeSync();
  }

  #look(path: string, outer: UsageKind | null): void {
    const stat = statOf(join(this.#root, path));
    if (stat === null) return;
    const kind = outer ?? (this.#checkpoints.has(path) ? 'checkpoints' : kindOf(path, stat.isDirectory()));
    this.#count(stat, kind ?? 'other');
    if (stat.isDirectory()) this.#folders.push({ path, kind });
  }

  #count(stat: Stats, kind: UsageKind): void {
    if (stat.nlink > 1 && !stat.isDirectory()) {
      const key = `${stat.dev}:${stat.ino}`;
      if (this.#seen.has(key)) return;
      this.#seen.add(key);
    }
    this.usage[kind] += stat.blocks * BLOCK;
  }
}

/** Measures a directory at once, for callers that may block. */
export function readUsage(directory: string, seen?: Set<string>): DiskUsage {
  const reading = new UsageReading(directory, seen);
  while (!reading.isOver) reading.step();
  return reading.usage;
}

function noUsage(): DiskUsage {
  return { checkpoints: 0, logs: 0, metrics: 0, attempts: 0, other: 0, unread: 0 };
}

function statOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** Folders whose whole content is of one kind. */
const folderKinds: readonly [RegExp, UsageKind][] = [
  [/^(checkpoints?|ckpts?|weights)$|^(checkpoint|global_step|epoch|step)[-_=]?\d/i, 'checkpoints'],
  [/^(wandb|tensorboard|tb_logs|events)$/i, 'metrics'],
  [/^logs?$/i, 'logs'],
];
const fileKinds: readonly [RegExp, UsageKind][] = [
  [/\.(ckpt|pt|pth|safetensors|h5|orbax|msgpack)$/i, 'checkpoints'],
  [/\.(log|out|err)$/i, 'logs'],
  [/\.(jsonl|csv|tsv)$|^events\.out\.tfevents\.|^trainer_state\.json$/i, 'metrics'],
];

/** The kind of an entry by the names that training programs use. Null: the entries of a folder have kinds of their own. */
function kindOf(path: string, isFolder: boolean): UsageKind | null {
  if (path === runFiles.attempts) return 'attempts';
  const name = path.slice(path.lastIndexOf('/') + 1);
  const kinds = isFolder ? folderKinds : fileKinds;
  return kinds.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}
