import type { RunId } from '../../base/ids.js';
import type { Evidence, WrittenFiles } from '../../contract/written-files.js';
import { sourceOf } from '../../metrics/metrics-file.js';
import { type FileFacts, ownerOf, type Verdict } from './owner-of-file.js';
import type { SeenFile } from './place.js';

/** A run's own file, or one that it may have written. */
export type BookedFile = { readonly path: string } & (
  | { readonly is: 'own'; readonly by: Evidence; readonly attempt: number; readonly sharers: readonly RunId[] }
  | { readonly is: 'refused'; readonly kind: 'several' | 'either' | 'older'; readonly others: readonly RunId[] }
);

type Tracked = {
  seen: SeenFile;
  readonly openers: Map<RunId, number>;
  owner: { readonly id: RunId; readonly by: Evidence; readonly attempt: number } | null;
  refusal: Extract<Verdict, { ids: unknown }> | null;
  /** At which look it was seen first. */
  readonly look: number;
  /** What is read with it as one (`Recognition.source`); null: it is by itself. Undefined: not known to be one of metrics. */
  source: string | null | undefined;
};

/** What is still to be found out of a file. */
export type Circumstances = Pick<FileFacts, 'writer' | 'named' | 'inFolderOf' | 'withTheirOwn' | 'lives'> & {
  attemptOf: (id: RunId) => number;
};

/** A file that nobody is seen to have open is told to be anybody's after so many looks. */
const PATIENCE = 2;

/** All files outside the directories of runs that some run was found to write, each with the one run whose it is, or with none. */
export class FileBook {
  readonly #files = new Map<string, Tracked>();
  readonly #ofRun = new Map<RunId, Set<string>>();
  readonly #bySource = new Map<string, Set<RunId>>();
  readonly #changed = new Set<RunId>();
  #look = 0;

  /** A further look begins. */
  turnOver(): void {
    this.#look += 1;
  }

  /** Whether there is anything new about it. */
  note(seen: SeenFile): boolean {
    const known = this.#files.get(seen.path);
    if (known === undefined) {
      const fresh = { openers: new Map(), owner: null, refusal: null, look: this.#look, source: undefined };
      this.#files.set(seen.path, { seen, ...fresh });
      return true;
    }
    const isNew = known.seen.changed !== seen.changed;
    known.seen = seen;
    // What nobody has is looked at until somebody does.
    return isNew || known.owner === null || known.owner.by === 'alone';
  }

  /** The run has it open for writing at this look. */
  opened(id: RunId, seen: SeenFile): void {
    this.note(seen);
    const { openers } = this.#files.get(seen.path)!;
    openers.set(id, (openers.get(id) ?? 0) + 1);
  }

  /** Who was seen to have it open for writing. */
  openersOf(path: string): RunId[] {
    return [...(this.#files.get(path)?.openers.keys() ?? [])];
  }

  /** Whether it was seen open, and nobody has it. */
  isWaiting(path: string): boolean {
    const file = this.#files.get(path);
    return file !== undefined && file.openers.size === 1 && file.owner === null && file.refusal?.kind !== 'older';
  }

  decide(path: string, { attemptOf, ...circumstances }: Circumstances): void {
    const file = this.#files.get(path)!;
    const { born, changed } = file.seen;
    const verdict = ownerOf({ born, changed, openers: file.openers, owner: file.owner, ...circumstances });
    if (verdict.kind === 'unknown') return;
    if (verdict.kind !== 'own') this.#refuse(path, verdict, circumstances.lives);
    else if (file.owner?.id !== verdict.id || file.owner.by !== verdict.by) {
      const { id, by } = verdict;
      this.#change(path, { owner: { id, by, attempt: file.owner?.attempt ?? attemptOf(id) }, refusal: null });
    }
    // It may have had no whole line before.
    if (file.source === undefined) this.#change(path, file);
  }

  /** What an earlier supervisor found. */
  load(id: RunId, { files, refused }: WrittenFiles): void {
    for (const { path, by, attempt } of files) this.#restore(path, { owner: { id, by, attempt }, refusal: null });
    for (const { path } of refused) {
      const ids = [...(this.#files.get(path)?.refusal?.ids ?? []), id];
      this.#restore(path, { owner: null, refusal: { kind: 'several', ids } });
    }
  }

  /** What is known of the files of a run, those of metrics alone. */
  filesOf(id: RunId): BookedFile[] {
    return [...(this.#ofRun.get(id) ?? [])].flatMap((path): BookedFile[] => {
      const { owner, refusal, source } = this.#files.get(path)!;
      if (owner?.id === id) {
        const sharers = source ? [...(this.#bySource.get(source) ?? [])].filter((each) => each !== id) : [];
        return [{ path, is: 'own', by: owner.by, attempt: owner.attempt, sharers }];
      }
      if (refusal === null || source === undefined) return [];
      return [{ path, is: 'refused', kind: refusal.kind, others: refusal.ids.filter((each) => each !== id) }];
    });
  }

  /** The runs of whose files something else is known than at the last call. */
  takeChanged(): RunId[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  forget(id: RunId): void {
    for (const path of this.#ofRun.get(id) ?? []) if (this.#files.get(path)?.owner?.id === id) this.#files.delete(path);
    this.#ofRun.delete(id);
  }

  /** Forgets what is nobody's business: there is no run left that may have written it. */
  tidy(): void {
    for (const [path, { owner, refusal }] of this.#files)
      if (owner === null && refusal === null) this.#files.delete(path);
  }

  #refuse(path: string, refusal: NonNullable<Tracked['refusal']>, lives: FileFacts['lives']): void {
    const { kind, ids } = refusal;
    const file = this.#files.get(path)!;
    const isKnown = file.refusal?.kind === kind && file.refusal.ids.length >= ids.length;
    // Who keeps it open may still be found.
    const mayBeOpen = kind === 'either' && file.owner === null && this.#look - file.look < PATIENCE;
    const isEarly = mayBeOpen && lives.some(({ id, to }) => to === null && ids.includes(id));
    if (!isKnown && !isEarly) this.#change(path, { owner: null, refusal });
  }

  #restore(path: string, finding: Pick<Tracked, 'owner' | 'refusal'>): void {
    if (!this.#files.has(path)) this.note({ path, born: null, changed: 0 });
    this.#settle(path, finding);
  }

  #change(path: string, finding: Pick<Tracked, 'owner' | 'refusal'>): void {
    const { source } = this.#files.get(path)!;
    const before = concernedBy(this.#files.get(path)!);
    const sharers = this.#settle(path, finding);
    const file = this.#files.get(path)!;
    if (source === undefined && file.source === undefined && file.owner === null) return;
    for (const id of [...before, ...concernedBy(file), ...sharers]) this.#changed.add(id);
  }

  /** Gives the other runs with which it is read as one. */
  #settle(path: string, { owner, refusal }: Pick<Tracked, 'owner' | 'refusal'>): readonly RunId[] {
    const file = this.#files.get(path)!;
    for (const id of concernedBy(file)) this.#ofRun.get(id)?.delete(path);
    Object.assign(file, { owner, refusal });
    for (const id of concernedBy(file)) this.#ofRun.set(id, (this.#ofRun.get(id) ?? new Set()).add(path));
    file.source ??= sourceOf(path);
    if (!file.source || owner === null) return [];
    const runs = this.#bySource.get(file.source) ?? new Set();
    this.#bySource.set(file.source, runs);
    const isNew = !runs.has(owner.id);
    runs.add(owner.id);
    return isNew ? [...runs] : [];
  }
}

function concernedBy({ owner, refusal }: Pick<Tracked, 'owner' | 'refusal'>): readonly RunId[] {
  return owner === null ? (refusal?.ids ?? []) : [owner.id];
}
