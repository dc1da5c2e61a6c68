/** The line between the attempts in a run's log, so that the log of a resumed run can be read. */
export function logSeparator(attempt: number, at: Date): string {
  return `──── attempt ${attempt}, ${at.toISOString()} ────`;
}

/** The lines that the last attempt wrote, of the end of a log. */
export function linesOfLastAttempt(lines: readonly string[]): readonly string[] {
  return lines.slice(lines.findLastIndex((line) => /^──── attempt \d+, \S+Z ────$/.test(line)) + 1);
}
