import { busyMs } from '../../analysis/forecast/busy-time.js';
import { healthWord } from '../../analysis/health/finding.js';
import { ailments } from '../../base/run-words.js';
import { Box } from 'ink';
import { cleanText } from '../../text/display-text.js';
import { countText } from '../../text/numbers.js';
import { textWidth } from '../../text/display-width.js';
import { durationRange, shortDuration } from '../../text/duration.js';
import { healthTone, stateLook, statesInOrder, unhealthyGlyph } from '../model/state-look.js';
import { isOver, type Tally } from '../model/tally.js';
import { attentionHints, attentionLine } from './attention-line.js';
import { LiveLine, useModel } from '../model/use-model.js';
import type { WindowModel } from '../model/window-model.js';
import type { FleetStatus } from '../state/port.js';
import { progressBar } from '../widgets/progress-bar.js';
import { ends, type Line, lineWidth, span } from '../surface/span.js';
import { hintLine } from '../widgets/key-hints.js';
import { Text } from '../widgets/text.js';
import { keyOf } from '../screens/key-map.js';

const lost = ' supervisor lost · reconnecting ';

/**
 * Three rows: the sweep and its runs by state; overall progress; an obstacle to the supervisor's work, or else what needs the user.
 */
export function Header({ width }: { readonly width: number }) {
  const title = useModel((model) => model.title);
  const tally = useModel((model) => model.tally);
  const right = useModel(rightEnd);
  const isLost = useModel(isReconnecting);
  const problem = useModel((model) => model.status.problem);
  const isGrowing = useModel((model) => model.status.growing !== undefined);
  const room = width - textWidth(title) - textWidth(right) - 6;
  const isLong = countWidth(tally, true) <= room;
  return (
    <Box flexDirection="column" width={width} height={3} flexShrink={0}>
      <Box>
        <Box flexGrow={1} overflow="hidden">
          <Text tone="title"> {title}</Text>
          <Text>{'   '}</Text>
          <Counts tally={tally} isLong={isLong} />
        </Box>
        <Box flexShrink={0}>{isLost ? <Lost words={lost} /> : <Text tone="dim">{right}</Text>}</Box>
      </Box>
      {isOver(tally) && !isGrowing ? <Ended tally={tally} /> : <LiveLine width={width} read={progressLine} />}
      {problem === null ? (
        <LiveLine width={width} read={attentionLine} />
      ) : (
        <Box width={width} backgroundColor="alarm">
          <Text tone="strong"> {cleanText(problem)}</Text>
        </Box>
      )}
    </Box>
  );
}

/** One row for a small screen. */
export function ShortHeader({ width }: { readonly width: number }) {
  return <LiveLine width={width} read={shortHeader} />;
}

/** The sweep, its runs by state, and keys for what needs the user, as far as they fit. */
function shortHeader(model: WindowModel, width: number): Line {
  const { title, tally } = model;
  const counts = countWords(tally, false).flatMap(({ tone, sign, words }) => [span(sign, tone), span(words, 'dim')]);
  const left = [span(`${title} `, 'title'), ...counts];
  const alarm = isReconnecting(model) ? [{ ...span(' ! ', 'strong'), ground: 'alarm' as const }] : [];
  const right = [...alarm, span(` ${Math.floor(tally.progress * 100)}%`, 'dim')];
  const hints = attentionHints(model);
  const keys = [hintLine(hints), hints.map(([key]) => span(` ${key}`, 'key')), []];
  const fitting = keys.find((each) => lineWidth(left) + lineWidth(each) + lineWidth(right) <= width);
  return ends(left, [...(fitting ?? []), ...right], width);
}

function isReconnecting({ connection }: WindowModel): boolean {
  return connection === 'reconnecting';
}

function Lost({ words }: { readonly words: string }) {
  return (
    <Text tone="strong" ground="alarm">
      {words}
    </Text>
  );
}

type CountsProps = { readonly tally: Tally; readonly isLong: boolean };

/** Number of runs in each state; states without runs are left out. */
function Counts({ tally, isLong }: CountsProps) {
  return (
    <Text>
      {countWords(tally, isLong).map(({ key, tone, sign, words }) => (
        <Text key={key}>
          <Text tone={tone}>{sign}</Text>
          <Text tone="dim">{words}</Text>
        </Text>
      ))}
    </Text>
  );
}

/** The states, and health problems that they do not show. */
function countWords({ counts, unhealthy }: Tally, isLong: boolean) {
  const words = (name: string) => (isLong ? ` ${name}   ` : ' ');
  const sign = (glyph: string, count: number) => `${glyph}${isLong ? ' ' : ''}${count}`;
  const states = statesInOrder
    .filter((state) => counts[state] > 0)
    .map((state) => {
      const { glyph, tone } = stateLook[state];
      return { key: state, tone, sign: sign(glyph, counts[state]), words: words(state) };
    });
  const ailing = ailments.flatMap((word) => {
    const count = unhealthy.get(word) ?? 0;
    const named = { key: word, tone: healthTone(word), words: words(healthWord(word)) };
    return count === 0 ? [] : [{ ...named, sign: sign(unhealthyGlyph, count) }];
  });
  return [...states, ...ailing];
}

function countWidth(tally: Tally, isLong: boolean): number {
  return countWords(tally, isLong).reduce((sum, { sign, words }) => sum + textWidth(sign) + words.length, 0);
}

/** Busy resources and the time that runs have taken. The time is left out if all runs ended before this supervisor started. */
function rightEnd(model: WindowModel): string {
  if (isReconnecting(model)) return lost;
  return `${slotWords(model.status)} ${timeWords(model)}`;
}

function timeWords({ busy, now, tally }: WindowModel): string {
  if (busy !== null) return `  ${shortDuration(busyMs(busy, now))} `;
  return isOver(tally) ? '' : '  not started ';
}

/** `2 of 4 slots busy`, `7 of 8 GPUs busy`, or both. */
function slotWords({ cpu, gpus, readOnly, isSearching, unread = 0 }: FleetStatus): string {
  if (readOnly !== undefined) {
    const more = isSearching === true ? ', searching' : unread === 0 ? '' : `, ${countText(unread)} to read`;
    return `read-only${more}`;
  }
  const busyGpus = gpus.filter(({ runs }) => runs.length > 0).length;
  const words = [
    gpus.length > 0 ? `${busyGpus} of ${gpus.length} GPUs` : '',
    cpu.busy > 0 || gpus.length === 0 ? `${cpu.busy} of ${cpu.slots} slots` : '',
  ];
  return `${words.filter((word) => word !== '').join(', ')} busy`;
}

function progressLine({ tally, left }: WindowModel, width: number): Line {
  const percent = ` ${Math.floor(tally.progress * 100)}%`.padStart(5);
  const eta = left === null ? '' : ` · ${durationRange(left)} left`;
  const right = [span(percent, 'strong'), span(`${eta} `, 'dim')];
  return [span(' '), ...progressBar(tally.progress, Math.max(0, width - lineWidth(right) - 1), 'accent'), ...right];
}

/** Overall outcome of the runs, and what can be done next. */
function Ended({ tally }: { readonly tally: Tally }) {
  const keys = useModel((model) => model.ui.keys);
  const { done } = tally.counts;
  const failed = tally.total - done;
  const marks = ailments.flatMap((word) => {
    const count = tally.unhealthy.get(word) ?? 0;
    return count === 0 ? [] : [`, ${count} ${healthWord(word)}`];
  });
  const sign = failed + marks.length === 0 ? '✓ ' : '';
  const words = failed === 0 ? `all ${tally.total} runs done` : `${done} of ${tally.total} runs done, ${failed} not`;
  return (
    <Text>
      <Text tone={sign === '' ? 'warn' : 'good'}>
        {' '}
        {sign}
        {words}
        {marks.join('')}
      </Text>
      <Text tone="dim">
        {' '}
        · {keyOf('sweep', keys)} shows the results · {keyOf('leave', keys)} detaches
      </Text>
    </Text>
  );
}
