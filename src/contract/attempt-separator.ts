/** The line between the attempts in a run's log, so that the log of a resumed run can be read. */
export function attemptSeparator(attempt: number, at: Date): string {
  return `──── attempt ${attempt}, ${at.toISOString()} ────`;
}

/** Matches a whole line that `attemptSeparator` wrote. */
export const attemptRule = /^──── attempt \d+, \S+Z ────$/;

/** The lines of the last attempt, among the last lines of a log. */
export function linesOfLastAttempt(lines: readonly string[]): readonly string[] {
  return lines.slice(lines.findLastIndex((line) => attemptRule.test(line)) + 1);
}
