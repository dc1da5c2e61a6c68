import type { Report } from './report.js';

/** The report for other programs. Infinity, which JSON lacks, is the text `infinite`. */
export function reportJson(report: Report): string {
  return JSON.stringify(
    report,
    (_key, value: unknown) =>
      value === Infinity ? 'infinite' : typeof value === 'number' && Number.isNaN(value) ? null : value,
    2,
  );
}
