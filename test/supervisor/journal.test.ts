import fc from 'fast-check';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../src/supervisor/journal.js';
import { parseJournal } from '../../src/supervisor/journal-text.js';
import { ended, slots, started, submitted } from '../scheduler/play.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
  path = join(folder, 'journal.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const events = [slots(2), submitted(['a', 'b']), started('a'), ended('a', 'failed')];

async function written(): Promise<Buffer> {
  const { journal } = await Journal.open(path);
  await journal.append(events);
  await journal.close();
  return readFileSync(path);
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

  it('begins anew where the power went out in its very first line', async () => {
    writeFileSync(path, '{"type":"jour');
    const { journal } = await Journal.open(path);
    await journal.append(events);
    await journal.close();
    expect(parseJournal(readFileSync(path), path).events).toEqual(events);
  });

  it('is not touched when another version wrote it', async () => {
    writeFileSync(path, '{"type":"journal","version":3}\nwhatever\n');
    await expect(Journal.open(path)).rejects.toThrow('another version');
    expect(readFileSync(path, 'utf8')).toBe('{"type":"journal","version":3}\nwhatever\n');
  });
});
