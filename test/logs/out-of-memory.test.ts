import { describe, expect, it } from 'vitest';
import { findFailure } from '../../src/logs/failure-line.js';

const traceback = 'Traceback (most recent call last):\n  File "train.py", line 88, in <module>\n    main()\n';

/** What programs print when memory has run out, and the line that says it. */
const deaths: { of: string; log: string; line: string }[] = [
  {
    of: 'PyTorch on a GPU',
    log: `step 40 loss 2.31
${traceback}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.12 GiB is free.
[rank0]:[W1010 12:00:00 ProcessGroupNCCL.cpp:1250] Warning: process group has NOT been destroyed`,
    line: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.12 GiB is free.',
  },
  {
    of: 'PyTorch before version 2',
    log: `${traceback}RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity)`,
    line: 'RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity)',
  },
  {
    of: 'a rank under torchrun, whose launcher fails after it',
    log: `[rank1]: ${traceback.trim().replaceAll('\n', '\n[rank1]: ')}
[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.
E1010 12:00:01 7 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 77)
${traceback}torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html`,
    line: '[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.',
  },
  {
    of: 'a driver call',
    log: `${traceback}torch.AcceleratorError: CUDA error: out of memory\nCUDA kernel errors might be reported later`,
    line: 'torch.AcceleratorError: CUDA error: out of memory',
  },
  {
    of: 'cuBLAS, which needs its workspace',
    log: `${traceback}RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling \`cublasCreate(handle)\``,
    line: 'RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`',
  },
  {
    of: 'a CUDA program in C++',
    log: 'epoch 3\ntrain.cu:102: cudaErrorMemoryAllocation: out of memory',
    line: 'train.cu:102: cudaErrorMemoryAllocation: out of memory',
  },
  {
    of: 'PyTorch on ROCm',
    log: `${traceback}torch.OutOfMemoryError: HIP out of memory. Tried to allocate 4.00 GiB.`,
    line: 'torch.OutOfMemoryError: HIP out of memory. Tried to allocate 4.00 GiB.',
  },
  {
    of: 'a HIP program',
    log: 'hipErrorOutOfMemory: out of memory (train.hip:31)',
    line: 'hipErrorOutOfMemory: out of memory (train.hip:31)',
  },
  {
    of: 'PyTorch on a Mac',
    log: `${traceback}RuntimeError: MPS backend out of memory (MPS allocated: 17.98 GB, max allowed: 18.13 GB)`,
    line: 'RuntimeError: MPS backend out of memory (MPS allocated: 17.98 GB, max allowed: 18.13 GB)',
  },
  {
    of: 'PyTorch on the processor',
    log: `${traceback}RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 400000000000 bytes.`,
    line: "RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 400000000000 bytes.",
  },
  {
    of: "PyTorch's data loader",
    log: `${traceback}RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed. `,
    line: 'RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed.',
  },
  {
    of: 'JAX',
    log: `${traceback}jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.`,
    line: 'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.',
  },
  {
    of: 'TensorFlow',
    log: `${traceback}tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[4096,8192] and type float`,
    line: 'tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[4096,8192] and type float',
  },
  {
    of: 'CuPy',
    log: `${traceback}cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,000,000,000 bytes`,
    line: 'cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,000,000,000 bytes',
  },
  { of: 'Python', log: `${traceback}MemoryError`, line: 'MemoryError' },
  {
    of: 'NumPy',
    log: `${traceback}numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.28 TiB for an array with shape (1000000, 1000000) and data type float64`,
    line: 'numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.28 TiB for an array with shape (1000000, 1000000) and data type float64',
  },
  {
    of: 'a fork that the system refuses',
    log: `${traceback}OSError: [Errno 12] Cannot allocate memory`,
    line: 'OSError: [Errno 12] Cannot allocate memory',
  },
  {
    of: 'Python, while it dealt with that',
    log: `${traceback}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.

During handling of the above exception, another exception occurred:

${traceback}RuntimeError: could not save the emergency checkpoint`,
    line: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.',
  },
  {
    of: 'Python, wrapped by a library',
    log: `${traceback}MemoryError

The above exception was the direct cause of the following exception:

${traceback}datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset`,
    line: 'MemoryError',
  },
  {
    of: 'a child whose failure its parent reports',
    log: `${traceback}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
${traceback}subprocess.CalledProcessError: Command '['python', 'train.py']' returned non-zero exit status 1.`,
    line: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.',
  },
  {
    of: 'C++',
    log: "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\nAborted (core dumped)",
    line: "terminate called after throwing an instance of 'std::bad_alloc'",
  },
  {
    of: 'Node',
    log: `[77:0x5] 3049 ms: Mark-Compact 4094.2 (4136.1) -> 4092.1 MB

<--- JS stacktrace --->

FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
----- Native stack trace -----

 1: 0xb8ced1 node::OOMErrorHandler(char const*, v8::OOMDetails const&) [node]
Aborted (core dumped)`,
    line: 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
  },
  {
    of: 'Node, for one big array',
    log: 'RangeError: Array buffer allocation failed\n    at new ArrayBuffer (<anonymous>)',
    line: 'RangeError: Array buffer allocation failed',
  },
  {
    of: 'Go',
    log: 'fatal error: runtime: out of memory\n\ngoroutine 1 [running]:',
    line: 'fatal error: runtime: out of memory',
  },
  {
    of: 'Rust',
    log: 'memory allocation of 8589934592 bytes failed\nAborted (core dumped)',
    line: 'memory allocation of 8589934592 bytes failed',
  },
  {
    of: 'Java',
    log: 'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat Main.main(Main.java:5)',
    line: 'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space',
  },
  {
    of: 'R',
    log: 'Error: cannot allocate vector of size 7.5 Gb\nExecution halted',
    line: 'Error: cannot allocate vector of size 7.5 Gb',
  },
  { of: 'Julia', log: 'ERROR: LoadError: OutOfMemoryError()', line: 'ERROR: LoadError: OutOfMemoryError()' },
  {
    of: 'a shell that cannot fork',
    log: 'bash: fork: Cannot allocate memory',
    line: 'bash: fork: Cannot allocate memory',
  },
  {
    of: 'Slurm',
    log: 'slurmstepd: error: Detected 1 oom_kill event in StepId=12.batch. Some of the step tasks have been OOM Killed.',
    line: 'slurmstepd: error: Detected 1 oom_kill event in StepId=12.batch. Some of the step tasks have been OOM Killed.',
  },
];

/** Ends of programs that memory had nothing to do with, whatever they said before. */
const otherDeaths: { of: string; log: string }[] = [
  {
    of: 'a program that took less memory, and then failed for another reason',
    log: `WARNING: CUDA out of memory, halving the batch to 16
step 50 loss 1.9
${traceback}ValueError: loss is NaN`,
  },
  {
    of: 'a program that caught it with a traceback and went on',
    log: `${traceback}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
retrying with batch 16
step 50 loss 1.9
${traceback}KeyError: 'lr'`,
  },
  { of: 'a program that someone killed', log: 'step 9\nKilled' },
  { of: 'a full disk', log: `${traceback}OSError: [Errno 28] No space left on device` },
  {
    of: 'too little shared memory',
    log: `${traceback}RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.`,
  },
  { of: 'nothing said', log: 'step 1\nstep 2' },
  { of: 'an empty log', log: '' },
];

describe('a failure for want of memory', () => {
  it.each(deaths)('is known by the words of $of', ({ log, line }) => {
    expect(findFailure(log.split('\n'))?.outOfMemory).toBe(line);
  });

  it.each(otherDeaths)('is not made of the end of $of', ({ log }) => {
    expect(findFailure(log.split('\n'))?.outOfMemory ?? null).toBeNull();
  });
});
