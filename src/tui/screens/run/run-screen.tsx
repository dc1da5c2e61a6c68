import { Box } from 'ink';
import { useCallback, useRef } from 'react';
import { hasEnded } from '../../../base/run-words.js';
import { textWidth } from '../../../text/display-width.js';
import { fitDistinct } from '../../../text/distinct-names.js';
import { shortDuration } from '../../../text/duration.js';
import { narrowNumber } from '../../../text/numbers.js';
import { stateLook } from '../../model/state-look.js';
import { elapsed } from '../../model/tally.js';
import { labelsOf } from '../../model/tree/branch-facts.js';
import type { Branch } from '../../model/tree/branch-index.js';
import {
  type DrawModel,
  ModelCanvas,
  useCurves,
  useModel,
  useModelSource,
  useReported,
  useScreen,
  useScreenData,
  useSelection,
} from '../../model/use-model.js';
import { selectedNode } from '../../model/window-model.js';
import type { RunSummary } from '../../state/port.js';
import { Pointable } from '../../surface/canvas.js';
import { type Line, span } from '../../surface/span.js';
import type { OnDrag, Place, Size } from '../../surface/surface.js';
import { chartWall } from '../../widgets/chart/chart-wall.js';
import { logPane } from '../../widgets/log/log-pane.js';
import { inFocus } from '../../widgets/rule-line.js';
import { ScrollPane, TextPane } from '../../widgets/scroll-pane.js';
import { Section } from '../../widgets/section.js';
import { shortKey } from '../../widgets/short-key.js';
import { type Column, Table } from '../../widgets/table.js';
import { Row, Rows } from '../../widgets/text.js';
import type { ScreenProps } from '../screen.js';
import { Attempts } from './attempts-pane.js';
import { Config } from './config-pane.js';
import {
  openBoundary,
  type OpenRun,
  openRun,
  paneGap,
  type PaneRoom,
  runArea,
  type RunFiles,
  wallOf,
} from './open-run.js';
import { sampleLines } from './samples-pane.js';

/** The selected run or group on the whole screen: charts, log, configuration and attempts, as far as they fit. */
export function RunScreen({ size, isSmall }: ScreenProps) {
  const area = runArea(size, isSmall);
  const node = useSelection();
  const model = useModel((whole) => whole);
  const drag = useBoundary(area);
  const run = node === undefined ? null : openRun(node, model, area);
  return (
    <Box {...size} paddingX={isSmall ? 0 : 1} flexDirection="column" overflow="hidden">
      {run === null ? (
        <Row line={[span(' This run is no longer in the list; Esc goes back.', 'dim')]} />
      ) : (
        <>
          <Rows lines={run.heading} />
          {run.layout.charts !== null && <Pane {...run} room={run.layout.charts} />}
          <Pointable columnGap={paneGap} onDrag={drag}>
            {run.layout.lower.map((rooms) => (
              <Box key={rooms[0]!.pane} flexDirection="column" flexShrink={0}>
                {rooms.map((room) => (
                  <Pane key={room.pane} {...run} room={room} drag={drag} />
                ))}
              </Box>
            ))}
          </Pointable>
        </>
      )}
    </Box>
  );
}

type PaneProps = OpenRun & { readonly room: PaneRoom; readonly drag?: OnDrag };

function Pane({ node, focus, room: { pane, ...room }, drag }: PaneProps) {
  const { offset } = useScreen('run');
  const isFocused = pane === focus;
  const place = { ...room, isFocused, top: isFocused ? offset : 0 };
  if (pane === 'charts') return <ChartsPane {...place} />;
  if (node.kind !== 'run') return <RunsPane branch={node} {...place} />;
  if (pane === 'log') return <LogPane {...place} drag={drag} />;
  return <TextOf pane={pane} run={node.run} {...place} />;
}

type PlaceProps = Size & { readonly isFocused: boolean; readonly top: number };
type CanvasProps = Size & { readonly isFocused: boolean; readonly drag?: OnDrag | undefined };

function ChartsPane({ isFocused, width, height }: CanvasProps) {
  const draw = useCallback<DrawModel>((model, room) => marked(chartWall(wallOf(model), room), isFocused), [isFocused]);
  return <ModelCanvas {...{ width, height, draw }} flexShrink={0} />;
}

function LogPane({ isFocused, drag, width, height }: CanvasProps) {
  const source = useModelSource();
  const draw = useCallback<DrawModel>(
    (model, room) => {
      const files = source.screenData('run') as RunFiles | null;
      const node = selectedNode(model);
      if (files === null || node?.kind !== 'run') return [];
      const log = { ...(files.log ?? { page: null, progress: null }), choice: model.ui.log };
      return marked(logPane({ ...log, isLive: !hasEnded(node.run.state) }, room), isFocused);
    },
    [source, isFocused],
  );
  return <ModelCanvas {...{ width, height, draw }} flexShrink={0} onDrag={drag} />;
}

/** The first line is the heading of the pane. */
function marked([heading = [], ...lines]: Line[], isFocused: boolean): Line[] {
  return [isFocused ? inFocus(heading) : heading, ...lines];
}

type TextProps = PlaceProps & { readonly pane: 'config' | 'attempts' | 'samples'; readonly run: RunSummary };

function TextOf({ pane, run, ...place }: TextProps) {
  const { details, disk, samples, pinned } = useScreenData<RunFiles>('run');
  const { now, varying, ui } = useModel((model) => model);
  const { report } = useCurves();
  const { width } = place;
  if (pane === 'samples') {
    const shown = { samples, pinned, directory: run.directory, choice: ui.samples, search: ui.log.search };
    return <TextPane title={pane} lines={sampleLines(shown, width)} {...place} />;
  }
  const metrics = report?.() ?? null;
  return (
    <ScrollPane title={pane} {...place}>
      {pane === 'config' ? (
        <Config {...{ run, details, disk, varying, metrics, width }} />
      ) : (
        <Attempts {...{ run, details, now, width }} />
      )}
    </ScrollPane>
  );
}

/** One row per run of a group, with the last values of the shown metrics. */
function RunsPane({ branch, width, height, top, isFocused }: PlaceProps & { readonly branch: Branch }) {
  const { now, ui } = useModel((model) => model);
  const { charts } = useCurves();
  const page = Math.max(0, height - 2);
  useReported(isFocused ? { length: branch.runs.length, page } : null);
  const labels = labelsOf(branch, ui.isAscii ? 'ascii' : '');
  const nameWidth = Math.min(40, Math.max('run'.length, ...labels.map(textWidth)));
  const keys = charts.map(({ metric }) => metric).slice(0, Math.floor((width - nameWidth - 12) / 12));
  const columns: Column<RunSummary>[] = [
    { width: 1, gap: 0, cell: ({ state }) => [span(stateLook[state].glyph, stateLook[state].tone)] },
    {
      ...{ title: 'run', width: nameWidth, gap: 1 },
      cell: (_, index) => [span(fitDistinct(labels[index]!, nameWidth, labels))],
    },
    {
      ...{ title: 'time', width: 7, isRight: true },
      cell: (run) => [span(timeText(elapsed(run, now)), 'dim')],
    },
    ...keys.map((key): Column<RunSummary> => {
      return { title: shortKey(key), width: 11, gap: 1, isRight: true, cell: (run) => valueCell(run.metrics[key]) };
    }),
  ];
  const below = branch.runs.length - top - page;
  return (
    <Section title="runs" right={below > 0 ? [span(`${below} below`, 'faint')] : []} {...{ width, isFocused }}>
      <Table columns={columns} items={branch.runs} {...{ width, top }} height={height - 1} />
    </Section>
  );
}

function timeText(time: number | null): string {
  return time === null ? '' : shortDuration(time);
}

function valueCell(value: number | null | undefined): Line {
  return [span(typeof value === 'number' ? narrowNumber(value) : '', 'value')];
}

/** Drags the boundary below the charts by the row on which the panes below begin. */
function useBoundary({ width, height }: Size): OnDrag {
  const source = useModelSource();
  /** Where the button was pressed, and the rows of the charts then; null: not on the boundary. */
  const pressed = useRef<{ from: Place; charts: number | null }>(null);
  return useCallback(
    ({ from, at }) => {
      if (pressed.current?.from !== from) {
        const charts = from.row === 0 ? (openBoundary(source.model(), { width, height })?.size ?? null) : null;
        pressed.current = { from, charts };
      }
      const { charts } = pressed.current;
      if (charts !== null) source.resizePane('charts', charts + at.row);
    },
    [source, width, height],
  );
}
