import { describe, expect, it } from 'vitest';
import { type Entry, parseEntry } from './ledger.js';
import { type Account, violations } from './verdict.js';

const lines = (...texts: string[]): Entry[] => texts.map((text) => parseEntry(text.replace(/^(\w+)/, '$1 ordeal/a')));

/** A run that was started once and ended as it should, but for what is said otherwise. */
function account({
  run,
  row,
  ...rest
}: { run?: Partial<Account['run']>; row?: Partial<Account['row']> } & Partial<Omit<Account, 'run' | 'row'>>): Account {
  return {
    run: { name: 'a', kind: 'short', code: 3, starts: 1, ...run },
    row: { state: 'failed', attempt: 1, exit: { class: 'failed', code: 3, signal: null }, ...row },
    entries: lines('start 1 10.7 alone', 'end 1 10.7 3'),
    blows: [],
    journal: 'failed',
    record: [{ number: 1, end: 'failed' }],
    ...rest,
  };
}

/** The same of one that has been put an end to from outside. */
function struck(blows: Account['blows'], kind: 'signal' | 'lost' | 'failed', entries = lines('start 1 10.7 alone')) {
  const exit = { class: kind, code: kind === 'failed' ? 3 : null, signal: kind === 'signal' ? 'SIGKILL' : null };
  const row = { state: kind === 'lost' ? 'lost' : 'failed', exit } as const;
  return account({
    run: { kind: 'prey', starts: null },
    row,
    entries,
    blows,
    journal: kind,
    record: [{ number: 1, end: kind }],
  });
}

const killed = (victim: Account['blows'][number]['victim']) => [{ victim, process: '10.7' }];
const ended = lines('start 1 10.7 alone', 'end 1 10.7 3');

describe('a run is in order', () => {
  it.each<{ when: string; given: Account }>([
    { when: 'it ended as it said it would', given: account({}) },
    { when: 'its command was killed, which is said', given: struck(killed('command'), 'signal') },
    { when: 'its command was killed in its last moment', given: struck(killed('command'), 'signal', ended) },
    { when: 'its command was too quick to be killed', given: struck(killed('command'), 'failed', ended) },
    { when: 'its group was killed, and nobody could know of what it died', given: struck(killed('group'), 'lost') },
    { when: 'its shim was killed, and its code with it', given: struck(killed('shim'), 'lost', ended) },
    { when: 'its shim was killed, and its code is known all the same', given: struck(killed('shim'), 'failed', ended) },
  ])('when $when', ({ given }) => {
    expect(violations(given)).toEqual([]);
  });
});

describe('a run is not in order', () => {
  it.each<{ when: string; given: Account; said: string }>([
    { when: 'it was never started', given: account({ entries: [] }), said: 'was never started' },
    {
      when: 'an attempt of it was started twice',
      given: account({ entries: lines('start 1 10.7 alone', 'end 1 10.7 3', 'start 1 11.8 alone', 'end 1 11.8 3') }),
      said: 'was started twice in one attempt: 1, 1',
    },
    {
      when: 'two of it lived at a time',
      given: account({
        run: { starts: null },
        entries: lines('start 1 10.7 alone', 'start 2 11.8 beside', 'end 2 11.8 3'),
      }),
      said: 'was started (attempt 2) while another process of it was alive',
    },
    {
      when: 'it was started again when it was done',
      given: account({
        run: { starts: null },
        entries: lines('start 1 10.7 alone', 'end 1 10.7 0', 'start 2 11.8 alone', 'end 2 11.8 3'),
      }),
      said: 'was started again when it was done',
    },
    { when: 'it was started too often', given: account({ run: { starts: 2 } }), said: 'was started 1 times, not 2' },
    {
      when: 'its row counts another number of attempts',
      given: account({ row: { attempt: 2 } }),
      said: 'was started 1 times',
    },
    {
      when: 'its code is wrong',
      given: account({ row: { exit: { class: 'failed', code: 4, signal: null } } }),
      said: 'should be failed 3, says failed 4',
    },
    {
      when: 'a failed one is said to be done',
      given: account({ row: { exit: { class: 'done', code: 0, signal: null } } }),
      said: 'should be failed 3, says done 0',
    },
    { when: 'it has no end', given: account({ row: { exit: null } }), said: 'should be failed 3, says nothing' },
    {
      when: 'it is lost though nobody touched it',
      given: struck([], 'lost', ended),
      said: 'should be failed 3, says lost',
    },
    {
      when: 'its process was killed by nobody',
      given: struck([], 'signal'),
      said: 'has a process that neither ended nor was killed',
    },
    {
      when: 'its shim was killed, and the command went with it',
      given: struck(killed('shim'), 'lost'),
      said: 'has a process that neither ended nor was killed',
    },
    {
      when: 'its shim was killed, and the command is said to have been',
      given: struck(killed('shim'), 'signal', ended),
      said: 'should be failed 3 or lost, says signal SIGKILL',
    },
    {
      when: 'a killed one goes by another word',
      given: account({ run: { kind: 'doomed' } }),
      said: 'should have been killed',
    },
    { when: 'the journal says otherwise', given: account({ journal: 'running' }), said: 'is running by the journal' },
    { when: 'its record is missing', given: account({ record: null }), said: 'has no run.json' },
    { when: 'its record lacks an attempt', given: account({ record: [] }), said: 'has attempts  in run.json, not 1' },
    {
      when: 'its record lacks an end',
      given: account({ record: [{ number: 1, end: null }] }),
      said: 'has an attempt without an end in run.json',
    },
    {
      when: 'its record says otherwise',
      given: account({ record: [{ number: 1, end: 'done' }] }),
      said: 'is done in run.json',
    },
  ])('when $when', ({ given, said }) => {
    const { state, attempt } = given.row;
    expect(violations(given)).toContain(`a (${state}, ${attempt} attempts) ${said}`);
  });
});
