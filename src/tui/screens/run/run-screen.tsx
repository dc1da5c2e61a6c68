import { Box } from 'ink';
import { type ReactNode, useCallback, useRef } from 'react';
import { lazy } from '../../../base/lazy.js';
import { hasEnded } from '../../../base/run-words.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { fitDistinct } from '../../../text/distinct-names.js';
import { shortDuration } from '../../../text/duration.js';
import { narrowNumber } from '../../../text/numbers.js';
import { wrapWithin } from '../../../text/wrap.js';
import { stateLook } from '../../model/state-look.js';
import { elapsed } from '../../model/tally.js';
import { type Branch, labelsOf } from '../../model/tree/branch.js';
import {
  type DrawModel,
  ModelCanvas,
  useCurves,
  useExtent,
  useModel,
  useModelSource,
  useReported,
  useScreen,
  useScreenData,
  useSelection,
} from '../../model/use-model.js';
import { selectedNode } from '../../model/window-model.js';
import type { RunDetails, RunSummary } from '../../state/port.js';
import { Pointable } from '../../surface/ink-window.js';
import { type Line, span, type Tone } from '../../surface/span.js';
import type { OnDrag, Place, Size } from '../../surface/surface.js';
import { chartWall } from '../../widgets/chart/chart-wall.js';
import { logPane } from '../../widgets/log/log-pane.js';
import { inFocus, shortKey } from '../../widgets/line-parts.js';
import { type Column, Table, tableWidth } from '../../widgets/table.js';
import { Row, Rows, Section } from '../../widgets/text.js';
import type { ScreenProps } from '../screen.js';
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

/** `top`: the first visible row. `isFocused`: whether keys scroll it. */
type FrameProps = Size & { readonly title: string; readonly top: number; readonly isFocused: boolean };

/** A section whose contents may be longer than its room. Its heading says how many rows are below. */
function ScrollPane({ title, top, width, height, isFocused, children }: FrameProps & { children: ReactNode }) {
  const page = height - 1;
  const { box, length } = useExtent(page, isFocused);
  return (
    <Section title={title} right={belowWords(length - top - page)} {...{ width, isFocused }}>
      <Box height={page} flexDirection="column" overflow="hidden">
        <Box ref={box} width={width} flexDirection="column" flexShrink={0} marginTop={-top}>
          {children}
        </Box>
      </Box>
    </Section>
  );
}

/** The same for a long text, of which only the visible lines are rendered. */
function TextPane({ title, lines, top, width, height, isFocused }: FrameProps & { lines: readonly Line[] }) {
  const page = height - 1;
  useReported(isFocused ? { length: lines.length, page } : null);
  return (
    <Section title={title} right={belowWords(lines.length - top - page)} {...{ width, isFocused }}>
      <Box height={page} flexDirection="column" overflow="hidden">
        <Rows lines={lines.slice(top, top + page)} />
      </Box>
    </Section>
  );
}

function belowWords(below: number): Line {
  return below > 0 ? [span(`${below} below`, 'faint')] : [];
}

type Attempt = RunDetails['record']['attempts'][number];

/** Inputs of the attempts pane. `now`: Unix ms. */
type ShownAttempts = {
  readonly run: RunSummary;
  readonly details: RunDetails | null | undefined;
  readonly now: number;
};

const mostRows = 3;

/** A row of the table: an attempt with the first row of its ending, or a further row of that. */
type Item = { readonly attempt: Attempt | null; readonly ending: string; readonly tone: Tone };

/** The attempts of a run in order: start, duration, place, and how each ended. */
export function Attempts({ run, details, now, width }: ShownAttempts & { readonly width: number }) {
  const attempts = details?.record.attempts ?? [];
  if (details === undefined) return <Row line={[span('reading…', 'faint')]} />;
  if (attempts.length === 0) return <Row line={[span(withoutAttempts(run), 'faint')]} />;
  const column = (title: string, width: number, text: (attempt: Attempt) => string, tone: Tone): Column<Item> => ({
    ...{ title, width, gap: 0 },
    cell: ({ attempt }) => (attempt === null ? [] : [span(text(attempt), tone)]),
  });
  const timeText = ({ startedAt, endedAt }: Attempt) => shortDuration((endedAt ?? now) - startedAt);
  const columns: Column<Item>[] = [
    column('#', 4, ({ number }) => String(number), 'strong'),
    column('started', 21, ({ startedAt }) => clock().format(startedAt), 'plain'),
    { ...column('time', 8, timeText, 'value'), isRight: true },
    {
      ...column(
        'slot',
        Math.max(6, ...attempts.map(({ slot }) => slot.length + 2)),
        ({ slot }) => cleanText(slot),
        'dim',
      ),
      gap: 2,
    },
    { title: 'ended', gap: 0, cell: ({ ending, tone }) => [span(ending, tone)] },
  ];
  const room = Math.max(12, width - tableWidth(columns));
  const items = attempts.flatMap((attempt, index): Item[] => {
    const { text, tone } = endingOf(run, attempts, index);
    return wrapWithin(text, room, mostRows).map((ending, row) => ({
      attempt: row === 0 ? attempt : null,
      ending,
      tone,
    }));
  });
  return <Table columns={columns} items={items} width={width} />;
}

function withoutAttempts({ startedAt }: RunSummary): string {
  return startedAt === null ? 'It has not been started yet.' : 'Another program started it, and keeps no attempts.';
}

/** How an attempt ended, and the code it ran if that is new. */
function endingOf(run: RunSummary, attempts: readonly Attempt[], index: number): Ending {
  const attempt = attempts[index]!;
  const isAlive = attempt.outcome === null && index === attempts.length - 1;
  const ending = isAlive ? { text: run.state, tone: stateLook[run.state].tone } : endingWords(attempt.outcome);
  const code = codeChange(attempt, attempts[index - 1]);
  return code === null ? ending : { ...ending, text: `${ending.text} · ${code}` };
}

type Ending = { readonly text: string; readonly tone: Tone };

/** Class, code or signal, and reason. */
function endingWords(outcome: Attempt['outcome']): Ending {
  if (outcome === null) return { text: 'not known', tone: 'dim' };
  switch (outcome.kind) {
    case 'done':
      return {
        text: joined('done', outcome.rule === undefined ? undefined : `stopped when ${outcome.rule}`),
        tone: 'good',
      };
    case 'failed':
      return { text: joined(`failed, exit ${outcome.code}`, outcome.line), tone: 'bad' };
    case 'signal':
      return { text: joined(`ended by ${outcome.signal}`, outcome.line), tone: 'bad' };
    case 'oom':
      return { text: joined('out of memory', outcome.line), tone: 'bad' };
    case 'timeout':
      return { text: `timeout after ${shortDuration(outcome.seconds * 1000)}`, tone: 'bad' };
    case 'killed':
      return { text: 'killed by a user', tone: 'warn' };
    case 'lost':
      return { text: joined('lost', outcome.reason), tone: 'bad' };
  }
}

function joined(words: string, reason: string | undefined): string {
  return reason === undefined || reason === '' ? words : `${words} · ${cleanText(reason)}`;
}

/** The code that an attempt ran, if it differs from that of the previous one. */
function codeChange({ commit }: Attempt, previous: Attempt | undefined): string | null {
  if (commit === undefined || previous?.commit === undefined || previous.commit === commit) return null;
  return `commit ${cleanText(commit.slice(0, 9))}`;
}

/** `2026-01-05 12:00:31` in the time zone of the terminal, which is the Swedish format. */
const clock = lazy(() => new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' }));
