import { setImmediate as turn } from 'node:timers/promises';
import { groupBy } from '../base/group-by.js';
import type { Ack, Fleet, FleetStatus, RunSummary, SweepSummary } from '../client/fleet.js';
import { type FoundRun, type FoundRuns, RunSearch } from '../metrics/tree/find-runs.js';
import { type UnreadStore, unreadWords } from '../metrics/tree/unread-stores.js';
import { RunMarks } from '../runs/run-marks.js';
import { metricsToShow, readOutline, type SweepOutline } from '../runs/sweep-outline.js';
import { naturalOrder } from '../text/natural-order.js';
import { KeptMetrics, ViewedMetrics } from './kept-metrics.js';
import { type RowHead, rowHeads } from './rows.js';
import { sweepFolder, ViewedRun } from './viewed-run.js';

/** A path that is viewed. `label`: what its rows are called together. */
export type ViewedPath = { readonly path: string; readonly label: string };

/** What a window and the verbs of the command line ask of a fleet. */
type FleetLike = Pick<Fleet, 'sweeps' | 'runs' | 'status' | 'connection' | 'subscribe' | 'version' | 'act' | 'request'>;

type SearchedPath = ViewedPath & { readonly search: RunSearch };
/** The runs that were found in a path. */
type Found = { readonly path: ViewedPath; readonly runs: readonly ViewedRun[] };

/** A row, and what it was made of. */
type RowMade = { readonly made: string; readonly head: RowHead; readonly row: RunSummary };

/** Work between two turns of the event loop, ms: a key waits no longer. */
const SLICE_MS = 10;
/** Until the runs that have been found are shown while the search goes on, ms. */
const FIRST_MS = 600;
/** In which the files of some of them are looked into, at least. */
const LEAST_MS = 20;
/** Between publications, ms; those that take long are made more seldom. */
const PUBLISH_MS = 100;
const PUBLISH_SHARE = 0.1;
/** Between looks at runs that are being written, ms. */
const LOOK_MS = 1000;
/** Between searches for further runs, ms; a search that takes long is made more seldom. */
const SEARCH_MS = 5000;
const SEARCH_SHARE = 0.05;

const nothingSaid: SweepOutline = { groups: [], metrics: { show: [], x: null }, objective: null, judgedBy: [] };

/** Verbs are for runs that a supervisor has started. */
export const readOnly =
  'These files are only viewed: no supervisor started what writes them, so nothing can be done to it here.';
const refusal: Ack = {
  ok: false,
  message: readOnly,
  fix: 'Launch a sweep file, or commands with `memrl-tui grid`: those runs can be killed, resumed and extended.',
};

/**
 * Runs of any program, found in folders, as a fleet: rows that are kept up to date while files grow. Reads only, starts nothing,
 * and refuses all verbs.
 *
 * Each path is a sweep; runs that this program wrote there are of their own sweeps.
 */
export class FolderFleet implements FleetLike {
  readonly connection = 'connected';
  readonly #paths: readonly SearchedPath[];
  readonly #listeners = new Set<() => void>();
  readonly #known = new Map<string, ViewedRun>();
  /** Null: there are no charts. */
  #kept: KeptMetrics | null = null;
  readonly #now: () => number;
  #places: readonly { readonly run: ViewedRun; readonly sweep: string; readonly head: RowHead }[] = [];
  #sweeps = new Map<string, SweepSummary>();
  #outlines = new Map<string, SweepOutline>();
  #marks = new Map<string, RunMarks>();
  #runs = new Map<RunSummary['id'], RunSummary>();
  /** By what each row was made of. */
  #rows = new Map<ViewedRun, RowMade>();
  #notes: readonly string[] = [];
  #unread: readonly UnreadStore[] = [];
  /** What was last published beside the rows. */
  #about = '';
  #version = 0;
  #isClosed = false;
  #isRecalled = false;
  #sliceAt = performance.now();
  #publishAt = 0;
  readonly #firstMs: number;
  #firstAt = Infinity;
  #tellFirst = (): void => undefined;
  #isSearching = false;
  #timer: { readonly end: () => void } | null = null;

  /** @param firstMs Until the runs that have been found are shown while the search goes on. */
  constructor(paths: readonly ViewedPath[], now: () => number = Date.now, firstMs = FIRST_MS) {
    this.#firstMs = firstMs;
    this.#paths = paths.map((each) => ({ ...each, search: new RunSearch(each.path) }));
    this.#now = now;
  }

  /** Number of paths that are viewed. */
  get paths(): number {
    return this.#paths.length;
  }

  /** What was found of programs whose runs are not read. */
  get unread(): readonly UnreadStore[] {
    return this.#unread;
  }

  get sweeps(): ReadonlyMap<string, SweepSummary> {
    return this.#sweeps;
  }

  get runs(): ReadonlyMap<RunSummary['id'], RunSummary> {
    return this.#runs;
  }

  get status(): FleetStatus {
    const unread = this.#places.filter(({ run }) => !run.isRead).length;
    return {
      settled: [...this.#runs.values()].every(({ state }) => state !== 'running'),
      ...{ recalled: this.#isRecalled, unread, cpu: { slots: 0, busy: 0 }, gpus: [] },
      problem: this.#notes.length === 0 ? null : this.#notes.join('; '),
      ...{ readOnly, isSearching: this.#isSearching },
    };
  }

  version(): number {
    return this.#version;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  act(): Promise<Ack> {
    return Promise.resolve(refusal);
  }

  request(): Promise<Ack> {
    return Promise.resolve(refusal);
  }

  /** Finds the runs, and what their files say beside metrics. Like the others here, it ends early once the fleet is closed. */
  async find(): Promise<void> {
    const notes = new Set<string>();
    const unread: UnreadStore[] = [];
    const before = new Set(this.#places.map(({ run }) => run));
    let isChanged = false;
    const found: Found[] = [];
    for (const path of this.#paths) {
      const { runs, notes: said, unread: stores } = await this.#findIn(path, found);
      unread.push(...stores);
      for (const note of [...said, ...stores.map(unreadWords)])
        notes.add(this.#paths.length > 1 ? `${path.label}: ${note}` : note);
      for (const run of runs) isChanged = run.ask() || !before.delete(run) || isChanged;
      found.push({ path, runs });
    }
    if (this.#isClosed) return;
    this.#notes = [...notes];
    this.#unread = unread;
    this.#isSearching = false;
    if (isChanged || before.size > 0) this.#place(found);
    this.#publish();
  }

  /**
   * Finds the runs in the background. `first` resolves once they have been found, or, as a shared disk may be slow, when a part of
   * them has been for some time; `all` once they all have been.
   */
  begin(): { readonly first: Promise<void>; readonly all: Promise<void> } {
    this.#firstAt = performance.now() + this.#firstMs;
    const early = new Promise<void>((resolve) => (this.#tellFirst = resolve));
    this.#isSearching = true;
    const all = this.find();
    return { first: Promise.race([early, all]), all };
  }

  async #findIn(
    path: SearchedPath,
    before: readonly Found[],
  ): Promise<Pick<FoundRuns, 'notes' | 'unread'> & { runs: ViewedRun[] }> {
    const steps = path.search.search();
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) {
      if (this.#isClosed) return { runs: [], notes: [], unread: [] };
      await this.#pause();
      if (performance.now() > this.#firstAt) await this.#showFirst(path, before);
    }
    return { ...step.value, runs: await this.#viewed(step.value.runs, Infinity) };
  }

  /** The runs as they are known, until the time is over. */
  async #viewed(found: readonly FoundRun[], until: number): Promise<ViewedRun[]> {
    const runs: ViewedRun[] = [];
    for (const each of found) {
      if (this.#isClosed || performance.now() > until) break;
      const known = this.#known.get(each.directory) ?? new ViewedRun(each);
      this.#known.set(each.directory, known);
      runs.push(known);
      await this.#pause();
    }
    return runs;
  }

  /** Shows what has been found until now, if anything. */
  async #showFirst(path: SearchedPath, before: readonly Found[]): Promise<void> {
    const now = performance.now();
    const runs = await this.#viewed(path.search.foundSoFar, now + Math.max(LEAST_MS, this.#firstMs / 2));
    const found = [...before, { path, runs }].filter((each) => each.runs.length > 0);
    this.#firstAt = found.length > 0 ? Infinity : now + this.#firstMs;
    if (found.length === 0) return;
    this.#place(found);
    this.#publish();
    this.#tellFirst();
  }

  /** Reads the metrics of all runs that have been found. */
  async read(): Promise<void> {
    await this.#readSome(() => true);
    this.#isRecalled = true;
    this.#publish();
  }

  /** Follows the files until it is closed. */
  async follow(): Promise<void> {
    let searchAt = this.#now() + SEARCH_MS;
    while (!this.#isClosed) {
      await this.#sleep(LOOK_MS);
      if (this.#isClosed) return;
      if (this.#now() < searchAt) {
        await this.#readSome(({ metrics }) => metrics !== null);
        continue;
      }
      const begun = performance.now();
      await this.look();
      searchAt = this.#now() + Math.max(SEARCH_MS, (performance.now() - begun) / SEARCH_SHARE);
    }
  }

  /** Takes in all that has come since the last look: runs, and what known runs have written. */
  async look(): Promise<void> {
    await this.find();
    await this.#readSome((run) => run.metrics !== null || !run.isRead || run.hasGrown());
  }

  async #readSome(isWanted: (run: ViewedRun) => boolean): Promise<void> {
    for (const place of this.#places) if (!this.#isClosed && isWanted(place.run)) await this.#readOne(place);
    this.#publish();
  }

  /** The metrics of a run as far as charts need them. */
  metrics(directory: string): ViewedMetrics {
    const run = this.#known.get(directory);
    const kept = (this.#kept ??= new KeptMetrics());
    return new ViewedMetrics(directory, () => (run?.metrics === null && run.isRead ? kept.get(directory) : null));
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.end();
  }

  async #readOne({ run, sweep, head }: { run: ViewedRun; sweep: string; head: RowHead }): Promise<void> {
    const choice = metricsToShow(this.#outlines.get(sweep) ?? nothingSaid, head.group);
    const marks = this.#marks.get(sweep);
    const { directory } = run.found;
    const look = (metrics: NonNullable<ViewedRun['metrics']>) => {
      marks?.take({ name: head.name, group: head.group, state: run.stateAt(this.#now()) }, metrics);
      this.#kept?.keep(directory, metrics);
    };
    while (!this.#isClosed && run.read(choice, this.#now(), look)) await this.#pause();
    await this.#pause();
    if (performance.now() > this.#publishAt) this.#publish();
  }

  #place(found: readonly Found[]): void {
    const places = found.flatMap(({ path, runs }) => {
      const foreign = runs.filter(({ own }) => own === null);
      const heads = rowHeads(
        foreign.map((run) => ({ run: run.found, facts: run.facts })),
        path.label,
      );
      const own = runs.flatMap((run) => (run.own === null ? [] : [{ run, sweep: run.own.sweep, head: ownHead(run) }]));
      return [...foreign.map((run, index) => ({ run, sweep: path.label, head: heads[index]! })), ...own];
    });
    const order = (a: (typeof places)[number], b: (typeof places)[number]) =>
      naturalOrder(a.head.group, b.head.group) || naturalOrder(a.head.name, b.head.name);
    const sweeps = groupBy(places, ({ sweep }) => sweep);
    this.#places = [...sweeps.values()].flatMap((members) => members.toSorted(order));
    this.#outlines = new Map([...sweeps].map(([name, [first]]) => [name, outlineOf(first!.run)]));
    for (const name of sweeps.keys())
      if (!this.#marks.has(name)) this.#marks.set(name, new RunMarks(this.#outlines.get(name)!));
    this.#sweeps = new Map([...sweeps].map(([name, members]) => [name, this.#sweepOf(name, members)]));
  }

  #sweepOf(name: string, members: readonly { readonly run: ViewedRun; readonly head: RowHead }[]): SweepSummary {
    const { groups, metrics, objective, judgedBy } = this.#outlines.get(name)!;
    const titles = new Map(groups.map(({ name: group, title }) => [group, title]));
    const names = [...new Set(members.map(({ head }) => head.group))].sort(naturalOrder);
    const { run } = members[0]!;
    const path = this.#paths.find(({ label }) => label === name)?.path ?? sweepFolder(run);
    return {
      ...{ name, description: null, directory: run.own === null ? path : sweepFolder(run) },
      groups: names.map((group) => ({ name: group, title: titles.get(group) ?? null, needs: [] })),
      ...{ show: [...metrics.show], x: metrics.x ?? 'step', judgedBy: [...judgedBy] },
      ...(objective === null ? {} : { objective }),
    };
  }

  #publish(): void {
    const begun = performance.now();
    const before = this.#rows;
    this.#rows = this.#madeRows();
    const isSame = this.#rows.size === before.size && [...this.#rows].every(([run, made]) => before.get(run) === made);
    const about = JSON.stringify([this.#notes, this.#isRecalled, this.#isSearching]);
    if (!isSame || about !== this.#about) {
      this.#runs = new Map([...this.#rows.values()].map(({ row }) => [row.id, row]));
      this.#about = about;
      this.#version += 1;
      for (const listener of [...this.#listeners]) listener();
    }
    const end = performance.now();
    this.#publishAt = end + Math.max(PUBLISH_MS, (end - begun) / PUBLISH_SHARE);
  }

  /** The rows as of now; the same object for a row that has not changed. */
  #madeRows(): Map<ViewedRun, RowMade> {
    const now = this.#now();
    const rows = new Map<ViewedRun, RowMade>();
    for (const { run, sweep, head } of this.#places) {
      const mark = this.#marks.get(sweep)!.in(head.group).get(head.name);
      const made = `${run.revision} ${run.stateAt(now)} ${sweep} ${mark?.word}`;
      const known = this.#rows.get(run);
      const isSame = known?.made === made && known.head === head;
      rows.set(run, isSame ? known : { made, head, row: run.row(sweep, head, mark, now) });
    }
    return rows;
  }

  async #pause(): Promise<void> {
    if (performance.now() - this.#sliceAt < SLICE_MS) return;
    await turn();
    this.#sliceAt = performance.now();
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#timer = { end: () => (clearTimeout(timer), resolve()) };
    });
  }
}

function ownHead({ own }: ViewedRun): RowHead {
  const { name, group, subgroup, parameters } = own!;
  return { name, group, subgroup, parameters };
}

function outlineOf(run: ViewedRun): SweepOutline {
  return run.own === null ? nothingSaid : readOutline(sweepFolder(run));
}
