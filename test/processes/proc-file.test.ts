import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { activityOf } from '../../src/processes/proc-file.js';

const program = `process.stdin.on('data', () => require('fs').writeSync(1, 'written'));`;

it.skipIf(!existsSync('/proc/self/io'))('tells whether a process of a tree has written anything', async () => {
  const shell = spawn('/bin/sh', ['-c', `"$0" -e "$1"; true`, process.execPath, program]);
  try {
    shell.stdin.write('?');
    await once(shell.stdout, 'data');
    const before = activityOf(shell.pid!);
    expect(before).not.toBeNull();
    shell.stdin.write('?');
    await once(shell.stdout, 'data');
    expect(activityOf(shell.pid!)).not.toBe(before);
    shell.kill('SIGSTOP');
    expect(activityOf(shell.pid!)).toBe(activityOf(shell.pid!));
  } finally {
    shell.stdin.end();
    shell.kill('SIGKILL');
  }
});
