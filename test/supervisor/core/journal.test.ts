import fc from 'fast-check';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Journal, writeAll } from '../../../src/supervisor/core/journal.js';
import { beginningParts, parseJournal } from '../../../src/supervisor/core/journal-text.js';
import { emptyState } from '../../../src/scheduler/state.js';
import { snapshotOf } from '../../../src/scheduler/snapshot.js';
import { recover } from './recover.js';
import { ended, id, resumeAsked, slots, started, submitted } from '../../scheduler/play.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
  path = join(folder, 'journal.jsonl');
});
afterEach(() => removeFolder(folder));

const events = [slots(2), submitted(['a', 'b']), started('a'), ended('a', 'failed')];

async function written(): Promise<Buffer> {
  const { journal } = await Journal.open(path);
  await journal.append(events);
  await journal.close();
  return readFileSync(path);
}

/** What is synced while something is done, in that order. */
async function syncedWhile(act: () => Promise<void>): Promise<string[]> {
  const handle = await openFile(folder);
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const synced: string[] = [];
  const spies = (['sync', 'datasync'] as const).map((name) => {
    const sync = handles[name];
    return vi.spyOn(handles, name).mockImplementation(async function (this: FileHandle) {
      const { ino } = await this.stat();
      const places = Object.entries({ journal: path, draft: `${path}.tmp`, folder });
      synced.push(
        ...places.flatMap(([what, at]) => (statSync(at, { throwIfNoEntry: false })?.ino === ino ? [what] : [])),
      );
      return sync.call(this);
    });
  });
  try {
    await act();
  } finally {
    spies.forEach((spy) => spy.mockRestore());
  }
  return synced;
}

describe('the journal', () => {
  it('gives back what was written, after any number of openings', async () => {
    await written();
    const { journal, contents } = await Journal.open(path);
    await journal.append([slots(3)]);
    await journal.close();
    expect(contents).toEqual({ snapshot: null, events, dropped: [] });
    expect(parseJournal(readFileSync(path), path).events).toEqual([...events, slots(3)]);
  });

  it('loses only the line that was torn, wherever it was torn', async () => {
    const whole = await written();
    const ends = [...whole.keys()].filter((index) => whole[index] === 10).map((index) => index + 1);
    fc.assert(
      fc.property(fc.nat(whole.length), (cut) => {
        const { events: found, end } = parseJournal(whole.subarray(0, cut), path);
        const complete = ends.filter((lineEnd) => lineEnd <= cut).length;
        expect(found).toEqual(events.slice(0, Math.max(0, complete - 1)));
        expect(end).toBe(ends[complete - 1] ?? 0);
      }),
    );
  });

  it.each([
    { what: 'half a line', tail: '{"type":"run-st' },
    { what: 'zeros after a power cut', tail: '\0\0\0\0\0' },
    { what: 'zeros and a line end', tail: '\0\0\0\0\0\n' },
    { what: 'a line of another kind', tail: '{"type":"unheard-of"}\n' },
  ])('cuts off $what, says so, and goes on writing', async ({ tail }) => {
    const whole = await written();
    writeFileSync(path, Buffer.concat([whole, Buffer.from(tail)]));
    const { journal, contents } = await Journal.open(path);
    expect(contents.events).toEqual(events);
    expect(contents.dropped).toHaveLength(1);
    await journal.append([slots(3)]);
    await journal.close();
    expect(parseJournal(readFileSync(path), path)).toMatchObject({ events: [...events, slots(3)], dropped: [] });
  });

  it('leaves nothing of a torn end behind what is written next, however long it was', async () => {
    writeFileSync(path, Buffer.concat([await written(), Buffer.from(`{"type":"run-st${'x'.repeat(5000)}`)]));
    const { journal } = await Journal.open(path);
    await journal.append([slots(3)]);
    await journal.close();
    expect(parseJournal(readFileSync(path), path)).toMatchObject({ events: [...events, slots(3)], dropped: [] });
  });

  it('keeps nothing of events that the disk refused after they were written', async () => {
    const { journal } = await Journal.open(path);
    await journal.append(events);
    const handle = await openFile(path);
    const datasync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'datasync');
    await handle.close();
    datasync.mockRejectedValueOnce(new Error('EIO'));
    try {
      await expect(journal.append([submitted(Array.from({ length: 50 }, (_, n) => `late${n}`))])).rejects.toThrow(
        'EIO',
      );
    } finally {
      datasync.mockRestore();
    }
    expect(parseJournal(readFileSync(path), path)).toMatchObject({ events, dropped: [] });
    await journal.append([slots(3)]);
    await journal.close();
    expect(parseJournal(readFileSync(path), path)).toMatchObject({ events: [...events, slots(3)], dropped: [] });
  });

  it('is on the disk with its name before an event is promised, and one written anew before it takes the place of the old', async () => {
    let journal!: Journal;
    expect(await syncedWhile(async () => void ({ journal } = await Journal.open(path)))).toEqual(['journal', 'folder']);
    expect(await syncedWhile(() => journal.append([slots(1)]))).toEqual(['journal']);
    journal.standsFor({ snapshot: () => ({}), isOurs: () => true, log: () => undefined });
    rmSync(path);
    expect(await syncedWhile(() => journal.append([slots(2)]))).toEqual(['draft', 'journal', 'folder']);
    await journal.close();
  });

  it('is whole where a nearly full disk takes a few bytes at a time', async () => {
    const file = await openFile(path, 'w+');
    const write = (bytes: Buffer, from: number, length: number, at: number) =>
      file.write(bytes, from, Math.min(3, length), at);
    await writeAll({ write } as FileHandle, Buffer.from('abcdefgh'), 0);
    await file.close();
    expect(readFileSync(path, 'utf8')).toBe('abcdefgh');
  });

  it('begins anew where the power went out in its very first line', async () => {
    writeFileSync(path, '{"type":"jour');
    const { journal } = await Journal.open(path);
    await journal.append(events);
    await journal.close();
    expect(parseJournal(readFileSync(path), path).events).toEqual(events);
  });

  it('is not touched when another version wrote it', async () => {
    writeFileSync(path, '{"type":"journal","version":9}\nwhatever\n');
    await expect(Journal.open(path)).rejects.toThrow('another version');
    expect(readFileSync(path, 'utf8')).toBe('{"type":"journal","version":9}\nwhatever\n');
  });

  it('leaves out a line that is damaged, says which, and counts the rest', async () => {
    const lines = (await written()).toString().split('\n');
    lines[2] = lines[2]!.replace('"runs-submitted"', '"runs-sub\0itted"');
    writeFileSync(path, lines.join('\n'));
    const { events: found, dropped } = parseJournal(readFileSync(path), path);
    expect(found).toEqual([events[0], ...events.slice(2)]);
    expect(dropped).toHaveLength(1);
    expect(dropped[0]).toMatch(/^line 3 is damaged and was skipped: \{"type":"runs-sub␀itted"/);
  });

  it('does not do a request twice that stands there twice', async () => {
    const again = [resumeAsked('a'), started('a', 2), ended('a', 'failed', 2)].map((event) => JSON.stringify(event));
    const tail = Buffer.from(`${again.join('\n')}\n`);
    writeFileSync(path, Buffer.concat([await written(), tail, tail]));
    const { journal, contents } = await Journal.open(path);
    await journal.close();
    expect(contents.dropped).toEqual([expect.stringMatching(/^line 9 is repeated/)]);
    const state = emptyState();
    recover(state, contents, path);
    expect(state.runs.get(id('a'))).toMatchObject({ attempt: 2, starts: 2, state: { phase: 'ended' } });
  });

  it('is told of in few words however much of it is damaged', () => {
    const rubbish = Buffer.from('{"type":"journal","version":2}\n' + 'rubbish\n'.repeat(1000));
    const { dropped } = parseJournal(rubbish, path);
    expect(dropped).toHaveLength(21);
    expect(dropped.at(-1)).toBe('980 more lines were skipped');
  });

  it.each([
    { what: 'torn', line: '{"type":"snapshot","state":{"cpus"' },
    { what: 'of nothing', line: '{"type":"snapshot","state":null}\n' },
    { what: 'an event', line: `${JSON.stringify(slots(1))}\n` },
    { what: 'of something else', line: '{"type":"snapshot","state":{"cpus":"many"}}\n' },
  ])('is refused, and kept, when its snapshot is $what', async ({ line }) => {
    const text = `{"type":"journal","version":2,"snapshot":true}\n${line}`;
    writeFileSync(path, text);
    const open = async () => {
      const { journal, contents } = await Journal.open(path);
      await journal.close();
      recover(emptyState(), contents, path);
    };
    await expect(open()).rejects.toThrow(/^Line 2 of .* is damaged/);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

it.each([{}, { nextOrder: 7, groups: ['ü'] }])(
  'a snapshot of many runs is made in parts, and is whole (%j)',
  (rest) => {
    const state = { ...rest, runs: Array.from({ length: 2500 }, (_, n) => ({ id: `r${n}` })) };
    const parts = [...beginningParts(state)];
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(parts.join('').length / 2);
    expect(parseJournal(Buffer.from(parts.join('')), 'journal')).toMatchObject({ snapshot: state, dropped: [] });
  },
);

describe('a journal of version 1', () => {
  const old = readFileSync('test/fixtures/journals/version-1.jsonl');

  /** Id, class of the last ending, number of attempts; of the runs as the program that wrote it saw them. */
  const endings = [
    ...['prepare_s0', 'prepare_s1', 'train_ok_s0', 'train_ok_s1'].map((name) => [`old/${name}`, 'done', 1]),
    ...[
      ['old/train_bad_s0', 'failed', 2],
      ['old/train_bad_s1', 'failed', 1],
      ['old/train_long_s0', 'killed', 2],
      ['old/train_long_s1', 'killed', 1],
      ['old/rule_s0', 'done', 1],
      ['old/blocked_s0', 'killed', 0],
    ],
    ...['s0', 's1', 's2', 's3'].map((name) => [`gpu/${name}`, 'done', 1]),
  ];

  function replayed(bytes: Buffer) {
    const contents = parseJournal(bytes, path);
    const state = emptyState();
    recover(state, contents, path);
    return { contents, state };
  }

  const seen = (bytes: Buffer) =>
    [...replayed(bytes).state.runs.values()].map(({ id: name, state, starts }) => {
      return [name, state.phase === 'ended' ? state.outcome.kind : state.phase, starts];
    });

  it('is read, and comes to the endings that it had', () => {
    expect(replayed(old).contents).toMatchObject({ version: 1, dropped: [] });
    expect(seen(old)).toEqual(endings);
  });

  it('is raised to the present version with the first new event, and says the same', async () => {
    writeFileSync(path, old);
    const { journal } = await Journal.open(path);
    await journal.append([slots(4)]);
    await journal.close();
    const now = readFileSync(path);
    expect(now.subarray(0, old.length).toString()).toBe(old.toString().replace('"version":1', '"version":5'));
    expect(seen(now)).toEqual(endings);
  });

  it('says the same once it is shortened', async () => {
    writeFileSync(path, old);
    const { journal, contents } = await Journal.open(path);
    const state = emptyState();
    recover(state, contents, path);
    journal.standsFor({ snapshot: () => snapshotOf(state), isOurs: () => true, log: () => undefined });
    rmSync(path);
    await journal.append([slots(4)]);
    await journal.close();
    expect(parseJournal(readFileSync(path), path).events).toEqual([slots(4)]);
    expect(seen(readFileSync(path))).toEqual(endings);
  });
});

describe('a journal of version 2', () => {
  it('is raised to the present version with the first new event, whether it begins with a snapshot or not', async () => {
    for (const rest of ['}', ',"snapshot":true}\n{"type":"snapshot","state":{}}']) {
      writeFileSync(path, `{"type":"journal","version":2${rest}\n`);
      const { journal } = await Journal.open(path);
      await journal.append([slots(4)]);
      await journal.close();
      expect(readFileSync(path, 'utf8')).toBe(`{"type":"journal","version":5${rest}\n${JSON.stringify(slots(4))}\n`);
    }
  });

  it('is read, and comes to where its runs were', () => {
    const contents = parseJournal(readFileSync('test/fixtures/journals/version-2.jsonl'), path);
    const state = emptyState();
    const { recent } = recover(state, contents, path);
    expect(contents).toMatchObject({ version: 2, dropped: [] });
    const runs = [...state.runs.values()].filter(({ sweep }) => sweep === 'new');
    expect(runs.map(({ id: name, state: { phase }, starts, attempt }) => [name, phase, starts, attempt])).toEqual([
      ['new/r0', 'ended', 1, 1],
      ['new/r1', 'starting', 1, 3],
      ['new/r2', 'ended', 2, 2],
    ]);
    expect(recent.map(({ id: name, number, outcome }) => [name, number, outcome?.kind])).toEqual([
      ['new/r2', 1, 'oom'],
      ['new/r0', 1, 'done'],
      ['new/r2', 2, 'done'],
      ['new/r1', 2, 'timeout'],
    ]);
    expect(state.runs.size).toBe(17);
  });
});
