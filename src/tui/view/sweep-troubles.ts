import { cleanText } from '../../text/display-text.js';
import { shortDuration } from '../../text/duration.js';
import { sectionRule } from './section.js';
import { fit, fitLine, type Line, span } from './span.js';
import { stateLook } from './state-look.js';
import type { FailureClass, SlowRun, SweepOverview } from './sweep-overview.js';

/** From this width on the two stand beside each other. */
const wide = 100;
const gap = 3;

/** The runs that took longest, and how runs failed. */
export function troubleSection({ slowest, failures }: SweepOverview, width: number): Line[] {
  if (width < wide) return [...slowSection(slowest, width), [], ...failureSection(failures, width)];
  const left = Math.floor((width - gap) / 2);
  const right = width - gap - left;
  const slow = slowSection(slowest, left);
  const failed = failureSection(failures, right);
  return Array.from({ length: Math.max(slow.length, failed.length) }, (_, row): Line => [
    ...fitLine(slow[row] ?? [], left),
    span(' '.repeat(gap)),
    ...fitLine(failed[row] ?? [], right),
  ]);
}

function slowSection(slowest: readonly SlowRun[], width: number): Line[] {
  const rule = sectionRule('slowest runs', [span('beside the median of the group', 'faint')], width);
  if (slowest.length === 0) return [rule, [span(' No run has started.', 'dim')]];
  return [rule, ...slowest.map((slow) => slowRow(slow, width))];
}

function slowRow({ run, time, factor }: SlowRun, width: number): Line {
  const { glyph, tone } = stateLook[run.state];
  const left = run.state === 'running' && run.etaSeconds !== null ? `${shortDuration(run.etaSeconds * 1000)} left` : '';
  const name = Math.max(8, width - 30);
  const isSlow = factor !== null && factor >= 1.5;
  return [
    span(` ${glyph} `, tone),
    span(fit(cleanText(run.name), name)),
    span(shortDuration(time).padStart(8), 'plain'),
    span(
      factor === null ? ' '.repeat(8) : `×${factor.toFixed(factor < 10 ? 1 : 0)}`.padStart(8),
      isSlow ? 'warn' : 'dim',
    ),
    span(`  ${left}`, 'dim'),
  ];
}

function failureSection(failures: readonly FailureClass[], width: number): Line[] {
  const count = failures.reduce((sum, failure) => sum + failure.count, 0);
  const rule = sectionRule('failures', count === 0 ? [] : [span(String(count), 'bad')], width);
  if (count === 0) return [rule, [span(' None.', 'good')]];
  return [rule, ...failures.flatMap(failureRows)];
}

/** The class, and below it the reason that most of them gave and the names of a few. */
function failureRows({ name, count, reason, reasonCount, runs }: FailureClass): Line[] {
  const { glyph, tone } = stateLook[runs[0]!.state];
  const shown = reasonCount > 1 && reasonCount < count ? `  (${reasonCount} of ${count})` : '';
  const names = runs.slice(0, 3).map((run) => cleanText(run.name));
  const more = runs.length > names.length ? `, and ${runs.length - names.length} more` : '';
  return [
    [span(` ${glyph} `, tone), span(`${count} × ${name}`, 'strong')],
    ...(reason === null ? [] : [[span(`   ${reason}${shown}`, tone)]]),
    [span(`   ${names.join(', ')}${more}`, 'dim')],
  ];
}
