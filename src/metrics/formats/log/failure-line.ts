/** Lines in which a program or its launcher reports a failure: they hold no metrics. */
const ofFailure =
  /^\s*(?:[\w.-]+: )?(?:\[[^\]]*\] ?)*(?:\[?(?:ERROR|CRITICAL|FATAL)\b|E\d{4} \d\d:\d\d:\d\d)|^[\w-]+(?: \S+)?: (?:fatal |npm )?error: |^(?:srun|slurmstepd): |^npm (?:ERR!|error) |^Node\.js v\d|^\S*\/\S+:\d+(?::\d+)?$|^(?:Effective GPU memory|Memory pool) usage: |^g?make(?:\[\d+\])?: \*{3} |\b[A-Z][A-Z\d]*_[A-Z\d_]+=\d/;
/** Signs of a failure are looked for in so many characters of a line. */
const LONGEST_SIGN = 400;

/** Whether a line says that something has failed, so that its numbers measure nothing. */
export function isOfFailure(line: string): boolean {
  return ofFailure.test(line.length > LONGEST_SIGN ? line.slice(0, LONGEST_SIGN) : line);
}
