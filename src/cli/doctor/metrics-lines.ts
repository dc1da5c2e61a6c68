import type { MetricsReport } from '../../metrics/describe-sources.js';
import { type ReportLine, reportLines } from '../../metrics/report-lines.js';
import { wrap } from '../../text/wrap.js';

/** The description of a run's metrics as lines of text. */
export function metricsLines(directory: string, report: MetricsReport, width: number): string[] {
  const [first, ...rest] = reportLines(report);
  return [...wrap(`${directory}: ${first!.text}`, width), ...rest.flatMap((line) => linesOf(line, width))];
}

function linesOf({ kind, text }: ReportLine, width: number): string[] {
  if (kind === 'gap') return [''];
  // Not wrapped, as it is meant to be copied.
  if (kind === 'code') return [`  ${text}`];
  return kind === 'plain' ? wrap(text, width) : wrap(text, width - 2).map((line) => `  ${line}`);
}
