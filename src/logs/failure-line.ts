/** Longest line worth showing in a row of the screen. */
const LONGEST = 300;

/**
 * Ways a program says why it died, the telling ones first. A pattern of an earlier rank wins over one of a later rank
 * wherever it stands; within a rank the last line wins, because programs say the cause last.
 */
const ranks: readonly (readonly RegExp[])[] = [
  [
    // Python, also with a module path (`torch.OutOfMemoryError: …`), in an exception group (`  | ValueError: …`), of a rank.
    /^(?:\s*[|+][\s|+-]*|\[rank\d+\]: )?(?:[A-Za-z_][\w]*\.)*(?!Warning|CalledProcessError)_?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failure)(?:$|: )/,
    // A Python assertion or exit without a message, and Node (`Error: …`, `TypeError [ERR_X]: …`, `Uncaught …`).
    /^(?:Uncaught (?:\w+ )?)?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[[\w]+\])?: \S/,
    // Libraries below Python; a warning was survived.
    /^(?!.*\b(?:WARN(?:ING)?|INFO|DEBUG)\b).*(?:\bCUDA out of memory\b|\bCUDA error: |\bcuBLAS error\b|\bNCCL error\b|\bRESOURCE_EXHAUSTED\b)/,
    /^memory allocation of \d+ bytes failed$|: Cannot allocate memory$|^Exception in thread "[^"]*" [\w.]+/,
    /^thread '.*' panicked at |^panic: |^fatal error: |\bterminate called after throwing\b/,
    /^(?:\S*sh|env|\S+): (?:line )?(?:\d+: )?.*(?:not found|Permission denied|No such file or directory|Exec format error)$/,
    /\bNo space left on device\b|\bDisk quota exceeded\b/,
  ],
  [
    // Who only reports that a program it started has failed.
    /^(?:\[rank\d+\]: )?subprocess\.CalledProcessError: /,
  ],
  [
    /^(?:.*[\s:\]])?(?:slurmstepd: )?(?:fatal|error)(?:\[\w+\])?: \S/i,
    /^(?:.*\s)?(?:ERROR|CRITICAL|FATAL)\b[\s:\]-]*\S/,
    /^npm ERR! \S/,
  ],
  [
    /^(?:.*[\s:])?(?:Killed|Terminated|Aborted|Segmentation fault|Bus error|Illegal instruction|Floating point exception)(?: \(core dumped\))?$/,
    // The shell that waited for the program says it was killed.
    /^\S+: (?:line )?\d+:\s+\d+ (?:Killed|Terminated|Aborted|Segmentation fault|Bus error)\b/,
    /\boom-kill|\bout of memory\b/i,
  ],
];

/**
 * The line of a log that says best why the program failed: its last exception, error or signal. Null when none does.
 *
 * @param lines The end of the log, oldest first, as `lastLines` gives it.
 */
export function failureLine(lines: readonly string[]): string | null {
  const advised = beforeAdvice(lines);
  if (advised !== null) return shorten(advised);
  for (const patterns of ranks) {
    const found = lines.findLast((line) => patterns.some((pattern) => pattern.test(line)));
    if (found !== undefined) return shorten(found);
  }
  return null;
}

/** Our own programs print what is wrong, an empty line, and `→ what to do`. */
function beforeAdvice(lines: readonly string[]): string | null {
  const advice = lines.findLastIndex((line) => line.startsWith('→ '));
  const problem = advice < 2 || lines[advice - 1] !== '' ? undefined : lines[advice - 2];
  return problem === undefined || problem.trim() === '' ? null : problem;
}

/** A line of a log without what stands around it, at a length that fits a row. */
export function shorten(line: string): string {
  const text = line.replace(/^[\s|+-]+/, '').trim();
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}
