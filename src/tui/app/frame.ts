import { briefAnswer } from '../../analysis/answer/sweep-answers.js';
import { conditionsText } from '../../analysis/failures/failure-causes.js';
import { busyMs } from '../../analysis/forecast/busy-time.js';
import { healthWord } from '../../analysis/health/finding.js';
import { ailments } from '../../base/run-words.js';
import { fits } from '../../protocol/run-verbs.js';
import { cleanText } from '../../text/display-text.js';
import { textWidth, truncate } from '../../text/display-width.js';
import { durationRange, shortDuration } from '../../text/duration.js';
import { countedRuns, countText } from '../../text/numbers.js';
import { always, isActing } from '../keys/key-row.js';
import type { Attention, HeldGroup } from '../model/attention.js';
import { healthTone, stateLook, statesInOrder, unhealthyGlyph } from '../model/state-look.js';
import { isOver, type Tally } from '../model/tally.js';
import { BranchIndex } from '../model/tree/branch.js';
import { selectedNode, type WindowModel } from '../model/window-model.js';
import { jobsLines } from '../screens/jobs/jobs-lines.js';
import { keyOf, keysOn } from '../screens/key-map.js';
import { isInitialSort, sortWords } from '../state/list-choice.js';
import type { FleetStatus } from '../state/port.js';
import { ends, fitLine, type Line, lineWidth, onBackground, span, type Span, type Tone } from '../surface/span.js';
import type { Size } from '../surface/surface.js';
import { hintLine, hintWidth, type KeyHint, progressBar } from '../widgets/line-parts.js';

/** Minimum size for the whole window; smaller ones show only a list, and below the minimum nothing. */
const whole: Size = { width: 80, height: 24 };
export const least: Size = { width: 40, height: 10 };
/** Rows of header and footer together, on a whole and on a small screen. */
const frame = { whole: 5, small: 2 };

/** Whether a terminal is too small to show anything useful. */
export function isTooSmall({ width, height }: Size): boolean {
  return width < least.width || height < least.height;
}

/** Whether a terminal has only one line of header and one of footer. */
export function isSmall({ width, height }: Size): boolean {
  return width < whole.width || height < whole.height;
}

/** The size of the screen's area between header and footer. */
export function bodyOf(size: Size): Size {
  const rows = size.height - (isSmall(size) ? frame.small : frame.whole);
  return { width: size.width, height: Math.max(1, rows) };
}

/** The jobs screen as its components will draw it, before they are loaded. */
export function firstPicture(model: WindowModel, size: Size): readonly Line[] {
  if (isTooSmall(size)) return [];
  const { width } = size;
  const isSmallSize = isSmall(size);
  const body = jobsLines(model, bodyOf(size), isSmallSize);
  if (isSmallSize) return [shortHeader(model, width), ...body, screenKeysLine(model, width)];
  const header = headerLines.map((read) => read(model, width));
  return [...header, ...body, messageLine(model, width), screenKeysLine(model, width)];
}

/** Draws one row of the window. */
type ReadLine = (model: WindowModel, width: number) => Line;

const lostWords = ' connection lost · reconnecting ';

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

/** Something that needs the user. `texts`: descriptions from longest to shortest. */
type Item = { readonly glyph: string; readonly tone: Tone; readonly texts: readonly string[] };

/** What needs the user, with the keys for it, in one row; empty if there is nothing. */
export function attentionLine(model: WindowModel, width: number): Line {
  const items = itemsOf(model.attention(), model.tally);
  if (items.length === 0) return [];
  const hints = attentionHints(model);
  // Without a key, the line would only repeat the counts of the header.
  if (hints.length === 0 && items.every(({ glyph }) => glyph === unhealthyGlyph)) return [];
  const keys = hints.length === 0 ? [] : [span('  '), ...hintLine(hints)];
  const room = width - lineWidth(keys);
  const words = fittingWords(items, room);
  return [...(lineWidth(words) > room ? fitLine(words, room) : words), ...keys];
}

/** The items, most urgent first. */
function itemsOf({ held, failed, blocked, waitsForPerson, asking }: Attention, { unhealthy }: Tally): Item[] {
  const ill = ailments.filter((word) => unhealthy.has(word));
  const words = ill.map((word) => `${countText(unhealthy.get(word)!)} ${healthWord(word)}`);
  return [
    ...held.map((group): Item => ({ ...stateLook.held, texts: heldTexts(group) })),
    ...(failed.count === 0 ? [] : [{ ...stateLook.failed, texts: failedTexts(failed) }]),
    ...(ill.length === 0 ? [] : [{ glyph: unhealthyGlyph, tone: healthTone(ill[0]!), texts: [words.join(', ')] }]),
    ...(blocked === null ? [] : [{ ...stateLook.queued, tone: 'warn' as const, texts: blockedTexts(blocked) }]),
    ...(asking === 0 ? [] : [{ glyph: stateLook.paused.glyph, tone: 'wait' as const, texts: askingTexts(asking) }]),
    ...(waitsForPerson === 0
      ? []
      : [{ ...stateLook.held, texts: [`${countText(waitsForPerson)} held, the rest has ended`] }]),
  ];
}

function heldTexts({ group, runs, reason, shared, error }: HeldGroup): string[] {
  const what = `${countText(runs.length)} held`;
  const where = `${what} in ${cleanText(group)}`;
  const common = shared.length === 0 ? '' : `, all with ${conditionsText(shared)}`;
  const short = reason.replace(/ within [\d.]+ s of starting/, '');
  const brief = shared.length === 0 ? where : `${where} (${conditionsText(shared)})`;
  const said =
    error === null ? [] : [`${reason}${common}: ${error}`, `${short}${common}: ${truncate(error, shortError)}`];
  return [
    ...said.map((words) => `${where}: ${words}`),
    `${where}: ${short}${common}`,
    `${where}${common}`,
    brief,
    what,
  ];
}

/** Maximum columns of an error message that leaves room for other items. */
const shortError = 40;

function failedTexts({ count, kinds }: Attention['failed']): string[] {
  const [most] = kinds;
  const what = `${countText(count)} failed`;
  const whole = kinds.length === 1 ? `${what}: ` : `${what}, ${countText(most!.count)} of them: `;
  return [whole + most!.words, whole + truncate(most!.words, shortError), what];
}

function askingTexts(asking: number): string[] {
  return [`${countText(asking)} ${asking === 1 ? 'waits' : 'wait'} for input`];
}

function blockedTexts({ count, reason }: NonNullable<Attention['blocked']>): string[] {
  return [`${countText(count)} cannot start: ${reason}`, `${countText(count)} cannot start`];
}

/** Shortens the less urgent items first, then drops them, before the first item is shortened to a count. */
function fittingWords(items: readonly Item[], room: number): Line {
  const lengths = items.map(() => 0);
  const shown = [...items];
  const line = (): Line =>
    shown.flatMap(({ glyph, tone, texts }, index) => [
      span(`${index === 0 ? ' ' : '   '}${glyph}`, tone),
      span(` ${texts[lengths[index]!]!}`, tone),
    ]);
  while (lineWidth(line()) > room) {
    const isFirstOfSeveral = (index: number): boolean => index === 0 && shown.length > 1;
    const next = shown.findLastIndex(
      ({ texts }, index) => lengths[index]! < texts.length - (isFirstOfSeveral(index) ? 2 : 1),
    );
    if (next >= 0) lengths[next]!++;
    else if (shown.length > 1) shown.pop();
    else break;
  }
  return line();
}

/** Keys for what needs the user, if the screen has them. */
function attentionHints(model: WindowModel): readonly KeyHint[] {
  const { screen, keys, beforeFailures } = model.ui;
  if (screen.kind !== 'jobs' && screen.kind !== 'run') return [];
  const { held, waitsForPerson, hasTrouble } = model.attention();
  const shows: KeyHint[] = hasTrouble
    ? [[keyOf('failures', keys), beforeFailures === null ? 'shows them' : 'back']]
    : [];
  return held.length > 0 || waitsForPerson > 0 ? [...shows, continueHint(model)] : shows;
}

/**
 * The hint for continuing held runs. The plain key is enough unless it would hold something at the selection; then the hint selects
 * the group first.
 */
function continueHint(model: WindowModel): KeyHint {
  const { groups, ui, attention } = model;
  const key = keyOf('hold-group', ui.keys);
  const [held] = attention().held;
  const node = selectedNode(model);
  const branch = node?.kind === 'run' ? new BranchIndex(groups).get(node.parent) : node;
  if (held === undefined || branch?.runs.some(fits({ verb: 'hold' })) !== true) return [key, 'continues'];
  const place = groups.findIndex((each) => each.key === `${held.sweep}/${held.group}`);
  const isNumbered = ui.grouping[0].kind === 'group' && place >= 0 && place < 10;
  return isNumbered ? [`${(place + 1) % 10} ${key}`, 'continues'] : [':', `release group:${cleanText(held.group)}`];
}

/** The last refusal or answer, otherwise what the list shows. */
export function messageLine(model: WindowModel, width: number): Line {
  const { note } = model.ui;
  if (note !== null) return fitLine([span(` ${note.text}`, note.tone)], width);
  if (model.pending.length > 0) return fitLine([span(` ${model.pending.join(' · ')}`, 'dim')], width);
  return ends(listState(model), directory(model, width), width);
}

function listState({ ui, metric, detail }: WindowModel): Line {
  const shown = detail.charts[0]?.metric ?? metric;
  const parts = [
    ui.filter === '' ? null : `filter ${ui.filter}`,
    isInitialSort(ui.sort) ? null : sortWords(ui.sort, metric),
    // A warm-up has charts of its own metrics.
    metric === null
      ? null
      : `${ui.screen.kind === 'jobs' && shown !== metric ? 'metric of the list' : 'metric'} ${metric}`,
  ];
  const marked = ui.marks.size === 0 ? [] : [span(` ◆ ${ui.marks.size} marked ·`, 'accent')];
  return [...marked, span(` ${parts.filter((part) => part !== null).join(' · ')}`, 'faint')];
}

/** The directory of the selected run, if it leaves room for the rest. */
function directory(model: WindowModel, width: number): Line {
  const node = selectedNode(model);
  if (node?.kind !== 'run') return [];
  const { directory: link } = node.run;
  const path = cleanText(link);
  // A directory of another host has the name of that before it, and cannot be opened here.
  const shown = link.startsWith('/') ? { text: path, tone: 'faint' as const, link } : span(path, 'faint');
  return textWidth(path) > width * 0.6 ? [] : [shown, span(' ')];
}

/** As many keys of the shown screen as fit; those that lead on or out are always included. */
export function screenKeysLine(model: WindowModel, width: number): Line {
  return fitLine(fitting(screenHints(model), width), width);
}

/** `worth`: hints worth more stay longer in a narrow footer. */
type ScreenHint = readonly [...hint: KeyHint, worth: number];

/** Key hints of the shown screen in the order of its table. A window that only looks offers nothing that acts on runs. */
function screenHints(model: WindowModel): ScreenHint[] {
  const { screen, keys } = model.ui;
  const isReadOnly = model.status.readOnly !== undefined;
  return keysOn(screen.kind, keys).flatMap(({ short, hint, shown, worth, command }): ScreenHint[] => {
    if (isReadOnly && isActing(command)) return [];
    const word = typeof short === 'function' ? short(model) : short;
    return word === null || word === undefined ? [] : [[hint ?? shown, word, worth ?? 1]];
  });
}

/** Drops the hint worth least until the line fits; among equals, the last. */
function fitting(list: readonly ScreenHint[], width: number): Line {
  const kept = new Set(list);
  const columnsOf = ([key, does]: ScreenHint): number => hintWidth([key, does]);
  let columns = list.reduce((sum, hint) => sum + columnsOf(hint), 0);
  for (const hint of list.toReversed().sort((a, b) => worthOf(a) - worthOf(b))) {
    if (columns <= width || worthOf(hint) === always) break;
    kept.delete(hint);
    columns -= columnsOf(hint);
  }
  return hintLine(list.filter((hint) => kept.has(hint)).map(([key, does]) => [key, does]));
}

function worthOf([, , worth]: ScreenHint): number {
  return worth;
}
