import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockRun } from '../../../src/lab/run/run-lock.js';
import { tempDirectory } from '../temp-directory.js';

const processes = { own: process.pid, answers: () => true };
const boot = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
const started = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[19]!;
const holder = (said: object) =>
  `${JSON.stringify({ pid: process.ppid, started: null, boot: null, host: hostname(), ...said })}\n`;

describe('the lock of a run directory', () => {
  it('is acquired and released without leaving a file', () => {
    const directory = tempDirectory();
    const unlock = lockRun(directory, processes);
    expect(JSON.parse(readFileSync(join(directory, 'memrl.lock'), 'utf8'))).toMatchObject({ pid: process.pid });
    unlock();
    unlock();
    expect(readdirSync(directory)).toEqual([]);
  });

  it.skipIf(!existsSync('/proc/self/stat'))(
    'is refused while its process lives, and taken over after a kill',
    async () => {
      const directory = tempDirectory();
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
      await once(child, 'spawn');
      const pid = child.pid!;
      writeFileSync(join(directory, 'memrl.lock'), holder({ pid, started: started(pid), boot: boot() }));
      expect(() => lockRun(directory, processes)).toThrow(`Another memrl writes into this run: process ${pid}.`);
      child.kill('SIGKILL');
      await once(child, 'exit');
      lockRun(directory, processes)();
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  it.skipIf(!existsSync('/proc/self/stat'))(
    'is taken over where the number now belongs to another process, or the machine was started again',
    () => {
      const directory = tempDirectory();
      for (const stale of [
        { started: '1', boot: boot() },
        { started: started(process.ppid), boot: 'another' },
      ]) {
        writeFileSync(join(directory, 'memrl.lock'), holder(stale));
        lockRun(directory, processes)();
      }
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  it('held on another machine is refused, with the file to remove', () => {
    const directory = tempDirectory();
    writeFileSync(join(directory, 'memrl.lock'), holder({ host: 'elsewhere' }));
    expect(() => lockRun(directory, processes)).toThrow(/process \d+ on elsewhere/);
    expect(readdirSync(directory)).toEqual(['memrl.lock']);
  });

  it('is taken over when its file is empty', () => {
    const directory = tempDirectory();
    writeFileSync(join(directory, 'memrl.lock'), '{"pid":');
    lockRun(directory, processes)();
    expect(readdirSync(directory)).toEqual([]);
  });
});
