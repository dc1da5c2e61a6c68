import { briefAnswer } from '../../analysis/answer/sweep-answers.js';
import { busyMs } from '../../analysis/forecast/busy-time.js';
import { healthWord } from '../../analysis/health/finding.js';
import { ailments } from '../../base/run-words.js';
import { cleanText } from '../../text/display-text.js';
import { countedRuns, countText } from '../../text/numbers.js';
import { textWidth, truncate } from '../../text/display-width.js';
import { durationRange, shortDuration } from '../../text/duration.js';
import { healthTone, stateLook, statesInOrder, unhealthyGlyph } from '../model/state-look.js';
import { isOver, type Tally } from '../model/tally.js';
import { attentionHints, attentionLine } from './attention-line.js';
import type { WindowModel } from '../model/window-model.js';
import type { FleetStatus } from '../state/port.js';
import { progressBar } from '../widgets/progress-bar.js';
import { ends, fitLine, type Line, lineWidth, onBackground, span, type Span } from '../surface/span.js';
import { hintLine } from '../widgets/key-hints.js';
import { keyOf } from '../screens/key-map.js';

/** Draws one row of the window. */
type ReadLine = (model: WindowModel, width: number) => Line;

const lostWords = ' supervisor lost · reconnecting ';

/**
 * Three rows: the sweep and its runs by state; overall progress; an obstacle to the supervisor's work, or else what needs the user.
 */
export const headerLines: readonly ReadLine[] = [titleLine, outcomeLine, needsLine];

/** The sweep, its runs by state with words if they fit, and what is busy. */
function titleLine(model: WindowModel, width: number): Line {
  const { title, tally, prerequisites } = model;
  const right = rightEnd(model);
  const room = width - textWidth(title) - textWidth(right) - 6;
  const columns = countWidth(tally, true);
  const counts = countWords(tally, columns <= room);
  // Otherwise the total is the sum of the counts.
  const whole = prerequisites === 0 ? '' : `  ${countedRuns(tally.total, prerequisites)}`;
  const left = [
    span(` ${title}`, 'title'),
    span(columns + textWidth(whole) <= room ? whole : '', 'dim'),
    ...[span('   '), ...countSpans(counts)],
  ];
  return ends(left, [isReconnecting(model) ? lost(right) : span(right, 'dim')], width);
}

function countSpans(words: ReturnType<typeof countWords>): Line {
  return words.flatMap(({ tone, sign, words: name }) => [span(sign, tone), span(name, 'dim')]);
}

function lost(words: string): Line[number] {
  return { ...span(words, 'strong'), ground: 'alarm' };
}

function outcomeLine(model: WindowModel, width: number): Line {
  const { tally, status } = model;
  return isOver(tally) && status.growing === undefined ? endedLine(model, width) : progressLine(model, width);
}

function needsLine(model: WindowModel, width: number): Line {
  const { problem } = model.status;
  if (problem === null) {
    const needs = attentionLine(model, width);
    return needs.length > 0 || isOver(model.tally) ? needs : answerLine(model, width);
  }
  return onBackground(fitLine([span(` ${cleanText(problem)}`, 'strong')], width), 'alarm');
}

/** The best settings so far, once enough runs are done to tell; empty before. */
function answerLine(model: WindowModel, width: number): Line {
  const best = answerWords(model);
  return best === '' ? [] : fitLine([span(' best so far ', 'dim'), span(best)], width);
}

/** `A loss 0.93: lr=0.1, as good as 1 other · B …`; empty: nothing can be told. */
function answerWords({ answers }: WindowModel): string {
  const all = answers();
  return all
    .flatMap(({ group, answer }) => {
      const brief = briefAnswer(answer);
      return brief === null ? [] : [cleanText(group === null || all.length === 1 ? brief : `${group} ${brief}`)];
    })
    .join(' · ');
}

/** The sweep, its runs by state, and keys for what needs the user, as far as they fit. */
export function shortHeader(model: WindowModel, width: number): Line {
  const { title, tally } = model;
  const left = [span(`${title} `, 'title'), ...countSpans(countWords(tally, false))];
  const alarm = isReconnecting(model) ? [lost(' ! ')] : [];
  const right = [...alarm, span(` ${Math.floor(tally.progress * 100)}%`, 'dim')];
  const hints = attentionHints(model);
  const keys = [hintLine(hints), hints.map(([key]) => span(` ${key}`, 'key')), []];
  const fitting = keys.find((each) => lineWidth(left) + lineWidth(each) + lineWidth(right) <= width);
  return ends(left, [...(fitting ?? []), ...right], width);
}

function isReconnecting({ connection }: WindowModel): boolean {
  return connection === 'reconnecting';
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
  if (isReconnecting(model)) return lostWords;
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

function progressLine({ tally, left, leftFirst }: WindowModel, width: number): Line {
  const percent = ` ${Math.floor(tally.progress * 100)}%`.padStart(5);
  const first = leftFirst === null ? '' : ` · prerequisites ${durationRange(leftFirst)} left`;
  const eta = left === null ? first : ` · ${durationRange(left)} left`;
  const right = [span(percent, 'strong'), span(`${eta} `, 'dim')];
  return [span(' '), ...progressBar(tally.progress, Math.max(0, width - lineWidth(right) - 1), 'accent'), ...right];
}

const introducesBest = ' · best ';
/** Columns in which an answer still says something. */
const leastAnswer = 12;

/** Overall outcome of the runs, and what can be done next. */
function endedLine(model: WindowModel, width: number): Line {
  const {
    tally,
    ui: { keys },
  } = model;
  const outcome = outcomeSpan(tally, model.prerequisites === 0 ? ' runs' : '');
  const best = answerWords(model);
  // The key that shows all of it is always there, in fewer words where the answer needs the room.
  const rest = width - lineWidth([outcome]) - textWidth(introducesBest);
  const [long, short] = ['shows the results', 'results'].map((words) => ` · ${keyOf('sweep', keys)} ${words}`);
  const shows = best === '' || textWidth(best + long!) <= rest ? long! : short!;
  const room = rest - textWidth(shows);
  if (best === '' || room < leastAnswer)
    return fitLine([outcome, span(`${long} · ${keyOf('leave', keys)} detaches`, 'dim')], width);
  return fitLine([outcome, span(introducesBest, 'dim'), span(truncate(best, room)), span(shows, 'dim')], width);
}

/** `noun`: ` runs`, or nothing where the title says how many are runs and how many only prepare them. */
function outcomeSpan({ counts: { done }, total, unhealthy }: Tally, noun: string): Span {
  const marks = ailments.flatMap((word) => {
    const count = unhealthy.get(word) ?? 0;
    return count === 0 ? [] : [`, ${count} ${healthWord(word)}`];
  });
  const words = done === total ? `all ${total}${noun} done` : `${done} of ${total}${noun} done, ${total - done} not`;
  const isGood = done === total && marks.length === 0;
  return span(` ${isGood ? '✓ ' : ''}${words}${marks.join('')}`, isGood ? 'good' : 'warn');
}
