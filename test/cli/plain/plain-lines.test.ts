import { describe, expect, it } from 'vitest';
import type { TimeRange } from '../../../src/analysis/forecast/time-range.js';
import { beginPlain, plainEnd, plainLines, type PlainState } from '../../../src/cli/watch.js';
import type { WatchedRun } from '../../../src/cli/plain/watched-run.js';
import { durationWords, timeStamp } from '../../../src/text/duration.js';

const run = (name: string, facts: Partial<WatchedRun> = {}): WatchedRun => ({
  name,
  state: 'queued',
  reason: null,
  attempt: 0,
  slot: null,
  pid: null,
  startedAt: null,
  endedAt: null,
  killAt: null,
  progress: null,
  health: 'ok',
  ...facts,
});
const running = (name: string, facts: Partial<WatchedRun> = {}) =>
  run(name, { state: 'running', attempt: 1, slot: 'cpu 0', pid: 42, startedAt: 0, ...facts });
const byName = (...runs: WatchedRun[]) => new Map(runs.map((each) => [each.name, each]));

/** Lines after the first look at `before`, taken five seconds later. */
function linesAfter(before: WatchedRun[], after: WatchedRun[]): string[] {
  const { state } = plainLines(beginPlain(0), byName(...before), 0, () => null);
  return plainLines(state, byName(...after), 5_000, () => null).lines;
}

describe('plain mode', () => {
  it('begins with what is there, and does not retell what ended before', () => {
    const runs = byName(
      run('a', { state: 'done', attempt: 1 }),
      running('b', { progress: 0.5 }),
      run('c', { reason: 'waiting for a slot (1 of 1 busy)' }),
      run('d', { reason: 'waiting for a slot (1 of 1 busy)' }),
    );
    expect(plainLines(beginPlain(0), runs, 0, () => null).lines).toEqual([
      '+0:00:00  started  b on cpu 0, pid 42',
      '+0:00:00  1 of 4 done, 1 running, 2 queued · 37 % · 2 × waiting for a slot (1 of 1 busy)',
    ]);
  });

  it.each<{ what: string; before: WatchedRun; after: WatchedRun; line: string | null }>([
    {
      what: 'a warning, once',
      before: running('a'),
      after: running('a', { warning: 'the metric `los` (`metric`) is not written; the nearest that is: `loss`' }),
      line: 'WARNING  a: the metric `los` (`metric`) is not written; the nearest that is: `loss`',
    },
    {
      what: 'a warning that was told',
      before: running('a', { warning: 'w' }),
      after: running('a', { warning: 'w' }),
      line: null,
    },
    { what: 'a start', before: run('a'), after: running('a'), line: 'started  a on cpu 0, pid 42' },
    {
      what: 'a second start',
      before: run('a', { attempt: 1 }),
      after: running('a', { attempt: 2 }),
      line: 'started  a on cpu 0, pid 42, attempt 2',
    },
    { what: 'nothing while a run goes on', before: running('a'), after: running('a', { progress: 0.9 }), line: null },
    {
      what: 'nothing while a process is being started',
      before: run('a'),
      after: run('a', { state: 'starting' }),
      line: null,
    },
    {
      what: 'what is wrong with a run, and why',
      before: running('a'),
      after: running('a', { health: 'silent', healthReason: 'no output for 3 min' }),
      line: 'WARNING  a: silent: no output for 3 min',
    },
    {
      what: 'nothing while it stays so',
      before: running('a', { health: 'silent', healthReason: 'no output for 3 min' }),
      after: running('a', { health: 'silent', healthReason: 'no output for 4 min' }),
      line: null,
    },
    {
      what: 'that it is well again',
      before: running('a', { health: 'nan' }),
      after: running('a'),
      line: 'well     a: no longer NaN',
    },
    {
      what: 'that a run which is done has diverged',
      before: running('a', { state: 'done' }),
      after: running('a', { state: 'done', health: 'diverged', healthReason: 'loss 8.0e78, at its best 2' }),
      line: 'WARNING  a: diverged: loss 8.0e78, at its best 2',
    },
    {
      what: 'no recovery of a run that ended',
      before: running('a', { health: 'silent' }),
      after: running('a', { state: 'done', endedAt: 1000 }),
      line: 'done     a after 1.0 s',
    },
    {
      what: 'no recovery of a run that is paused or begins anew',
      before: running('a', { health: 'silent' }),
      after: running('a', { state: 'queued', attempt: 1 }),
      line: 'queued   a',
    },
    {
      what: 'success',
      before: running('a'),
      after: running('a', { state: 'done', endedAt: 65_000 }),
      line: 'done     a after 1 min 05 s',
    },
    {
      what: 'success by a rule',
      before: running('a'),
      after: running('a', { state: 'done', endedAt: 2_000, reason: 'bits >= 9.9' }),
      line: 'done     a after 2.0 s: bits >= 9.9',
    },
    {
      what: 'a start and an end between two looks',
      before: run('a'),
      after: running('a', { state: 'done', endedAt: 100 }),
      line: 'done     a after 0.1 s',
    },
    {
      what: 'failure and why',
      before: running('a'),
      after: running('a', { state: 'failed', endedAt: 3_000, reason: 'exit code 1: \x1b[31mValueError: bad' }),
      line: 'FAILED   a after 3.0 s: exit code 1: ValueError: bad',
    },
    {
      what: 'a polite stop',
      before: running('a'),
      after: running('a', { state: 'stopping', killAt: 15_000 }),
      line: 'stopping a, SIGKILL in 10 s if it does not end',
    },
    {
      what: 'a kill',
      before: running('a', { state: 'stopping' }),
      after: running('a', { state: 'killed', endedAt: 4_000, reason: 'killed by the user' }),
      line: 'killed   a after 4.0 s: killed by the user',
    },
    {
      what: 'a loss',
      before: running('a'),
      after: running('a', { state: 'lost', reason: 'the machine restarted' }),
      line: 'LOST     a: the machine restarted',
    },
    {
      what: 'a new place in the queue',
      before: run('a', { state: 'failed', attempt: 1 }),
      after: run('a', { attempt: 1, reason: 'backoff 12 s' }),
      line: 'queued   a: backoff 12 s',
    },
    { what: 'a hold', before: run('a'), after: run('a', { state: 'held', reason: 'held' }), line: 'held     a: held' },
    {
      what: 'the same end of another attempt',
      before: run('a', { state: 'done', attempt: 1 }),
      after: run('a', { state: 'done', attempt: 2 }),
      line: 'done     a',
    },
  ])('tells $what', ({ before, after, line }) => {
    expect(linesAfter([before], [after])).toEqual(line === null ? [] : [`+0:00:05  ${line}`]);
  });

  it('sees changes even when the caller changes its runs in place', () => {
    const only = running('a');
    const runs = byName(only);
    const { state } = plainLines(beginPlain(0), runs, 0, () => null);
    Object.assign(only, { state: 'done', endedAt: 1_000 });
    expect(plainLines(state, runs, 1_000, () => null).lines).toEqual(['+0:00:01  done     a after 1.0 s']);
  });

  it('says how far it is at most every ten seconds, and not after the end', () => {
    const runs = byName(running('a', { progress: 0.25 }));
    const over = byName(running('a', { state: 'done' }));
    let state: PlainState = beginPlain(0);
    const said = [0, 1_000, 9_999, 10_000, 15_000, 20_500, 31_000].flatMap((now) => {
      const looked = plainLines(state, now > 30_000 ? over : runs, now, () => null);
      state = looked.state;
      return looked.lines.filter((line) => line.includes(' of ')).map((line) => line.split('  ')[0]);
    });
    expect(said).toEqual(['+0:00:00', '+0:00:10', '+0:00:20']);
  });

  it('says how long it still takes, where that is known', () => {
    const look = (left: TimeRange | null) =>
      plainLines(beginPlain(0), byName(running('a')), 0, () => left).lines.at(-1);
    expect(look({ low: 240, middle: 360, high: 540 })).toMatch(/ · 4-9m left$/);
    expect(look(null)).not.toContain('left');
  });

  it('names the commonest reasons of waiting', () => {
    const runs = ['x', 'x', 'x', 'y', 'y', 'z', 'v', 'w'].map((reason, index) => run(`r${index}`, { reason }));
    const [line] = plainLines(beginPlain(0), byName(...runs), 0, () => null).lines;
    expect(line).toBe('+0:00:00  0 of 8 done, 8 queued · 0 % · 3 × x; 2 × y; 1 × z; 2 other reasons');
  });

  it.each([
    { runs: [run('a', { state: 'done' }), run('b', { state: 'done' })], line: '2 done, 0 failed', exitCode: 0 },
    { runs: [run('a', { state: 'done' }), run('b', { state: 'failed' })], line: '1 done, 1 failed', exitCode: 3 },
    {
      runs: [run('a', { state: 'done', health: 'diverged' }), run('b', { state: 'done' })],
      line: '2 done, 0 failed, 1 diverged',
      exitCode: 0,
    },
    { runs: [run('a', { state: 'killed' }), run('b')], line: '0 done, 0 failed, 1 killed, 1 queued', exitCode: 3 },
  ] as const)('ends with a count: $line', ({ runs, line, exitCode }) => {
    expect(plainEnd(beginPlain(0), byName(...runs), 3_600_000)).toEqual({ line: `+1:00:00  ${line}`, exitCode });
  });
});

describe('a length of time', () => {
  it.each([
    [-5, '0.0 s', '+0:00:00'],
    [9_990, '9.9 s', '+0:00:09'],
    [59_999, '59 s', '+0:00:59'],
    [185_000, '3 min 05 s', '+0:03:05'],
    [7_800_000, '2 h 10 min', '+2:10:00'],
    [273_600_000, '3 d 4 h', '+76:00:00'],
  ])('of %d ms is %s, or %s', (ms, words, stamp) => {
    expect([durationWords(ms), timeStamp(ms)]).toEqual([words, stamp]);
  });
});
