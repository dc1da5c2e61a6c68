import { conditionsText } from '../../analysis/failures/failure-words.js';
import { healthWord } from '../../analysis/health/finding.js';
import { ailments } from '../../base/run-words.js';
import { fits } from '../../protocol/run-verbs.js';
import { cleanText } from '../../text/display-text.js';
import { truncate } from '../../text/display-width.js';
import { countText } from '../../text/numbers.js';
import type { Attention, HeldGroup } from '../model/attention.js';
import { healthTone, stateLook, unhealthyGlyph } from '../model/state-look.js';
import type { Tally } from '../model/tally.js';
import { BranchIndex } from '../model/tree/branch-index.js';
import { selectedNode, type WindowModel } from '../model/window-model.js';
import { keyOf } from '../screens/key-map.js';
import { fitLine, type Line, lineWidth, span, type Tone } from '../surface/span.js';
import { hintLine, type KeyHint } from '../widgets/key-hints.js';

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
export function attentionHints(model: WindowModel): readonly KeyHint[] {
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
