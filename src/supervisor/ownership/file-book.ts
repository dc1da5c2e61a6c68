import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { RunId } from '../../base/ids.js';
import type { Evidence, WrittenFiles } from '../../contract/written-files.js';
import { curvesIn, hasRunsOf, sourceOf } from '../../metrics/metrics-file.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { type FileFacts, ownerOf, type Verdict } from './owner-of-file.js';
import type { SeenFile } from './place.js';

/** A file of a run, or one that it may have written. */
type BookedFile = { readonly path: string } & (
  | { readonly is: 'own'; readonly by: Evidence; readonly attempt: number; readonly sharers: readonly RunId[] }
  | { readonly is: 'refused'; readonly kind: 'several' | 'either' | 'older'; readonly others: readonly RunId[] }
);

type Tracked = {
  seen: SeenFile;
  readonly openers: Map<RunId, number>;
  owner: { readonly id: RunId; readonly by: Evidence; readonly attempt: number } | null;
  refusal: Extract<Verdict, { ids: unknown }> | null;
  /** Number of the look at which it was first seen. */
  readonly look: number;
  /**
   * The id of the source that it is a part of (`Recognition.source`); null: it is a source of its own. Undefined: it is not known
   * to hold metrics.
   */
  source: string | null | undefined;
};

/** Facts about a file that are determined elsewhere. */
type Circumstances = Pick<FileFacts, 'writer' | 'named' | 'inFolderOf' | 'withTheirOwn' | 'lives'> & {
  attemptOf: (id: RunId) => number;
};

/** Number of looks after which a file that no run has open may be attributed by other evidence. */
const PATIENCE = 2;

/** All files outside the directories of runs that some run was found to write, each with the run it belongs to, or none. */
export class FileBook {
  readonly #files = new Map<string, Tracked>();
  readonly #ofRun = new Map<RunId, Set<string>>();
  readonly #bySource = new Map<string, Set<RunId>>();
  readonly #changed = new Set<RunId>();
  #look = 0;

  /** Starts a further look. */
  turnOver(): void {
    this.#look += 1;
  }

  /** Records a file; returns whether its owner has to be determined. */
  note(seen: SeenFile): boolean {
    const known = this.#files.get(seen.path);
    if (known === undefined) {
      const fresh = { openers: new Map(), owner: null, refusal: null, look: this.#look, source: undefined };
      this.#files.set(seen.path, { seen, ...fresh });
      return true;
    }
    const isNew = known.seen.changed !== seen.changed;
    known.seen = seen;
    // A file without an owner is examined until it has one.
    return isNew || known.owner === null || known.owner.by === 'alone';
  }

  /** Records that a run has the file open for writing at this look. */
  opened(id: RunId, seen: SeenFile): void {
    this.note(seen);
    const { openers } = this.#files.get(seen.path)!;
    openers.set(id, (openers.get(id) ?? 0) + 1);
  }

  /** The runs that were seen to have it open for writing. */
  openersOf(path: string): RunId[] {
    return [...(this.#files.get(path)?.openers.keys() ?? [])];
  }

  /** Whether it was seen open, but has no owner yet. */
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
    // It may have had no complete line before.
    if (file.source === undefined) this.#change(path, file);
  }

  /** Loads what an earlier supervisor found. */
  load(id: RunId, { files, refused }: WrittenFiles): void {
    for (const { path, by, attempt } of files) this.#restore(path, { owner: { id, by, attempt }, refusal: null });
    for (const { path } of refused) {
      const ids = [...(this.#files.get(path)?.refusal?.ids ?? []), id];
      this.#restore(path, { owner: null, refusal: { kind: 'several', ids } });
    }
  }

  /** The known files of a run, without those that do not hold metrics. */
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

  /** The runs whose files have changed since the last call. */
  takeChanged(): RunId[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  forget(id: RunId): void {
    for (const path of this.#ofRun.get(id) ?? []) if (this.#files.get(path)?.owner?.id === id) this.#files.delete(path);
    this.#ofRun.delete(id);
  }

  /** Forgets files that no remaining run can have written. */
  tidy(): void {
    for (const [path, { owner, refusal }] of this.#files)
      if (owner === null && refusal === null) this.#files.delete(path);
  }

  #refuse(path: string, refusal: NonNullable<Tracked['refusal']>, lives: FileFacts['lives']): void {
    const { kind, ids } = refusal;
    const file = this.#files.get(path)!;
    const isKnown = file.refusal?.kind === kind && file.refusal.ids.length >= ids.length;
    // A run that keeps it open may still be found.
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

  /** Sets the owner; returns the other runs with files of the same source. */
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

/** Limits on the files of one run that are recorded, and on the refused ones. */
const MOST_FILES = 256;
const MOST_REFUSED = 8;
/** Limit on the other runs that are named. */
const NAMED = 3;

/**
 * The contents of a run's `written.json`.
 *
 * @param shared Folders of `metrics.folders` that other runs use, too.
 */
export function writtenFiles(run: PlannedRun, files: readonly BookedFile[], shared: readonly string[]): WrittenFiles {
  const own = files.filter((file) => file.is === 'own').slice(0, MOST_FILES);
  const refused = files.filter((file) => file.is === 'refused').slice(0, MOST_REFUSED);
  const unread = refused.find(({ path }) => !hasRunsOf(run.directory, path));
  const doubt = unread ?? own.find(({ sharers }) => sharers.length > 0);
  const curves = unread === undefined ? [] : curvesIn(unread.path);
  const fix = doubt === undefined ? null : fixOf(run, doubt.path);
  return {
    version: 1,
    files: own.map(({ path, by, attempt }) => ({ path, by, attempt, why: evidence[by] })),
    refused: refused.map((file) => ({ path: file.path, why: whyRefused(file) })),
    shared: [...shared],
    warning:
      [doubt === undefined ? null : `${warningOf(run, doubt)}; ${fix}`, overWords(files)]
        .filter((words) => words !== null)
        .join('; ') || null,
    ...(curves.length === 0 ? {} : { curves }),
    fix,
  };
}

function overWords(files: readonly BookedFile[]): string | null {
  const over = files.filter(({ is }) => is === 'own').length - MOST_FILES;
  if (over <= 0) return null;
  return `of the files that the run writes outside its directory ${MOST_FILES} are read, and ${over} more are left out`;
}

const evidence: Readonly<Record<Evidence, string>> = {
  open: 'a process of the run had it open for writing',
  name: 'its name has the number of a process of the run',
  argument: 'of all runs, only this one names it, or a folder above it, in its command',
  folder: 'it lies in a folder in which this run keeps a file open, as the others do elsewhere',
  alone: 'no other run was up in its working directory while it was written',
};

function warningOf(run: PlannedRun, file: BookedFile): string {
  const place = relative(run.cwd, file.path);
  const where = place.startsWith('..') ? file.path : place;
  if (file.is === 'refused') return `${where} is not read: ${whyRefused(file)}`;
  const others = namesOf(file.sharers);
  return `${dirname(where)} has files of ${others}, too, which other programs take for one run`;
}

function whyRefused({ kind, others }: Extract<BookedFile, { is: 'refused' }>): string {
  const names = namesOf(others);
  switch (kind) {
    case 'several':
      return names === '' ? 'another run writes to it, too' : `${names} wrote to it, too`;
    case 'either':
      return `${names} ran beside this one while it was written, and either may have written it`;
    case 'older':
      return 'it was there before this run began, so it has the metrics of others as well';
  }
}

/** `s0, s1 and 12 others`, without the name of the sweep. */
function namesOf(ids: readonly RunId[]): string {
  const names = ids.slice(0, NAMED).map((id) => basename(id));
  const rest = ids.length - names.length;
  return rest > 0 ? `${names.join(', ')} and ${rest} others` : names.join(' and ');
}

/** Options that tell programs where to write. */
const outputOption =
  /^(?:--?)?([\w.-]*?(?:out|output|log|logs|logging|save|run|work|result|results|checkpoint|ckpt|default_root)[_-]?(?:dir|path|folder|root|directory))=/i;

/** The change of the sweep file that gives each run a file of its own. */
function fixOf({ argv, env, cwd }: PlannedRun, path: string): string {
  if (path.endsWith('.wandb')) return "`env: { WANDB_DIR: '${run_dir}' }` gives each run its own";
  if (basename(path).startsWith('mlflow'))
    return "`env: { MLFLOW_TRACKING_URI: 'sqlite:///${run_dir}/mlflow.db' }` gives each run its own";
  if (/\.(db|sqlite3?)$/.test(path)) return "`env: { TRACKIO_DIR: '${run_dir}/trackio' }` gives each run its own";
  const option = argv.find((word) => outputOption.test(word));
  if (option !== undefined)
    return `\`'${option.slice(0, option.indexOf('='))}=\${run_dir}'\` in \`command\` gives each run its own`;
  if (existsSync(join(dirname(path), '.hydra')))
    return "`'hydra.run.dir=${run_dir}'` in `command` gives each run its own";
  const script = argv
    .slice(1)
    .find((word) => !word.startsWith('/') && word.includes('.') && existsSync(join(cwd, word)));
  const moved = script === undefined ? '' : `, with \`${join(cwd, script)}\` in \`command\`,`;
  const module =
    argv.includes('-m') && env['PYTHONPATH'] === undefined ? `, with \`env: { PYTHONPATH: ${cwd} }\`,` : moved;
  return `\`cwd: '\${run_dir}'\`${module} gives each run its own`;
}
