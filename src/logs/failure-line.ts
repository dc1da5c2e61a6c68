/** Length limit of a line in a row of the screen, in characters. */
const LONGEST = 300;

/**
 * How programs report the reason of their end, the most specific patterns first. An earlier rank takes precedence wherever its line
 * is; within a rank the last line does, as programs print the cause last.
 */
const ranks: readonly (readonly RegExp[])[] = [
  [
    // Python, also with a module path (`torch.OutOfMemoryError: …`), in an exception group (`  | ValueError: …`), of a rank.
    /^(?:\s*[|+][\s|+-]*|\[rank\d+\]: )?(?:[A-Za-z_][\w]*\.)*(?!Warning|CalledProcessError)_?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failure)(?:$|: )/,
    // A Python assertion or exit without a message, and Node (`Error: …`, `TypeError [ERR_X]: …`, `Uncaught …`).
    /^(?:Uncaught (?:\w+ )?)?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[[\w]+\])?: \S/,
    // Libraries below Python; lines marked as warnings do not count, as the program continued.
    /^(?!.*\b(?:WARN(?:ING)?|INFO|DEBUG)\b).*(?:\bCUDA out of memory\b|\bCUDA error: |\bcuBLAS error\b|\bNCCL error\b|\bRESOURCE_EXHAUSTED\b)/,
    /^memory allocation of \d+ bytes failed$|: Cannot allocate memory$|^Exception in thread "[^"]*" [\w.]+/,
    /^thread '.*' panicked at |^panic: |^fatal error: |\bterminate called after throwing\b/,
    /^(?:\S*sh|env|\S+): (?:line )?(?:\d+: )?.*(?:not found|Permission denied|No such file or directory|Exec format error)$/,
    /\bNo space left on device\b|\bDisk quota exceeded\b/,
  ],
  [
    // A program that reports the failure of another one that it started.
    /^(?:\[rank\d+\]: )?subprocess\.CalledProcessError: /,
  ],
  [
    /^(?:.*[\s:\]])?(?:slurmstepd: )?(?:fatal|error)(?:\[\w+\])?: \S/i,
    /^(?:.*\s)?(?:ERROR|CRITICAL|FATAL)\b[\s:\]-]*\S/,
    /^npm ERR! \S/,
  ],
  [
    /^(?:.*[\s:])?(?:Killed|Terminated|Aborted|Segmentation fault|Bus error|Illegal instruction|Floating point exception)(?: \(core dumped\))?$/,
    // The shell that waited for the program reports its signal.
    /^\S+: (?:line )?\d+:\s+\d+ (?:Killed|Terminated|Aborted|Segmentation fault|Bus error)\b/,
    /\boom-kill|\bout of memory\b/i,
  ],
];

/**
 * The line of a log that best explains why the program failed: its last exception, error or signal. Null: there is none.
 *
 * @param lines The end of the log, oldest first, as `lastLines` returns it.
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

/** The error of our own programs, which print it, an empty line, and `→ what to do`. */
function beforeAdvice(lines: readonly string[]): string | null {
  const advice = lines.findLastIndex((line) => line.startsWith('→ '));
  const problem = advice < 2 || lines[advice - 1] !== '' ? undefined : lines[advice - 2];
  return problem === undefined || problem.trim() === '' ? null : problem;
}

/** A line of a log without its decoration, shortened to fit a row. */
export function shorten(line: string): string {
  const text = line.replace(/^[\s|+-]+/, '').trim();
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/** Beginnings of error reports. A warning, or a metric called `error`, does not match. */
const signs: readonly RegExp[] = [
  /^(?:\[rank\d+\]: ?|[\s|+-]*)(?:Exception Group )?Traceback \(most recent call last\)/,
  /^(?:\s*[|+][\s|+-]*|\[rank\d+\]: ?)?(?:[A-Za-z_]\w*\.)*(?!\w*Warning\b)_?[A-Z]\w*(?:Error|Exception|Interrupt|Failure)(?:$|:\s)/,
  /^(?:Uncaught (?:\w+ )?)?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: \S/,
  /^(?!.*\b(?:WARN(?:ING)?|INFO|DEBUG)\b).*\b(?:CUDA out of memory|CUDA error\b|cuBLAS error|NCCL error|RESOURCE_EXHAUSTED)/,
  /^(?:.*[\s\]:|])?(?:FATAL|CRITICAL|ERROR)\b[\s:\]|-]*\S/,
  /^(?:\S+: )?(?:[Ff]atal|[Ee]rror)(?:\[\w+\])?: \S/,
  /^(?:.*[\s:])?(?:Killed|Terminated|Aborted|Segmentation fault|Bus error|Illegal instruction)(?: \(core dumped\))?$/,
  /^thread '.*' panicked at |^panic: |\bterminate called after throwing\b|\boom-kill/,
  /: (?:command not found|Cannot allocate memory)$|\bNo space left on device\b|^npm ERR! \S/,
];

/** Words of which every error line contains one: a text without them can be skipped. */
export const errorWords =
  /[Ee]rror|ERR|Exception|Interrupt|Failure|Traceback|[Ff]atal|FATAL|CRITICAL|CUDA|RESOURCE_EXH|Killed|Terminated|Aborted|Segmentation|Illegal|panic|terminate|oom-kill|not found|Cannot alloc|No space/g;

/** Whether a line of a log, safe to draw, reports an error, so that reading should start there. */
export function isErrorLine(line: string): boolean {
  return signs.some((sign) => sign.test(line));
}

/** How programs report that memory has run out: of the GPU, the process or the machine. One match is enough. */
const sayings: readonly RegExp[] = [
  // PyTorch, CuPy, ROCm, Apple: `CUDA out of memory. Tried to …`, `CUDA error: out of memory`, `MPS backend out of memory`.
  /\b(?:CUDA|HIP|XPU|MPS|NPU|GPU)\b.{0,20}\bout of memory\b/i,
  /\bOutOfMemory(?:Error|Exception)\b/,
  /\bcuda(?:ErrorMemoryAllocation|ErrorOutOfMemory)\b|\bCUDA_ERROR_OUT_OF_MEMORY\b|\bhipErrorOutOfMemory\b/,
  /\bCU(?:BLAS|DNN|FFT|SOLVER|SPARSE)_(?:STATUS_)?ALLOC_FAILED\b/,
  // JAX and TensorFlow.
  /\bRESOURCE_EXHAUSTED: .*\b(?:out of memory|OOM|alloc)/i,
  /\bResourceExhaustedError\b.*\bOOM\b|\bOOM when allocating tensor\b/,
  // Python, NumPy, the C++ and C libraries, the system.
  /(?:^|[\s.:|])_?(?:Array)?MemoryError(?:$|:)/,
  /\bstd::bad_(?:array_new_length|alloc)\b/,
  /\b(?:Cannot|can't|could not) allocate memory\b|\[Errno 12\]|\bENOMEM\b/i,
  // Node, Go, Rust, R, Julia.
  /\bJavaScript heap out of memory\b|\bArray buffer allocation failed\b/,
  /^fatal error: (?:runtime: )?(?:out of memory|cannot allocate memory)/,
  /\bmemory allocation of \d+ bytes failed\b/,
  /\bcannot allocate vector of size\b/,
  // Programs that saw the kernel kill a process: PyTorch's data loader, Slurm, a shell.
  /\bDataLoader worker \(pid\(?s?\)? [\d, ]+\) (?:is killed by signal: Killed|exited unexpectedly with exit code -?9)/,
  /\bOOM[ -]Killed\b|\boom-kill(?:er)?\b|\boom_kill event/i,
];

/** Levels of messages after which a program continues. */
const survived = /\b(?:WARN(?:ING)?|INFO|DEBUG)\b/;

/** Lines between the chained exceptions of a Python traceback. */
const link = /^(?:During handling of the above exception|The above exception was the direct cause)/;

/**
 * The line that reports that memory has run out, if the program failed because of that; else null.
 *
 * @param lines The end of the log, oldest first. @param failure The line among them that best explains the failure.
 */
export function outOfMemoryLine(lines: readonly string[], failure: string | null): string | null {
  if (failure !== null && saysOutOfMemory(failure)) return failure;
  // The program failed while it handled the lack of memory: the first of the chained exceptions is the cause.
  const cause = lines.findLastIndex((line) => saysOutOfMemory(line));
  const next = lines.slice(cause + 1).find((line) => line.trim() !== '');
  return cause >= 0 && next !== undefined && link.test(next) ? shorten(lines[cause]!) : null;
}

function saysOutOfMemory(line: string): boolean {
  return sayings.some((saying) => saying.test(line)) && !survived.test(line);
}
