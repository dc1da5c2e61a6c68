/** The line that the supervisor writes into a log between the attempts of a run (`executors/local/log-separator.ts`; a test compares them). */
export const attemptRule = /^──── attempt \d+, \S+Z ────$/;
