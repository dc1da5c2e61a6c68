/** Patterns of messages about exhausted memory of a GPU, a process or the machine; a single match means out of memory. */
const sayings: readonly RegExp[] = [
  // PyTorch, CuPy, ROCm, Apple, NCCL: `CUDA out of memory. Tried to …`, `CUDA error: out of memory`, `Cuda failure 2 'out of memory'`.
  /\b(?:CUDA|HIP|XPU|MPS|NPU|GPU)\b.{0,20}\bout of memory\b/i,
  /\bOutOfMemory(?:Error|Exception)\b/,
  /\bcuda(?:ErrorMemoryAllocation|ErrorOutOfMemory)\b|\bCUDA_ERROR_OUT_OF_MEMORY\b|\bhipErrorOutOfMemory\b/,
  /\bCU(?:BLAS|DNN|FFT|SOLVER|SPARSE)_(?:STATUS_)?ALLOC_FAILED\b/,
  // JAX and TensorFlow.
  /\bRESOURCE_EXHAUSTED: .*\b(?:out of memory|OOM|alloc)/i,
  /\bResourceExhaustedError\b.*\bOOM\b|\bOOM when allocating tensor\b/,
  // Python, NumPy, Arrow, the C++ and C libraries, LLVM, the system.
  /(?:^|[\s.:|])\w*MemoryError(?:$|:)/,
  /\bstd::bad_(?:array_new_length|alloc)\b/,
  /\b(?:Cannot|can't|could not) allocate memory\b|\[Errno 12\]|\bENOMEM\b|^LLVM ERROR: out of memory/i,
  // LightGBM, Node, Go, Rust, R, Julia, Ruby.
  /\[LightGBM\] \[Fatal\] bad allocation/,
  /\bJavaScript heap out of memory\b|\bArray buffer allocation failed\b/,
  /^fatal error: (?:runtime: )?(?:out of memory|cannot allocate memory)/,
  /\bmemory allocation of \d+ bytes failed\b/,
  /\bcannot allocate vector of size\b|\bvector memory (?:exhausted|limit of )/,
  /\bOut of GPU memory trying to allocate\b/,
  /\bfailed to allocate memory \(NoMemoryError\)/,
  // Programs that saw the kernel kill a process: PyTorch's data loader.
  /\bDataLoader worker \(pid\(?s?\)? [\d, ]+\) (?:is killed by signal: Killed|exited unexpectedly with exit code -?9)/,
  /\bOOM[ -]Killed\b|\bOOMKilled\b/i,
];

/** What Slurm, Ray and the kernel say of a process that they ended for want of memory, whatever its parent says of the loss. */
const verdicts =
  /\boom-kill(?:er)?\b|\boom_kill event|^srun: error: .*: tasks? [\d,-]+: Out Of Memory$|\bkilled due to (?:memory pressure|the node running low on memory)/i;

/** Levels of messages after which a program continues. */
const survived = /\b(?:WARN(?:ING)?|INFO|DEBUG)\b/;

/** Whether a line says that memory has run out. */
export function saysOutOfMemory(line: string): boolean {
  return (isVerdict(line) || sayings.some((saying) => saying.test(line))) && !survived.test(line);
}

/** Whether a line reports that another program has ended a process for want of memory. */
export function isVerdict(line: string): boolean {
  return verdicts.test(line);
}
