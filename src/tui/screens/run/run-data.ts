import { wantedFor } from '../../model/detail.js';
import type { TreeNode } from '../../model/tree/branch-index.js';
import type { RunSummary } from '../../state/port.js';
import type { OpenPane, UiState } from '../../state/ui-state.js';
import { LogViewer } from '../../widgets/log/log-viewer.js';
import { logLines } from '../jobs/jobs-data.js';
import type { ScreenData, ScreenTools } from '../screen.js';
import { runArea } from './layout.js';
import { type RunContext, withFound } from './log-handler.js';
import { openBoundary, openFocus, openModel, type RunFiles } from './open-screen.js';
import { DiskUsageReader } from './disk-usage-reader.js';
import { RunDetailsReader } from './run-details-reader.js';
import { SamplesReader } from './samples-reader.js';

/** Reads the log and the details of the open run while it is open. */
export function runData({ files, changed, change }: ScreenTools): ScreenData<'run', RunFiles> {
  const readers: Readers = {
    viewer: new LogViewer((directory) => files.openLog(directory), {
      changed,
      sought: (seek, offset) => change((ui) => withFound(ui, seek, offset)),
    }),
    details: new RunDetailsReader(files, changed),
    disk: new DiskUsageReader(files, changed),
    samples: new SamplesReader(files, changed),
  };
  const read = (node: TreeNode | undefined): RunFiles =>
    node?.kind === 'run'
      ? filesOf(node.run, readers)
      : { log: null, details: undefined, disk: null, samples: undefined };
  return {
    wanted: ({ ui, node, scene }) => {
      want(node?.kind === 'run' ? node.run : null, ui, readers);
      return wantedFor(node, scene, logLines);
    },
    read: ({ node }) => read(node),
    context: ({ node, body, isSmall, model }) => {
      const { width, height } = runArea(body, isSmall);
      const files = read(node);
      const shown = openModel(model(), files);
      const own: RunContext = {
        focus: openFocus(shown, width, height),
        log: files.log?.page ?? null,
        samples: files.samples,
      };
      const boundary = openBoundary(shown, width, height);
      return { page: Math.max(1, Math.floor(body.height * 0.42)), own, boundary: boundary && { ...boundary, step: 1 } };
    },
    rest: () => Object.values(readers).forEach((reader) => reader.want(null)),
    close: () => Object.values(readers).forEach((reader) => reader.close()),
  };
}

/** Sets what to read; null: nothing. */
function want(run: RunSummary | null, { log, screen }: Pick<UiState, 'log' | 'screen'>, readers: Readers): void {
  const { viewer, details, disk, samples } = readers;
  const hasFailed = run !== null && (run.state === 'failed' || run.state === 'lost');
  viewer.want(run === null ? null : { directory: run.directory, place: log.place, seek: log.seek, hasFailed });
  details.want(run?.directory ?? null);
  const shownIn = (pane: OpenPane) => (screen.kind === 'run' && screen.pane === pane ? (run?.directory ?? null) : null);
  disk.want(shownIn('config'));
  samples.want(shownIn('samples'));
}

type Readers = { viewer: LogViewer; details: RunDetailsReader; disk: DiskUsageReader; samples: SamplesReader };

function filesOf({ directory }: RunSummary, { viewer, details, disk, samples }: Readers): RunFiles {
  return {
    log: { page: viewer.page(directory), progress: viewer.progress },
    details: details.details(directory),
    disk: disk.usage(directory),
    samples: samples.samples(directory),
  };
}
