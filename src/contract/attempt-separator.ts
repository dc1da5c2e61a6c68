/** The line between the attempts in a run's log, so that the log of a resumed run can be read. */
export function attemptSeparator(attempt: number, at: Date): string {
  return `──── attempt ${attempt}, ${at.toISOString()} ────`;
}

/** What `attemptSeparator` writes, as a whole line. */
export const attemptRule = /^──── attempt \d+, \S+Z ────$/;

/** The lines that the last attempt wrote, of the end of a log. */
export function linesOfLastAttempt(lines: readonly string[]): readonly string[] {
  return lines.slice(lines.findLastIndex((line) => attemptRule.test(line)) + 1);
}
