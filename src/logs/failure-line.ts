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

/** How programs begin to say that something broke. A warning, or a metric called `error`, is none of these. */
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

/** Words that stand in every line that says so: text without them can be passed over. */
export const errorWords =
  /[Ee]rror|ERR|Exception|Interrupt|Failure|Traceback|[Ff]atal|FATAL|CRITICAL|CUDA|RESOURCE_EXH|Killed|Terminated|Aborted|Segmentation|Illegal|panic|terminate|oom-kill|not found|Cannot alloc|No space/g;

/** Whether a line of a log, safe to draw, says that something broke: where reading should begin. */
export function isErrorLine(line: string): boolean {
  return signs.some((sign) => sign.test(line));
}

/** How programs say that memory has run out: of the GPU, of the process, of the machine. Any one is enough. */
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
  // Who saw the kernel do it: PyTorch's data loader, Slurm, a shell.
  /\bDataLoader worker \(pid\(?s?\)? [\d, ]+\) (?:is killed by signal: Killed|exited unexpectedly with exit code -?9)/,
  /\bOOM[ -]Killed\b|\boom-kill(?:er)?\b|\boom_kill event/i,
];

/** What a program says of what it survived. */
const survived = /\b(?:WARN(?:ING)?|INFO|DEBUG)\b/;

/** Between the exceptions of a Python traceback that have one cause. */
const link = /^(?:During handling of the above exception|The above exception was the direct cause)/;

/**
 * The line that says that memory has run out, where that is why the program failed; null where it is not.
 *
 * @param lines The end of the log, oldest first. @param failure The line of them that says best why it failed.
 */
export function outOfMemoryLine(lines: readonly string[], failure: string | null): string | null {
  if (failure !== null && saysOutOfMemory(failure)) return failure;
  // It failed while it dealt with the want of memory: the first of the linked exceptions is the cause.
  const cause = lines.findLastIndex((line) => saysOutOfMemory(line));
  const next = lines.slice(cause + 1).find((line) => line.trim() !== '');
  return cause >= 0 && next !== undefined && link.test(next) ? shorten(lines[cause]!) : null;
}

function saysOutOfMemory(line: string): boolean {
  return sayings.some((saying) => saying.test(line)) && !survived.test(line);
}
