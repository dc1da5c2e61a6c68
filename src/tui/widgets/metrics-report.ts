import type { ReportLine } from '../../metrics/describe-sources.js';
import { cleanText } from '../../text/display-text.js';
import { wrapWithin } from '../../text/wrap.js';
import { fitLine, type Line, span, type Tone } from '../surface/span.js';

const tones: Readonly<Record<ReportLine['kind'], Tone>> = {
  plain: 'plain',
  detail: 'dim',
  code: 'accent',
  gap: 'plain',
};
/** Maximum rows of one line, since file names can be very long. */
const MOST_ROWS = 12;

/** The report on a run's metrics, `width` columns wide. If the line of code is cut, says where it can be copied completely. */
export function metricsReport(lines: readonly ReportLine[], width: number): Line[] {
  return lines.flatMap(({ kind, text }): Line[] => {
    if (kind === 'gap') return [[]];
    const indent = kind === 'plain' ? 0 : 2;
    const pieces = wrapWithin(cleanText(text), Math.max(8, width - indent), MOST_ROWS);
    const cut = kind === 'code' && pieces.length > 1 ? wrapWithin(toCopy, Math.max(8, width), 3) : [];
    return [
      ...pieces.map((piece): Line => [span(' '.repeat(indent) + piece, tones[kind])]),
      ...cut.map((piece): Line => [span(piece, 'dim')]),
    ];
  });
}

const toCopy = 'as one line, to copy: memrl-tui doctor --metrics RUN';

/** The same in exactly `height` lines; the last one says where the rest is. */
export function metricsReportWithin(lines: readonly ReportLine[], width: number, height: number): Line[] {
  const all = metricsReport(lines, width);
  const rows =
    all.length <= height
      ? all
      : [...all.slice(0, height - 1), fitLine([span('… more in the config pane of the run', 'faint')], width)];
  return Array.from({ length: height }, (_, row): Line => rows[row] ?? []);
}
