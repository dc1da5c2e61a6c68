import { chanceText, conditionsText, type FailureCause } from '../../../analysis/failures/failure-causes.js';
import { healthText } from '../../../analysis/health/finding.js';
import { errorOf } from '../../../base/run-words.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { shortDuration } from '../../../text/duration.js';
import { countText } from '../../../text/numbers.js';
import { wrapWithin } from '../../../text/wrap.js';
import { type Branch, firstFailureOf } from '../../model/tree/branch.js';
import type { FoundCause } from '../../../analysis/failures/failure-kinds.js';
import type { WindowModel } from '../../model/window-model.js';
import { ends, fit, fitLine, fitRight, type Line, span } from '../../surface/span.js';

/** Columns of the numbers in a row: number of runs, and time since the first of them failed. */
const sizes = { runs: 6, first: 6 };
/** Columns between them. */
const margins = 4;
/** Minimum columns of the kind of failure. The next constant is the maximum of the cause. */
const leastKind = 18;
const longestCause = 48;

/** Number of kinds whose causes determine the layout. */
const measured = 20;

/** Columns of the kind of failure and of its cause. */
export type FailureLayout = { readonly kind: number; readonly cause: number };

/** Divides rows of `width` columns between the two; the cause takes no more than it needs. */
export function failureLayout(
  { groups, causeOf }: Pick<WindowModel, 'groups' | 'causeOf'>,
  width: number,
): FailureLayout {
  const room = width - sizes.runs - sizes.first - margins;
  const most = Math.max(0, Math.min(longestCause, Math.ceil(room * 0.58), room - leastKind));
  const wanted = groups.slice(0, measured).map((group) => textWidth(causeText(causeOf(group), most)));
  const cause = Math.min(most, Math.max(causeHeading.length, ...wanted));
  return { kind: room - cause, cause };
}

const causeHeading = 'mostly with';

/** The heading above rows of failures. */
export function failureHeading({ kind, cause }: FailureLayout): Line {
  const words = [
    fit('   what went wrong', kind),
    fitRight('runs', sizes.runs),
    ` ${fit(causeHeading, cause)}`,
    fitRight('since', sizes.first),
  ];
  return [span(words.join(' '), 'faint')];
}

/** One kind of failure. `sign`: mark, fold and digit before the text. `now`: Unix ms. */
export function failureRow(
  branch: Branch,
  sign: Line,
  found: FoundCause | undefined,
  { kind, cause, now }: FailureLayout & { readonly now: number },
): Line {
  const { endedAt } = firstFailureOf(branch);
  const since = endedAt === null ? '' : shortDuration(Math.max(0, now - endedAt));
  return [
    ...fitLine([...sign, span(branch.label, 'title')], kind),
    span(` ${fitRight(countText(branch.runs.length), sizes.runs)}`, 'bad'),
    span(`  ${fit(causeText(found, cause), cause)}`, 'value'),
    span(` ${fitRight(since, sizes.first)}`, 'dim'),
  ];
}

/** The longest text of the cause that fits in `width` columns: `batch_size=64 (412 of 417, p < 1e-99)`. */
function causeText(found: FoundCause | undefined, width: number): string {
  if (found === undefined) return '…';
  if (found.cause === null) return '–';
  const { conditions, inside, log10P } = found.cause;
  const what = conditionsText(conditions);
  const runs = `${countText(inside.failed)} of ${countText(inside.runs)}${found.isSampled ? ' sampled' : ''}`;
  const texts = [`${what} (${runs}, ${chanceText(log10P)})`, `${what} (${runs})`];
  return texts.find((text) => textWidth(text) <= width) ?? what;
}

/** Details of the selected kind of failure: the complete error, the number of runs, and the cause. `total`: number of all runs. */
export function failureDetail(
  branch: Branch,
  found: FoundCause | undefined,
  { width, now, total }: { readonly width: number; readonly now: number; readonly total: number },
): Line[] {
  const first = firstFailureOf(branch);
  const count = `${countText(branch.runs.length)} of ${countText(total)} runs`;
  const since = first.endedAt === null ? '' : `first ${shortDuration(Math.max(0, now - first.endedAt))} ago`;
  return [
    ...wrapWithin(cleanText(errorOf(first) ?? healthText(first) ?? branch.label), width, 3).map((text): Line => [
      span(text, 'bad'),
    ]),
    ends([span(`${count} · ${first.name}`, 'dim')], [span(`  ${since}`, 'dim')], width),
    ...causeLines(found).flatMap((text) => wrapWithin(text, width, 2).map((line): Line => [span(line, 'value')])),
  ];
}

function causeLines(found: FoundCause | undefined): string[] {
  if (found === undefined) return ['Looking for what these runs have in common …'];
  if (found.cause === null) return ['No parameter goes with it.'];
  return [causeSentence(found.cause, found.isSampled), ...aliasSentence(found.cause)];
}

function causeSentence({ conditions, inside, outside, log10P }: FailureCause, isSampled: boolean): string {
  const share = `${countText(inside.failed)} of ${countText(inside.runs)} runs`;
  const others = `${countText(outside.failed)} of the ${countText(outside.runs)} others`;
  return `With ${conditionsText(conditions)}: ${share}, else ${others} (${chanceText(log10P)}${isSampled ? ', of a sample' : ''}).`;
}

function aliasSentence({ aliases }: FailureCause): string[] {
  return aliases.length === 0 ? [] : [`The same runs have ${conditionsText(aliases)}.`];
}
