import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Ending } from '../../../src/executors/executor.js';
import { endingByDisk, endingOf, waitWords } from '../../../src/executors/slurm/job-ending.js';
import { removeFolder } from '../../remove-folder.js';

const root = mkdtempSync(join(tmpdir(), 'endings-'));
afterAll(() => removeFolder(root));

const claim = '4711 (sh) S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 99 1 1 boot at host/machine/pid job 12:key\n';
const nothing = { terminated: false, killed: false };
const asked = {
  'nothing was asked': nothing,
  'its end was asked for': { ...nothing, terminated: true },
  'it was to be killed': { terminated: true, killed: true },
};

/** An attempt that left that exit code (none, or the code of its shell), and whose shim got SIGTERM or not. */
function attempt(exit: string, isTerminated: boolean): string {
  const folder = mkdtempSync(join(root, 'attempt-'));
  const words = exit === '143' ? 'Terminated\n' : '';
  writeFileSync(join(folder, 'pid'), `${claim}${words}${isTerminated ? 'got SIGTERM\n' : ''}`);
  if (exit !== '-') writeFileSync(join(folder, 'exit'), `${exit}\n`);
  return folder;
}

const job = (state: string) => ({
  ...{ address: '12', number: 12, state, reason: 'None', nodes: 'n1', start: 'N/A', seconds: 65, key: 'key' },
});

/** The ending in one word. */
function word(ending: Ending | null): string {
  if (ending === null) return '-';
  if (ending.kind === 'exited') return String(ending.code);
  if (ending.kind === 'signalled') return ending.signal;
  if (ending.kind !== 'interrupted') return ending.kind;
  return /cancelled|preempted|node failed|deadline|got SIGTERM/.exec(ending.reason)![0].replace(' ', '-');
}

/**
 * One row for each word of Slurm: the ending where the attempt left no exit code, 0, 3, or died of SIGTERM (143), first without
 * and then with the note of the shim that it got SIGTERM.
 */
function endings(state: string, who: keyof typeof asked): string {
  const cell = (exit: string, isTerminated: boolean) =>
    word(endingOf(job(state), attempt(exit, isTerminated), asked[who]));
  const half = (isTerminated: boolean) => ['-', '0', '3', '143'].map((exit) => cell(exit, isTerminated)).join(' ');
  return `${half(false)} | ${half(true)}`;
}

describe("the ending, by Slurm's word, the exit code, the note of the shim and what was asked", () => {
  const cancelled = 'cancelled 0 3 cancelled | cancelled cancelled cancelled cancelled';
  const proven = (none: string) => `${none} 0 3 SIGTERM | ${none} 0 3 SIGTERM`;
  const preempted = cancelled.replaceAll('cancelled', 'preempted');
  const failed = cancelled.replaceAll('cancelled', 'node-failed');
  const late = cancelled.replaceAll('cancelled', 'timed-out');
  const tooLarge = 'X X X X | X X X X'.replaceAll('X', 'out-of-memory');
  it.each<[state: string, who: keyof typeof asked, expected: string]>([
    ['CANCELLED', 'nothing was asked', cancelled],
    ['CANCELLED', 'its end was asked for', proven('SIGTERM')],
    ['CANCELLED', 'it was to be killed', proven('SIGKILL')],
    ['PREEMPTED', 'nothing was asked', preempted],
    ['PREEMPTED', 'its end was asked for', preempted],
    ['PREEMPTED', 'it was to be killed', preempted],
    ['NODE_FAIL', 'nothing was asked', failed],
    ['NODE_FAIL', 'its end was asked for', failed],
    ['NODE_FAIL', 'it was to be killed', failed],
    ['BOOT_FAIL', 'nothing was asked', failed],
    ['DEADLINE', 'nothing was asked', cancelled.replaceAll('cancelled', 'deadline')],
    ['TIMEOUT', 'nothing was asked', late],
    ['TIMEOUT', 'its end was asked for', late],
    ['TIMEOUT', 'it was to be killed', late],
    // How much memory it used only Slurm knows.
    ['OUT_OF_MEMORY', 'nothing was asked', tooLarge],
    ['OUT_OF_MEMORY', 'its end was asked for', tooLarge],
    ['OUT_OF_MEMORY', 'it was to be killed', tooLarge],
    ['COMPLETED', 'nothing was asked', proven('unknown')],
    ['COMPLETED', 'its end was asked for', proven('unknown')],
    ['COMPLETED', 'it was to be killed', proven('unknown')],
    ['FAILED', 'nothing was asked', proven('unknown')],
    ['FAILED', 'its end was asked for', proven('unknown')],
    ['FAILED', 'it was to be killed', proven('unknown')],
  ])('%s, %s', (state, who, expected) => {
    expect(endings(state, who)).toBe(expected);
  });
});

describe('the words for a job that waits', () => {
  beforeEach(() => vi.useFakeTimers({ now: new Date('2026-11-30T16:00:00'), toFake: ['Date'] }));
  afterEach(() => vi.useRealTimers());

  it.each([
    ['None', 'N/A', 'just submitted'],
    ['Priority', '2026-11-30T16:20:31', 'Priority: other jobs come first; expected at 16:20'],
    ['Priority', '2027-11-30T16:20:31', 'Priority: other jobs come first; expected at 2027-11-30 16:20'],
    // A scheduler that is behind expects what has passed.
    ['Priority', '2026-11-30T15:59:00', 'Priority: other jobs come first'],
    [
      'ReqNodeNotAvail, UnavailableNodes:n[1-2]',
      'N/A',
      'ReqNodeNotAvail, UnavailableNodes:n[1-2]: a node that it needs is down or reserved',
    ],
  ])('%s, %s', (reason, start, words) => {
    expect(waitWords({ ...job('PENDING'), reason, start })).toBe(`Slurm job 12 waits (${words})`);
  });
});

describe('the ending where Slurm does not say what it did', () => {
  it.each<[exit: string, isTerminated: boolean, who: keyof typeof asked, expected: string]>([
    ['-', false, 'nothing was asked', '-'],
    ['-', true, 'nothing was asked', '-'],
    ['0', false, 'nothing was asked', '0'],
    // A program that saves its state on SIGTERM exits with 0 though it is not done.
    ['0', true, 'nothing was asked', 'got-SIGTERM'],
    ['0', true, 'its end was asked for', '0'],
    ['0', true, 'it was to be killed', '0'],
    ['3', true, 'nothing was asked', 'got-SIGTERM'],
    ['143', false, 'nothing was asked', 'SIGTERM'],
    ['143', true, 'nothing was asked', 'SIGTERM'],
  ])('exit %s, SIGTERM noted: %s, %s', (exit, isTerminated, who, expected) => {
    expect(word(endingByDisk(attempt(exit, isTerminated), asked[who]))).toBe(expected);
  });
});
