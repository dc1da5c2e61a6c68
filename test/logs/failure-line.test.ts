import { describe, expect, it } from 'vitest';
import { findFailure } from '../../src/logs/failure-line.js';

const cases: { what: string; log: string; line: string | null }[] = [
  {
    what: 'a Python traceback',
    log: `step 10 loss 0.3
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    main()
  File "train.py", line 8, in main
    raise ValueError("bad value: 3")
ValueError: bad value: 3`,
    line: 'ValueError: bad value: 3',
  },
  {
    what: 'the last of chained exceptions',
    log: `Traceback (most recent call last):
KeyError: 'lr'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 1, in <module>
RuntimeError: no learning rate`,
    line: 'RuntimeError: no learning rate',
  },
  {
    what: 'an exception with a module path, followed by noise',
    log: `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.1 GiB
[rank0]:[W1010 Warning: destroy_process_group() was not called`,
    line: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.1 GiB',
  },
  { what: 'an assertion without words', log: '    assert x\nAssertionError', line: 'AssertionError' },
  {
    what: 'an interrupt from the keyboard',
    log: 'Traceback (most recent call last):\n  x\nKeyboardInterrupt',
    line: 'KeyboardInterrupt',
  },
  {
    what: 'an exception group',
    log: `  + Exception Group Traceback (most recent call last):
  | ExceptionGroup: two (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    | ValueError: inner
    +------------------------------------`,
    line: 'ValueError: inner',
  },
  {
    what: 'a failed import',
    log: "Traceback (most recent call last):\nModuleNotFoundError: No module named 'torch'",
    line: "ModuleNotFoundError: No module named 'torch'",
  },
  {
    what: 'a rank prefix of torchrun',
    log: '[rank1]: Traceback (most recent call last):\n[rank1]:   File "t.py", line 3\n[rank1]: RuntimeError: NCCL communicator was aborted',
    line: '[rank1]: RuntimeError: NCCL communicator was aborted',
  },
  {
    what: 'a Node exception',
    log: `/app/x.js:3
    throw new TypeError('x is not a function');
    ^

TypeError: x is not a function
    at Object.<anonymous> (/app/x.js:3:9)
    at node:internal/main/run_main_module:23:47

Node.js v20.20.2`,
    line: 'TypeError: x is not a function',
  },
  {
    what: 'a Node error with a code',
    log: "Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'y'\n    at x",
    line: "Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'y'",
  },
  { what: 'a program the shell cannot find', log: 'sh: 1: pyhton: not found', line: 'sh: 1: pyhton: not found' },
  {
    what: 'a program bash cannot find',
    log: 'bash: line 1: trian: command not found',
    line: 'bash: line 1: trian: command not found',
  },
  {
    what: 'a script that may not be run',
    log: 'sh: 1: ./train.sh: Permission denied',
    line: 'sh: 1: ./train.sh: Permission denied',
  },
  {
    what: 'a program env cannot find',
    log: "env: 'python9': No such file or directory",
    line: "env: 'python9': No such file or directory",
  },
  {
    what: 'a script Python cannot open',
    log: "python3: can't open file '/x/y.py': [Errno 2] No such file or directory",
    line: "python3: can't open file '/x/y.py': [Errno 2] No such file or directory",
  },
  {
    what: 'the out-of-memory killer',
    log: 'step 9\nsh: line 1: 4242 Killed                  python train.py',
    line: 'sh: line 1: 4242 Killed                  python train.py',
  },
  { what: 'a bare Killed', log: 'step 9\nKilled', line: 'Killed' },
  {
    what: 'a segmentation fault',
    log: 'step 9\nSegmentation fault (core dumped)',
    line: 'Segmentation fault (core dumped)',
  },
  {
    what: 'a CUDA error of a C++ program',
    log: 'CUDA error: an illegal memory access was encountered\nlast words',
    line: 'CUDA error: an illegal memory access was encountered',
  },
  {
    what: 'a JAX allocation',
    log: 'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate',
    line: 'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate',
  },
  {
    what: 'a Rust panic',
    log: "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds",
    line: "thread 'main' panicked at src/main.rs:4:5: index out of bounds",
  },
  {
    what: 'a Go panic',
    log: 'panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:',
    line: 'panic: runtime error: index out of range [3]',
  },
  {
    what: 'a full disk',
    log: "OSError: [Errno 28] No space left on device: 'x'",
    line: "OSError: [Errno 28] No space left on device: 'x'",
  },
  {
    what: 'an argument parser',
    log: 'usage: train.py [-h] [--lr LR]\ntrain.py: error: unrecognized arguments: --lrr=3',
    line: 'train.py: error: unrecognized arguments: --lrr=3',
  },
  {
    what: 'Slurm',
    log: 'slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-01-01 DUE TO TIME LIMIT ***',
    line: 'slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-01-01 DUE TO TIME LIMIT ***',
  },
  { what: 'git', log: 'fatal: not a git repository', line: 'fatal: not a git repository' },
  {
    what: 'a logger at level ERROR',
    log: '2026-01-01 12:00:00,123 - train - ERROR - checkpoint is missing\nbye',
    line: '2026-01-01 12:00:00,123 - train - ERROR - checkpoint is missing',
  },
  {
    what: 'advice: our own programs',
    log: 'started\nUnknown key `learning_rat`.\n\n→ Did you mean learning_rate?',
    line: 'Unknown key `learning_rat`.',
  },
  {
    what: 'an exception rather than the ERROR after it',
    log: 'ValueError: the cause\nERROR: run failed',
    line: 'ValueError: the cause',
  },
  {
    what: 'what a child said rather than that it failed',
    log: "ValueError: lr is 0\nTraceback (most recent call last):\nsubprocess.CalledProcessError: Command '['python']' returned non-zero exit status 1.",
    line: 'ValueError: lr is 0',
  },
  {
    what: 'that a child failed, if it said nothing',
    log: "Traceback (most recent call last):\nsubprocess.CalledProcessError: Command '['false']' returned non-zero exit status 1.",
    line: "subprocess.CalledProcessError: Command '['false']' returned non-zero exit status 1.",
  },
  {
    what: 'an exception with a private name',
    log: 'Traceback (most recent call last):\nnumpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.28 TiB',
    line: 'numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.28 TiB',
  },
  {
    what: 'the cause rather than a warning that was survived',
    log: 'WARNING: CUDA out of memory, halving the batch\nERROR: loss diverged',
    line: 'ERROR: loss diverged',
  },
  {
    what: 'nothing in a healthy log',
    log: 'step 1 loss 0.5\nstep 2 error 0.1\nno errors, 0 failures\nKilled 3 enemies\ndone',
    line: null,
  },
  { what: 'nothing in an empty log', log: '', line: null },
  {
    what: 'nothing in a part that has ended, as a logger says',
    log: 'rl.train:1262 [INFO] [training_loop] Terminated\nrl.train:2063 [INFO] Training completed successfully',
    line: null,
  },
  { what: 'nothing in warnings', log: 'x.py:3: UserWarning: lr is high\nDeprecationWarning: old', line: null },
];

describe('the failure line', () => {
  it.each(cases)('finds $what', ({ log, line }) => {
    expect(findFailure(log.split('\n'))?.line ?? null).toBe(line);
  });

  it('is cut to a length that fits a row', () => {
    expect(findFailure([`ValueError: ${'x'.repeat(1000)}`])!.line).toHaveLength(300);
  });
});
