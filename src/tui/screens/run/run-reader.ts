import type { DiskUsage } from '../../../files/disk/disk-usage.js';
import type { Samples } from '../../../logs/samples.js';
import { wantedFor } from '../../model/detail.js';
import { selectedNode, type WindowModel } from '../../model/window-model.js';
import {
  readOrWait,
  type RunDetails,
  type RunFilesPort,
  type RunSummary,
  type UsageReading,
} from '../../state/port.js';
import type { UiState } from '../../state/ui-state.js';
import { cursorX } from '../../widgets/chart/chart.js';
import { LogViewer } from '../../widgets/log/log-viewer.js';
import { logLines } from '../jobs/jobs.js';
import type { ScreenData, ScreenEntry, ScreenSource, ScreenTools } from '../screen.js';
import { type RunContext, withFound } from './log-handler.js';
import { openBoundary, openFocus, runArea, type RunFiles, wallOf } from './open-run.js';
import { runKeys } from './keys.js';

/** One run or group on the whole screen. */
export const run: ScreenEntry<'run', RunFiles> = {
  ...{ name: 'run', keys: runKeys, data: runData },
  component: () => import('./run-screen.js').then(({ RunScreen }) => RunScreen),
};

/** Reads the log and the details of the open run while it is open. */
function runData({ files, changed, change }: ScreenTools): ScreenData<'run', RunFiles> {
  const readers: Readers = {
    viewer: new LogViewer((directory) => files.openLog(directory), {
      changed,
      sought: (seek, offset) => change((ui) => withFound(ui, seek, offset)),
    }),
    details: new RunDetailsReader(files, changed),
    disk: new DiskUsageReader(files, changed),
    samples: new SamplesReader(files, changed),
  };
  const read = (source: Source): RunFiles => filesRead(source, readers);
  return {
    wanted: ({ ui, node, listModel, fleet }) => {
      const run = node?.kind === 'run' ? node.run : null;
      want(run, ui, readers);
      readers.samples.want(run === null ? null : sampledDirectories(run, ui, fleet));
      return wantedFor(node, listModel, logLines);
    },
    read,
    context: (source) => {
      const { body, isSmall, model } = source;
      const area = runArea(body, isSmall);
      const files = read(source);
      const own: RunContext = {
        focus: openFocus(model(), area),
        log: files.log?.page ?? null,
        samples: files.samples,
        pinned: files.pinned,
        pointStep: () => stepAtCursor(model()),
      };
      const boundary = openBoundary(model(), area);
      return { page: Math.max(1, Math.floor(body.height * 0.42)), own, boundary: boundary && { ...boundary, step: 1 } };
    },
    rest: () => Object.values(readers).forEach((reader) => reader.want(null)),
    close: () => Object.values(readers).forEach((reader) => reader.close()),
  };
}

function filesRead({ node, ui, fleet }: Source, readers: Readers): RunFiles {
  if (node?.kind !== 'run') return { log: null, details: undefined, disk: null, samples: undefined, pinned: null };
  return { ...filesOf(node.run, readers), pinned: pinnedSamples(pinnedRun(node.run, ui, fleet), readers.samples) };
}

/** Sets what to read; null: nothing. */
function want(run: RunSummary | null, { log, screen }: Pick<UiState, 'log' | 'screen'>, readers: Readers): void {
  const { viewer, details, disk } = readers;
  const hasFailed = run !== null && (run.state === 'failed' || run.state === 'lost');
  viewer.want(run === null ? null : { directory: run.directory, place: log.place, seek: log.seek, hasFailed });
  details.want(run?.directory ?? null);
  disk.want(screen.kind === 'run' && screen.pane === 'config' ? (run?.directory ?? null) : null);
}

/**
 * Directories of the runs whose samples are read: those of the open pane, with the pinned run if that is beside; those of the run
 * already while the cursor is on its charts, because a key opens the samples there.
 */
function sampledDirectories(
  run: RunSummary,
  { screen, samples, chart, compare }: UiState,
  fleet: Source['fleet'],
): readonly string[] | null {
  if (screen.kind !== 'run') return null;
  if (screen.pane === 'charts') return chart.cursor === null ? null : [run.directory];
  if (screen.pane !== 'samples') return null;
  const pinned = samples.beside === 'pinned run' ? pinnedRun(run, { compare }, fleet) : null;
  return [run.directory, ...(pinned === null ? [] : [pinned.directory])];
}

/** The run that is pinned as the baseline; null: none is, it is this one, or a group is. */
function pinnedRun(
  run: RunSummary,
  { compare }: Pick<UiState, 'compare'>,
  { runs }: Source['fleet'],
): RunSummary | null {
  const pinned = compare.baseline === null ? undefined : runs.get(compare.baseline as RunSummary['id']);
  return pinned === undefined || pinned.id === run.id ? null : pinned;
}

function pinnedSamples(run: RunSummary | null, reader: SamplesReader): RunFiles['pinned'] {
  return run === null ? null : { label: run.name, samples: reader.samples(run.directory) };
}

/** The step at the cursor of the marked chart, whatever is on its x axis; null: there is no cursor, or no step there. */
function stepAtCursor(model: WindowModel): number | null {
  // A group has no samples of its own.
  if (selectedNode(model)?.kind !== 'run') return null;
  const { tiles, at } = wallOf(model);
  const chart = tiles[at] === undefined ? undefined : model.detail.chartOf(tiles[at].metric);
  const x = chart === undefined ? null : cursorX(chart.curves, model.ui.chart);
  if (chart === undefined || x === null) return null;
  if (model.detail.xKey === 'step') return Math.round(x);
  return model.detail.stepAt(chart.metric, x);
}

type Source = ScreenSource<'run'>;
type Readers = { viewer: LogViewer; details: RunDetailsReader; disk: DiskUsageReader; samples: SamplesReader };

function filesOf({ directory }: RunSummary, { viewer, details, disk, samples }: Readers): Omit<RunFiles, 'pinned'> {
  return {
    log: { page: viewer.page(directory), progress: viewer.progress },
    details: details.details(directory),
    disk: disk.usage(directory),
    samples: samples.samples(directory),
  };
}

/** How long a run must stay open before it is measured, in ms. */
const REST_OF_USAGE = 200;
/** Pause between two parts of the work, in ms, so that a slow disk does not block the window. */
const BETWEEN = 5;

/** Measures the disk usage of the open run while its configuration is shown: once per visit, one part at a time. */
export class DiskUsageReader {
  readonly #files: Pick<RunFilesPort, 'usage'>;
  readonly #changed: () => void;
  #directory: string | null = null;
  #reading: UsageReading | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** `changed` is called when the measurement is complete. */
  constructor(files: Pick<RunFilesPort, 'usage'>, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Null: no run is shown. */
  want(directory: string | null): void {
    if (directory === this.#directory) return;
    this.close();
    this.#directory = directory;
    if (directory !== null) this.#timer = setTimeout(() => this.#read(directory), REST_OF_USAGE);
  }

  /** Null: not measured yet. */
  usage(directory: string): DiskUsage | null {
    return directory === this.#directory && this.#reading?.isOver === true ? this.#reading.usage : null;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#reading?.close();
    this.#timer = this.#reading = this.#directory = null;
  }

  #read(directory: string): void {
    this.#reading ??= this.#files.usage?.(directory) ?? null;
    if (this.#reading === null) return;
    this.#reading.step();
    if (this.#reading.isOver) this.#changed();
    else this.#timer = setTimeout(() => this.#read(directory), BETWEEN);
  }
}

/** How long a run must stay open before its details are read, in ms. */
const REST_OF_DETAILS = 40;
/** Time between two readings, in ms, because the supervisor writes the details slightly after reporting a change. */
const PERIOD_OF_DETAILS = 2000;

/** Reads the details of the open run repeatedly while it is open; never in answer to a key. */
export class RunDetailsReader {
  readonly #files: RunFilesPort;
  readonly #changed: () => void;
  #directory: string | null = null;
  #text = '';
  #details: RunDetails | null | undefined;
  #timer: NodeJS.Timeout | null = null;

  /** `changed` is called after something new was read. */
  constructor(files: RunFilesPort, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Null: no run is open. */
  want(directory: string | null): void {
    if (directory === this.#directory) return;
    this.#directory = directory;
    this.#text = '';
    this.#details = undefined;
    this.#schedule(directory === null ? null : REST_OF_DETAILS);
  }

  /** Undefined until they have been read; null: there are none. */
  details(directory: string): RunDetails | null | undefined {
    return directory === this.#directory ? this.#details : undefined;
  }

  close(): void {
    this.#directory = null;
    this.#schedule(null);
  }

  #schedule(delay: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = delay === null ? null : setTimeout(() => this.#read(), delay);
  }

  #read(): void {
    const directory = this.#directory;
    if (directory === null) return;
    const arrived = () => void (directory === this.#directory && this.#schedule(0));
    const read = readOrWait(() => this.#files.runDetails(directory), arrived);
    if (read === undefined) return;
    const text = JSON.stringify(read);
    const isNews = text !== this.#text;
    this.#text = text;
    if (isNews) this.#details = read;
    this.#schedule(PERIOD_OF_DETAILS);
    if (isNews) this.#changed();
  }
}

/** How long the pane must be open before the samples are read, and the least time between two readings, ms. */
const REST_OF_SAMPLES = 40;
const PERIOD_OF_SAMPLES = 5000;
/** Share of the time that reading may take. */
const SHARE = 0.1;

type Reading = { samples: Samples | null | undefined; timer: NodeJS.Timeout };

/** Reads the samples of the shown runs while they are shown, again and again; never in answer to a key. */
export class SamplesReader {
  readonly #files: Pick<RunFilesPort, 'samples'>;
  readonly #changed: () => void;
  /** By directory of the run. */
  readonly #readings = new Map<string, Reading>();

  /** `changed` is called after something new was read. */
  constructor(files: Pick<RunFilesPort, 'samples'>, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Null: no samples are shown. */
  want(directories: readonly string[] | null): void {
    for (const [directory, { timer }] of this.#readings) {
      if (directories?.includes(directory) === true) continue;
      clearTimeout(timer);
      this.#readings.delete(directory);
    }
    for (const directory of directories ?? []) {
      if (this.#readings.has(directory)) continue;
      const reading = { samples: undefined, timer: this.#readLater(directory, REST_OF_SAMPLES) };
      this.#readings.set(directory, reading);
    }
  }

  /** Undefined until they have been read; null: they cannot be read from here. */
  samples(directory: string): Samples | null | undefined {
    return this.#readings.get(directory)?.samples;
  }

  close(): void {
    this.want(null);
  }

  #readLater(directory: string, wait: number): NodeJS.Timeout {
    return setTimeout(() => void this.#read(directory), wait).unref();
  }

  async #read(directory: string): Promise<void> {
    const begun = performance.now();
    const reading = this.#readings.get(directory);
    const read = (await this.#files.samples?.(directory).catch(() => null)) ?? null;
    // Another run may be shown by now.
    if (reading === undefined || this.#readings.get(directory) !== reading) return;
    // The same samples stay the same object, for which lines are laid out once.
    if (JSON.stringify(read) !== JSON.stringify(reading.samples)) {
      reading.samples = read;
      this.#changed();
    }
    if (read !== null)
      reading.timer = this.#readLater(directory, Math.max(PERIOD_OF_SAMPLES, (performance.now() - begun) / SHARE));
  }
}
