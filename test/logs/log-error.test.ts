import { describe, expect, it } from 'vitest';
import { isErrorLine } from '../../src/logs/failure-line.js';

describe('a line that says something broke', () => {
  it.each([
    'Traceback (most recent call last):',
    '[rank1]: Traceback (most recent call last):',
    '  + Exception Group Traceback (most recent call last):',
    'ValueError: loss is NaN at step 7240',
    'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB',
    'KeyboardInterrupt',
    'Error: Cannot find module x',
    'TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string',
    'RuntimeError: CUDA error: an illegal memory access was encountered',
    '2026-01-05 12:00:01,120 - train - ERROR - no such checkpoint',
    '[2026-01-05 12:00:01] CRITICAL: disk full',
    'FATAL could not bind to port 29500',
    'fatal: not a git repository',
    'slurmstepd: error: Detected 1 oom-kill event',
    'Killed',
    'train.sh: line 3: 4711 Segmentation fault (core dumped)',
    "thread 'main' panicked at src/main.rs:4:5:",
    'panic: runtime error: index out of range',
    'sh: 1: pyhton: command not found',
    'OSError: [Errno 28] No space left on device',
  ])('is %s', (line) => {
    expect(isErrorLine(line)).toBe(true);
  });

  it.each([
    'step 400 | error 0.12 | 1.04 ms/step',
    'mean squared error: falling',
    'UserWarning: lr_scheduler.step() before optimizer.step()',
    'FutureWarning: this is deprecated',
    'WARNING: CUDA out of memory, retrying with a smaller batch',
    'error_rate=0.1',
    '0 errors',
    'the killed runs come back',
    '',
  ])('is not %s', (line) => {
    expect(isErrorLine(line)).toBe(false);
  });
});
