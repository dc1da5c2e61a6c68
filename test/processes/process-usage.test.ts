import { describe, expect, it } from 'vitest';
import { parseUsage, pidsNow, type ProcessUsage, readUsage, treeUsages } from '../../src/processes/process-usage.js';

/** A line of /proc/PID/stat, with the fields that matter here. */
function statLine({ name = 'python', utime = 0, stime = 0, cutime = 0, cstime = 0, rss = 0 } = {}): string {
  const before = 'S 7 40 39 0 -1 4194304 900 0 3 0';
  return `41 (${name}) ${before} ${utime} ${stime} ${cutime} ${cstime} 20 0 1 0 123456 10000000 ${rss} 18446744073709551615 0`;
}

function process(pid: number, more: Partial<ProcessUsage> = {}): ProcessUsage {
  return { pid, parent: 1, session: pid, startTime: pid, ticks: 0, pages: 0, ...more };
}

describe('a line of /proc/PID/stat', () => {
  it.each(['python', 'tmux: server', 'a) S 1 (b', 'with space)'])('is read behind the name (%s)', (name) => {
    const line = statLine({ name, utime: 5, stime: 3, cutime: 20, cstime: 100, rss: 64 });
    expect(parseUsage(line)).toEqual({ pid: 41, parent: 7, session: 39, startTime: 123_456, ticks: 128, pages: 64 });
  });

  it.each(['', '41', '41 (python', '41 (python) S 7', 'no line at all'])('is nothing when it is torn: %j', (line) => {
    expect(parseUsage(line)).toBeNull();
  });
});

describe('what the processes of a run use', () => {
  it('is that of the root and of all it has started', () => {
    const processes = [
      process(10, { ticks: 1 }),
      process(11, { parent: 10, session: 10, ticks: 100 }),
      process(12, { parent: 11, session: 10, ticks: 20 }),
      process(50, { ticks: 9999 }),
    ];
    expect(treeUsages(processes, new Map([['run', 10]])).get('run')).toMatchObject({ ticks: 121, since: 10 });
  });

  it('counts those whose parent has gone, by their session', () => {
    const processes = [process(10), process(11, { parent: 1, session: 10, ticks: 7 })];
    expect(treeUsages(processes, new Map([['run', 10]])).get('run')?.ticks).toBe(7);
  });

  it('keeps runs apart', () => {
    const processes = [process(10, { ticks: 1 }), process(20, { ticks: 2 }), process(21, { parent: 20, ticks: 3 })];
    const usages = treeUsages(
      processes,
      new Map([
        ['a', 10],
        ['b', 20],
      ]),
    );
    expect([usages.get('a')?.ticks, usages.get('b')?.ticks]).toEqual([1, 5]);
  });

  it('is not known of a root that has gone', () => {
    expect(treeUsages([process(10)], new Map([['run', 99]])).size).toBe(0);
  });

  it('does not go on for ever where a process is its own parent', () => {
    expect(treeUsages([process(10, { parent: 10 })], new Map([['run', 10]])).get('run')?.ticks).toBe(0);
  });
});

describe.skipIf(pidsNow().length === 0)('this process', () => {
  const self = globalThis.process;

  it('is found, with its memory in MiB', () => {
    const own = readUsage(self.pid)!;
    const { memory, ticks } = treeUsages([own], new Map([['own', self.pid]])).get('own')!;
    const resident = self.memoryUsage.rss() / 2 ** 20;
    expect(memory).toBeGreaterThan(resident * 0.7);
    expect(memory).toBeLessThan(resident * 1.4);
    expect(ticks).toBeGreaterThan(0);
    expect(pidsNow()).toContain(self.pid);
  });

  it('is not found when it has gone', () => {
    expect(readUsage(2 ** 22 + 1)).toBeNull();
  });
});
