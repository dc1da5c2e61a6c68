import { wantedFor } from '../../model/detail.js';
import { selectedNode, type WindowModel } from '../../model/window-model.js';
import type { RunSummary } from '../../state/port.js';
import type { UiState } from '../../state/ui-state.js';
import { cursorX } from '../../widgets/chart/chart.js';
import { LogViewer } from '../../widgets/log/log-viewer.js';
import { logLines } from '../jobs/jobs.js';
import type { ScreenData, ScreenEntry, ScreenSource, ScreenTools } from '../screen.js';
import { type RunContext, withFound } from './log-handler.js';
import { openBoundary, openFocus, runArea, type RunFiles, wallOf } from './open-run.js';
import { DiskUsageReader } from './disk-usage-reader.js';
import { RunDetailsReader } from './run-details-reader.js';
import { SamplesReader } from './samples-reader.js';
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
