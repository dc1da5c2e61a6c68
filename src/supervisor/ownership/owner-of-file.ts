import type { RunId } from '../../base/ids.js';
import type { Evidence } from '../../contract/written-files.js';

/** A period in which a run was up. `since`: the start of its first attempt. `to` null: it is up. Unix ms. */
export type Life = {
  readonly id: RunId;
  readonly attempt: number;
  readonly since: number;
  readonly from: number;
  readonly to: number | null;
};

/** What is known of a file outside the directories of runs. Times: Unix ms. */
export type FileFacts = {
  /** Creation time; null: the file system does not record it. */
  readonly born: number | null;
  readonly changed: number;
  /** The runs that were seen to have it open for writing, and how often. */
  readonly openers: ReadonlyMap<RunId, number>;
  /** The run whose pid is in its name; `other`: the pid is of no known run; null: its name has none. */
  readonly writer: RunId | 'other' | null;
  /** The only run whose command names it. */
  readonly named: RunId | null;
  readonly inFolderOf: RunId | null;
  /** Runs that were seen with a file of that name of their own. */
  readonly withTheirOwn: readonly RunId[];
  /** Lives of the runs that work in a folder above it. */
  readonly lives: readonly Life[];
  /** The owner that was found before. */
  readonly owner: { readonly id: RunId; readonly by: Evidence } | null;
};

/**
 * `several`: more than one run wrote to it. `either`: one of several wrote it, and it is unknown which. `older`: it was written
 * before the run began. `unknown`: there is no evidence for a run yet.
 */
export type Verdict =
  | { kind: 'own'; id: RunId; by: Evidence }
  | { kind: 'several' | 'either' | 'older'; ids: readonly RunId[] }
  | { kind: 'unknown' };

/**
 * A file's time may precede a run's recorded start by at most this, ms: files have the time of the kernel's last tick, and a run
 * starts a moment before that is recorded.
 */
export const EARLY_MS = 50;
/** The usual size of that difference, ms: runs that ended so shortly before another began can be told from it. */
const TICK_MS = 10;
/** A file written up to so long after a run's end may still be from that run, ms. */
const LATE_MS = 1000;
/** A file that was seen open so often is kept open: one that several runs open for each row is hardly seen open twice. */
const KEPT_OPEN = 2;

const unknown: Verdict = { kind: 'unknown' };

/** The owner of a file: one run, or none. If two runs may have written it, it has none. */
export function ownerOf(facts: FileFacts): Verdict {
  const writers = writersOf(facts);
  if (writers.length > 1) return { kind: 'several', ids: writers };
  const { openers, owner, named, inFolderOf } = facts;
  const writer = writerOf(facts);
  const [opener] = openers.keys();
  if (isRun(writer)) return { kind: 'own', id: writer, by: 'name' };
  if (opener !== undefined) return ofOpener(facts, opener);
  if (owner !== null) return stillOf(facts, owner);
  if (named !== null) return ofNamed(facts, named);
  // A foreign program wrote it, which happens to run in the same folder.
  if (writer === 'other') return unknown;
  return inFolderOf === null ? ofThosePresent(facts) : { kind: 'own', id: inFolderOf, by: 'folder' };
}

/** The runs that are known to have written it. */
function writersOf(facts: FileFacts): RunId[] {
  const { openers, owner, named } = facts;
  const writer = writerOf(facts);
  const seen = [...openers.keys(), ...(isRun(writer) ? [writer] : [])];
  const known = owner === null ? seen : [...seen, owner.id];
  return [...new Set(seen.length > 0 && named !== null ? [...known, named] : known)];
}

/**
 * The run whose pid is in the name. Pids are reused: that of a run that was not up while the file was written is a foreign
 * process's.
 */
function writerOf(facts: FileFacts): FileFacts['writer'] {
  const { writer } = facts;
  return isRun(writer) && !present(facts).some(({ id }) => id === writer) ? 'other' : writer;
}

function isRun(writer: FileFacts['writer']): writer is RunId {
  return writer !== null && writer !== 'other';
}

function ofNamed(facts: FileFacts, id: RunId): Verdict {
  return isSince(facts.changed, lifeOf(facts, id)) ? { kind: 'own', id, by: 'argument' } : unknown;
}

function ofOpener(facts: FileFacts, id: RunId): Verdict {
  const { born, owner, named, openers } = facts;
  const isKnown = owner?.id === id || named === id;
  if (!isKnown && born !== null && !isSince(born, lifeOf(facts, id))) return { kind: 'older', ids: [id] };
  const isAlone = present(facts).every((life) => life.id === id || facts.withTheirOwn.includes(life.id));
  if (isKnown || isAlone || openers.get(id)! >= KEPT_OPEN) return { kind: 'own', id, by: 'open' };
  return endOf(facts, id) < Infinity ? { kind: 'either', ids: idsOf(id, present(facts)) } : unknown;
}

/** The verdict on a file with a known owner, which stays until another run may have written to it. */
function stillOf(facts: FileFacts, owner: NonNullable<FileFacts['owner']>): Verdict {
  const { id, by } = owner;
  const end = endOf(facts, id);
  const isLater = ({ from, to }: Life) =>
    facts.changed > end + LATE_MS && from - TICK_MS <= facts.changed && (to ?? Infinity) >= facts.changed;
  const others = present(facts).filter((life) => life.id !== id && (by === 'alone' || isLater(life)));
  return others.length === 0 ? { kind: 'own', id, by } : { kind: 'either', ids: idsOf(id, others) };
}

function ofThosePresent(facts: FileFacts): Verdict {
  const { born } = facts;
  const there = present(facts);
  const [first] = there;
  if (first === undefined || born === null) return unknown;
  const ids = idsOf(first.id, there);
  if (ids.length === 1) return isSince(born, first) ? { kind: 'own', id: first.id, by: 'alone' } : unknown;
  return there.some((life) => isSince(born, life)) ? { kind: 'either', ids } : unknown;
}

/** The runs that were up at some time while it was written. */
function present({ born, changed, lives }: FileFacts): Life[] {
  return lives.filter(({ from, to }) => from - TICK_MS <= changed && (to ?? Infinity) >= (born ?? -Infinity));
}

function lifeOf({ lives }: FileFacts, id: RunId): Life | undefined {
  return lives.find((life) => life.id === id);
}

/** When the run's last life ended; a run without a remembered life ended long ago. */
function endOf({ lives }: FileFacts, id: RunId): number {
  const own = lives.filter((life) => life.id === id);
  return own.length === 0 ? -Infinity : Math.max(...own.map(({ to }) => to ?? Infinity));
}

function isSince(time: number, life: Life | undefined): boolean {
  return life !== undefined && time >= life.since - EARLY_MS;
}

function idsOf(first: RunId, lives: readonly Life[]): RunId[] {
  return [...new Set([first, ...lives.map(({ id }) => id)])];
}
