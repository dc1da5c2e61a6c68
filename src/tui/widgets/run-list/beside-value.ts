import { notFiniteText } from '../../../analysis/seed-statistics.js';
import { textWidth, truncate } from '../../../text/display-width.js';
import { narrowNumber } from '../../../text/numbers.js';
import type { RunValues } from '../../model/tally.js';
import type { BranchValue } from '../../model/tree/branch-value.js';
import { type Line, lineWidth, span } from '../../surface/span.js';
import { shortKey } from '../short-key.js';

/** What belongs to the value of a group: `±0.12 · 4 NaN`, `lr=0.1, median of 3`, or the other end of a range: `to 9.31`. */
export function besideValue(value: BranchValue | null, width: number): Line {
  if (value === null) return [];
  if (value.kind === 'best') return [span(settingText(value, width), 'accent')];
  if (value.kind === 'seeds') return besideMean(value, width);
  if (value.low >= value.high) return value.low > value.high ? [] : withBroken('', value.broken, width);
  const end = `to ${narrowNumber(value.high)}`;
  return textWidth(end) <= width ? withBroken(end, value.broken, width) : [];
}

/** The longest text of a setting that fits; its values alone, if its names do not. */
function settingText(
  { setting, runs, isJudged, metric }: BranchValue & { readonly kind: 'best' },
  width: number,
): string {
  const median = runs > 1 ? `median of ${runs}` : '';
  const by = isJudged ? '' : `best by ${shortKey(metric)}`;
  const bare = setting.replace(/(^| )[^ =]+=/g, '$1');
  const texts = [[setting, median, by], [setting, by], [setting], [bare]];
  const fitting = texts.map((words) => words.filter((word) => word !== '').join(', '));
  return fitting.find((text) => textWidth(text) <= width) ?? truncate(bare, width);
}

/**
 * Deviation and number of other runs: `±0.12 · 4 NaN, 1 diverged`; only the latter if there is little room. Runs that are not as far
 * as the others are counted (`±0.12, 2 behind`), or marked (`±0.12*`).
 */
function besideMean({ values, broken, behind }: BranchValue & { readonly kind: 'seeds' }, width: number): Line {
  if (values.count === 0) return [];
  const deviation = values.count < 2 ? '' : `±${shortDeviation(values.deviation)}`;
  const words = [notFiniteText(values), broken].filter((each) => each !== '').join(', ');
  if (words !== '') return withBroken(behind > 0 ? `${deviation}*` : deviation, words, width);
  if (behind === 0) return [span(fittingDeviation(values, deviation, width), 'dim')];
  const counted = [deviation, `${behind} behind`].filter((each) => each !== '').join(', ');
  return [span([counted, `${deviation}*`].find((text) => textWidth(text) <= width) ?? '*', 'dim')];
}

/** The text, and what is wrong with other runs if there is room. */
function withBroken(text: string, broken: string, width: number): Line {
  const own = textWidth(text) <= width ? [span(text, 'dim')] : [];
  if (broken === '') return own;
  const whole = [span(text === '' ? '· ' : `${text} · `, 'dim'), span(broken, 'bad')];
  if (lineWidth(whole) <= width) return whole;
  return text.startsWith('to ') ? own : [span(broken, 'bad')];
}

/** The deviation with one digit or not at all if there is little room, since a cut number would be wrong. */
function fittingDeviation({ deviation }: RunValues, text: string, width: number): string {
  const texts = [text, `±${deviation.toExponential(0).replace('e+', 'e')}`];
  return texts.find((each) => each.length <= width) ?? '';
}

/** Two significant digits, enough for a handful of seeds; one for small values. */
function shortDeviation(value: number): string {
  if (value >= 100 || value === 0) return narrowNumber(value);
  if (value < 1e-3) return value.toExponential(0);
  return value.toPrecision(value < 0.01 ? 1 : 2);
}
