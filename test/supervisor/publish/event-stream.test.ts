import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { supervisorFiles } from '../../../src/contract/files.js';
import { EventStreamReader } from '../../../src/client/event-stream-reader.js';
import { EventFile } from '../../../src/supervisor/publish/event-stream.js';

let folder = '';
const files: EventFile[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memrl-events-'));
  mkdirSync(join(folder, supervisorFiles.directory));
});
afterEach(() => {
  files.splice(0).forEach((file) => file.close());
  rmSync(folder, { recursive: true, force: true });
});

function open(log: (line: string) => void = () => undefined): EventFile {
  const at = (name: string) => join(folder, supervisorFiles.directory, name);
  const { file } = EventFile.open(
    { path: at(supervisorFiles.events), earlier: at(supervisorFiles.earlierEvents) },
    log,
  );
  files.push(file);
  return file;
}

const memory = () => ({ best: {} });
const at = new Date(0).toISOString();

/** Adds a megabyte of events and writes them; returns how many. */
function addMegabyte(file: EventFile): number {
  const reason = 'x'.repeat(950);
  for (let line = 0; line < 1024; line++) file.add({ at, event: 'failed', sweep: 's', run: 'r', reason });
  file.flush(memory);
  return 1024;
}

describe('the file of the event stream', () => {
  it('is begun anew when it is long, and a reader that looks now and then misses nothing', () => {
    const file = open();
    const reader = new EventStreamReader(folder, null);
    const read: number[] = [];
    let added = 0;
    for (let turn = 0; turn < 20; turn++) {
      added += addMegabyte(file);
      if (turn % 3 === 0) read.push(...reader.read().map(({ line, gap }) => (gap ? -1 : line.n)));
    }
    read.push(...reader.read().map(({ line, gap }) => (gap ? -1 : line.n)));
    expect(read).toEqual(Array.from({ length: added }, (_, n) => n + 1));
    // Half of it is kept, at least, and no more than two files.
    const kept = new EventStreamReader(folder, null).read();
    expect(kept.length).toBeGreaterThan(4000);
    expect(kept.length).toBeLessThan(11_000);
  });

  it('goes on with its numbers when it is opened again, and tells a reader who comes late of the gap', () => {
    const first = open();
    addMegabyte(first);
    const { stream } = new EventStreamReader(folder, null).read()[0]!;
    first.close();
    const second = open();
    for (let turn = 0; turn < 12; turn++) addMegabyte(second);
    const [next, after] = new EventStreamReader(folder, { stream, n: 1024 }).read();
    expect(next).toMatchObject({ stream, gap: true });
    expect(after).toMatchObject({ gap: false, line: { n: next!.line.n + 1 } });
    const last = new EventStreamReader(folder, { stream, n: 13 * 1024 - 1 }).read();
    expect(last).toMatchObject([{ gap: false, line: { n: 13 * 1024 } }]);
  });

  it('keeps what the disk refuses until there is room, and says so once', () => {
    const said: string[] = [];
    const file = open((line) => said.push(line));
    addMegabyte(file);
    rmSync(join(folder, supervisorFiles.directory), { recursive: true });
    for (const run of ['a', 'b']) {
      file.add({ at, event: 'started', sweep: 's', run });
      file.flush(memory);
    }
    expect(said).toEqual([expect.stringMatching(/^events cannot be written: ENOENT/)]);
    mkdirSync(join(folder, supervisorFiles.directory));
    file.flush(memory);
    const read = new EventStreamReader(folder, null).read();
    expect(read.map(({ line }) => [line.n, line.run])).toEqual([
      [1025, 'a'],
      [1026, 'b'],
    ]);
  });
});
