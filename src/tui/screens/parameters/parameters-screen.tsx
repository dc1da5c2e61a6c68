import { Box } from 'ink';
import { type ReactNode, useCallback, useMemo } from 'react';
import { cleanText } from '../../../text/display-text.js';
import { counted } from '../../../text/numbers.js';
import { wrapWithin } from '../../../text/wrap.js';
import { useScreen, useScreenData } from '../../model/use-model.js';
import type { RunSummary } from '../../state/port.js';
import { type ParametersScreen as ScreenState, parametersViews } from './keys.js';
import { Canvas } from '../../surface/ink-window.js';
import { type Line, lineWidth, onBackground, span } from '../../surface/span.js';
import type { Draw, Size } from '../../surface/surface.js';
import { Paragraph, Row } from '../../widgets/text.js';
import type { ScreenProps } from '../screen.js';
import { BestAgainstBaseline, type Contest, type Contestant } from './best-against-baseline.js';
import { ImportanceProgress, importanceRows, ImportanceSection } from './importance-section.js';
import { parallelCoordinates } from './parallel-coordinates.js';
import { scatter } from './scatter.js';
import {
  chosenAxis,
  chosenIndex,
  scaleOf,
  shownRank,
  type Study,
  uprightsOf,
  valuesOverSeeds,
  type ParametersFacts,
} from './study.js';

/** The parameters that matter for the metric, in four views. */
export function ParametersScreen({ size: { width, height } }: ScreenProps) {
  const facts = useScreenData<ParametersFacts>('parameters');
  const screen = useScreen('parameters');
  return (
    <Box width={width} height={height} flexDirection="column" overflow="hidden">
      <Row line={headLine(facts, screen, width)} />
      <Body facts={facts} screen={screen} room={{ width, height: height - 1 }} />
    </Box>
  );
}

/** Names of the views with the shown one marked; at the right a description, as far as it fits. */
function headLine(facts: ParametersFacts, { view }: ScreenState, width: number): Line {
  const tabs = parametersViews.flatMap((each, index): Line => {
    const name = span(` ${each} `, each === view ? 'strong' : 'dim');
    const tab = each === view ? onBackground([name], 'selected') : [name];
    return index === 0 ? tab : [span('│', 'faint'), ...tab];
  });
  const room = width - lineWidth(tabs) - 1;
  const words = aboutWords(facts).find((text) => text.length <= room - 2);
  return words === undefined ? tabs : [...tabs, span(`${words.padStart(room)} `, 'dim')];
}

/** Descriptions of what is shown, longest first. */
function aboutWords({ study, metric, done, total, unread, filter }: ParametersFacts): string[] {
  const part = study !== null && study.runs.length < study.of.runs.length ? `${study.runs.length} of ` : '';
  const runs = done === total ? `${part}${counted(total, 'run')}` : `${part}${done} of ${total} runs done`;
  const reading = unread === 0 ? runs : `${counted(unread, 'run')} still being read · ${runs}`;
  const some = filter === '' ? reading : `filter ${cleanText(filter)} · ${reading}`;
  if (metric === null) return [some, reading, runs];
  const name = cleanText(metric);
  return [
    `${some} · last ${name}${goalWords[study?.of.goal ?? 'none']}`,
    `${some} · ${name}`,
    `${reading} · ${name}`,
    reading,
    runs,
  ];
}

const goalWords = { minimize: ', lower is better', maximize: ', higher is better', none: '' };

type BodyProps = { readonly facts: ParametersFacts; readonly screen: ScreenState; readonly room: Size };

function Body({ facts, screen, room }: BodyProps) {
  const { study, metric, progress } = facts;
  if (metric === null) return <Said sentences={[noMetric, whenMore(facts)]} {...room} />;
  if (study === null) return <ImportanceProgress objective={metric} done={progress} width={room.width} />;
  if (study.ranking.length === 0) return <Said sentences={[noValue(facts, metric), whenMore(facts)]} {...room} />;
  const part = { facts, study, screen, room };
  if (screen.view === 'importance') return <Importance {...part} />;
  if (screen.view === 'best') return <Best {...part} />;
  return <Box height={room.height}>{screen.view === 'parallel' ? <Parallel {...part} /> : <Scatter {...part} />}</Box>;
}

function Said({ sentences, width }: { readonly sentences: readonly string[]; readonly width: number }) {
  return (
    <Box flexDirection="column" paddingTop={1} paddingLeft={1}>
      {sentences.map((text) => (
        <Paragraph key={text} tone="dim" width={Math.min(100, width - 2)} rows={4}>
          {text}
        </Paragraph>
      ))}
    </Box>
  );
}

const noMetric =
  'No run has written a metric yet. Which parameters matter is said for a metric, of its last value in each run that is done.';

function noValue({ done }: ParametersFacts, metric: string): string {
  const name = cleanText(metric);
  if (done === 0) return `No run is done yet: which parameters matter is said of the last ${name} of finished runs.`;
  return `${done === 1 ? 'The run that is done' : `None of the ${done} runs that are done`} has no finite ${name}; m chooses another metric.`;
}

/** What has to happen for more to be known. */
function whenMore({ pending }: ParametersFacts): string {
  if (pending === 0) return 'All runs have ended; e extends the sweep by more of them.';
  return `${counted(pending, 'run')} ${pending === 1 ? 'has' : 'have'} not ended; this is worked out again as they do.`;
}

/** Minimum room for showing all four views beside each other. */
const wide: Size = { width: 160, height: 36 };
/** Minimum size of a useful picture. */
const leastPicture: Size = { width: 44, height: 9 };
const gap = 3;

type Part = BodyProps & { readonly study: Study };

/** The bars, and in the remaining room the parameter under the cursor; in a large window the other views as well. */
function Importance(part: Part) {
  const { facts, study, screen, room } = part;
  const isWide = room.width >= wide.width && room.height >= wide.height;
  const width = isWide ? Math.floor((room.width - gap) * 0.62) : room.width;
  const view = importanceOf(facts, study, screen);
  const height = barHeight(view, { width, height: room.height });
  const rows = importanceRows(view, { width, height });
  const bars = <ImportanceSection view={view} width={width} height={height} />;
  if (isWide) return <AllViews {...part} bars={bars} left={width} height={Math.max(rows, 14)} />;
  const free = { width, height: room.height - rows - 1 };
  const hasPicture = free.height >= leastPicture.height && width >= leastPicture.width && study.parameters.length > 0;
  return (
    <>
      {bars}
      {hasPicture && (
        <Box marginTop={1} height={free.height} flexShrink={0}>
          <Scatter {...part} room={free} />
        </Box>
      )}
    </>
  );
}

type AllProps = Part & { readonly bars: ReactNode; readonly left: number; readonly height: number };

/** `height`: of the upper views; the lower ones get the rest. */
function AllViews({ bars, left, height, ...part }: AllProps) {
  const { screen, room } = part;
  const half = Math.floor((room.width - gap) / 2);
  return (
    <>
      <Box columnGap={gap} flexShrink={0}>
        {bars}
        <Best {...part} screen={{ ...screen, top: 0 }} room={{ width: room.width - gap - left, height }} />
      </Box>
      <Box columnGap={gap} marginTop={1} flexGrow={1} flexBasis={0}>
        <Scatter {...part} room={{ ...room, width: half }} />
        <Parallel {...part} room={{ ...room, width: room.width - gap - half }} />
      </Box>
    </>
  );
}

type ImportanceView = Parameters<typeof ImportanceSection>[0]['view'];

function importanceOf(facts: ParametersFacts, study: Study, screen: ScreenState): ImportanceView {
  const { importance, of } = study;
  const objective = scaleOf(study) === 'rank' ? `the order by ${of.metric}` : of.metric;
  const at = importance.kind === 'measured' ? placeIn(importance.parameters, study, screen) : null;
  const more: Line[] = [[span(` ${whenMore(facts)}`, 'dim')]];
  return { importance, objective, at, isChosen: of.scale !== null, more };
}

/** Height of the bars: all of them if that leaves room for a picture or none would fit anyway, otherwise half of the room. */
function barHeight(view: ImportanceView, room: Size): number {
  const all = importanceRows(view, room);
  const hasRoom = room.height - all - 1 >= leastPicture.height || room.height < 2 * leastPicture.height + 6;
  return hasRoom ? room.height : Math.floor(room.height / 2);
}

/** Position of the parameter under the cursor among those with an effect. */
function placeIn(effects: readonly { readonly name: string }[], study: Study, screen: ScreenState): number | null {
  const at = chosenIndex(study, screen);
  const place = at === null ? -1 : effects.findIndex(({ name }) => name === study.parameters[at]!.name);
  return place < 0 ? null : place;
}

/** The best run if it is known which end is best. */
function bestOf({ ranking, of }: Study): number | null {
  return of.goal === null ? null : (ranking[0] ?? null);
}

/** A picture that is drawn again only if what it shows has changed: it may have thousands of lines. */
function Picture({ draw, width }: { readonly draw: Draw; readonly width: number }) {
  return <Canvas width={width} flexShrink={0} draw={draw} />;
}

function Parallel({ facts: { selected }, study, screen, room }: Part) {
  const at = chosenAxis(study, screen);
  const runs = useMemo(() => {
    const { parallel: parameters, objective, of } = study;
    const named = (index: number | null) => (index === null ? null : { index, name: study.runs[index]!.name });
    const leftOut = study.parameters.filter((column) => !parameters.includes(column)).length;
    const marked = { best: named(bestOf(study)), selected: named(selected) };
    return { parameters, objective, goal: of.goal, ...marked, at, leftOut };
  }, [study, selected, at]);
  return <Picture draw={useCallback((size) => parallelCoordinates(runs, size), [runs])} width={room.width} />;
}

function Scatter({ facts: { selected }, study, screen, room }: Part) {
  const at = chosenIndex(study, screen);
  const { against, groupBy } = screen;
  const draw = useCallback<Draw>(
    (size) => {
      if (at === null) return [];
      const y = uprightsOf(study, screen).find(({ name }) => name === against) ?? study.objective;
      const groups = study.groupings.find(({ name }) => name === groupBy) ?? null;
      return scatter({ x: study.parameters[at]!, y, groups, best: bestOf(study), selected }, size);
    },
    [study, at, against, groupBy, selected],
  );
  if (at === null)
    return <Said sentences={['No parameter varies over these runs: there is nothing to draw.']} {...room} />;
  return <Picture draw={draw} width={room.width} />;
}

function Best({ facts, study, screen, room }: Part) {
  const contest = contestOf(facts, study, screen);
  if (contest === null) return <Said sentences={['No run has a finite value.']} {...room} />;
  const notes = contestNotes(facts, study, room.width);
  return <BestAgainstBaseline {...{ contest, notes }} {...room} top={screen.top} isScrolled={screen.view === 'best'} />;
}

/** Notes that readers of the comparison need. */
function contestNotes({ baseline }: ParametersFacts, { of }: Study, width: number): Line[] {
  const words = [
    ...(of.goal === null
      ? [
          `Nobody says whether a high or a low ${cleanText(of.metric)} is better (metric: goal in the sweep file): the highest comes first.`,
        ]
      : []),
    ...(baseline?.isPinned === false
      ? ['No baseline is pinned, so the run in the middle stands for one; b pins a run.']
      : []),
  ];
  return words.flatMap((text) => wrapWithin(text, width - 2, 2)).map((text) => [span(` ${text}`, 'faint')]);
}

function contestOf({ baseline }: ParametersFacts, study: Study, screen: ScreenState): Contest | null {
  const rank = shownRank(study, screen);
  const run = study.runs[study.ranking[rank] ?? -1];
  if (run === undefined || baseline === null) return null;
  const first = study.of.goal === null ? 'highest' : 'best';
  const word = rank === 0 ? first : `no. ${rank + 1} of ${study.ranking.length}`;
  const { metric, goal, others } = study.of;
  return {
    best: contestant(run, word, study),
    baseline: contestant(baseline.run, baseline.word, study),
    metrics: [{ key: metric, direction: goal }, ...others.map((key) => ({ key, direction: null }))],
  };
}

function contestant(run: RunSummary, word: string, study: Study): Contestant {
  const { name, parameters, metrics } = run;
  return { word, name, parameters, metrics, overSeeds: valuesOverSeeds(study, run) };
}
