import { shorten } from './failure-line.js';

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
