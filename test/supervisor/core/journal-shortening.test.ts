import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { tiered } from '../../tiers.js';
import { Journal } from '../../../src/supervisor/core/journal.js';
import { parseJournal } from '../../../src/supervisor/core/journal-text.js';
import { removeFolder } from '../../remove-folder.js';
import { slots, started } from '../../scheduler/play.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
  path = join(folder, 'journal.jsonl');
});
afterEach(() => removeFolder(folder));

const read = () => parseJournal(readFileSync(path), path);
/** Some 5 MB of events: more than a journal may grow to. */
const many = Array.from({ length: 50_000 }, (_, n) => started(`a-run-with-a-rather-long-name-${n}`));

/** A journal of one small snapshot. */
async function opened(rest: { isOurs?: () => boolean; snapshot?: () => unknown } = {}) {
  const log: string[] = [];
  const { journal } = await Journal.open(path);
  journal.standsFor({
    snapshot: () => ({ all: 'so far' }),
    isOurs: () => true,
    log: (line) => log.push(line),
    ...rest,
  });
  return { journal, log };
}

describe('a long journal', () => {
  it('is shortened to a snapshot, and goes on from there', async () => {
    const { journal } = await opened();
    await journal.append(many);
    expect(statSync(path).size).toBeGreaterThan(4 << 20);
    await journal.append([slots(1)]);
    await journal.append([slots(2)]);
    await journal.close();
    expect(read()).toMatchObject({
      version: 5,
      snapshot: { all: 'so far' },
      events: [slots(1), slots(2)],
      dropped: [],
    });
    expect(readdirSync(folder)).toEqual(['journal.jsonl']);
    const { journal: again, contents } = await Journal.open(path);
    await again.close();
    expect(contents).toEqual({ snapshot: { all: 'so far' }, events: [slots(1), slots(2)], dropped: [] });
  });

  it('is left long when it cannot be shortened, and nothing is lost', async () => {
    const snapshot = () => {
      throw new Error('no room');
    };
    const { journal, log } = await opened({ snapshot });
    await journal.append(many);
    await journal.append([slots(1)]);
    await journal.append([slots(2)]);
    await journal.close();
    expect(log).toEqual(['the journal could not be shortened: no room']);
    expect(read().events).toHaveLength(many.length + 2);
  });

  it('is not shortened again before it has grown by as much again', async () => {
    let snapshots = 0;
    const { journal } = await opened({ snapshot: () => ({ size: 'x'.repeat(2 << 20), n: ++snapshots }) });
    for (let n = 0; n < 3; n++) await journal.append(many);
    await journal.close();
    // 5 MB, then a snapshot of 2 MB with 5 MB: less than four times as much; 12 MB with the third.
    expect(snapshots).toBe(1);
    expect(read()).toMatchObject({ snapshot: { n: 1 } });
  });
});

describe('a journal that someone has', () => {
  it.each([
    { what: 'deleted', harm: () => rmSync(path) },
    { what: 'deleted with its folder', harm: () => rmSync(folder, { recursive: true }) },
    { what: 'replaced', harm: () => (rmSync(path), writeFileSync(path, '{"type":"journal","version":2}\n')) },
    { what: 'cut', harm: () => truncateSync(path, 40) },
    { what: 'written to', harm: () => writeFileSync(path, 'hello\n', { flag: 'a' }) },
  ])('$what is written anew from memory before the next event', async ({ harm }) => {
    const { journal, log } = await opened();
    await journal.append([slots(1), slots(2)]);
    harm();
    await journal.append([slots(3)]);
    await journal.append([slots(4)]);
    await journal.close();
    expect(read()).toMatchObject({ snapshot: { all: 'so far' }, events: [slots(3), slots(4)], dropped: [] });
    expect(log).toHaveLength(1);
    expect(log[0]).toContain('rewritten from memory');
  });

  it('put another supervisor in charge of is left alone', async () => {
    const { journal } = await opened({ isOurs: () => false });
    writeFileSync(path, 'the work of another\n');
    await expect(journal.append([slots(1)])).rejects.toThrow('another supervisor has taken over');
    expect(readFileSync(path, 'utf8')).toBe('the work of another\n');
    await journal.close();
  });
});

/** A program that appends until its journal is shortened, and tells of each event that is promised. */
const program = `
import { appendFileSync, readFileSync } from 'node:fs';
import { Journal } from '${resolve('src/supervisor/core/journal.ts')}';
const [path, promised, room] = process.argv.slice(2);
const { journal, contents } = await Journal.open(path);
let count = (contents.snapshot?.count ?? 0) + contents.events.length;
journal.standsFor({ snapshot: () => ({ count, room: 'x'.repeat(Number(room)) }), isOurs: () => true, log: () => undefined });
const event = (n) => ({ type: 'time-passed', at: n });
for (let n = 0; n < 4; n++) {
  // As many bytes as make it long at once, and then a few.
  const batch = Array.from({ length: n === 0 ? 150000 : 1 }, (_, k) => event(count + k));
  await journal.append(batch);
  count += batch.length;
  appendFileSync(promised, count + '\\n');
}
`;

let writer: string;
beforeAll(async () => {
  writer = join(mkdtempSync(join(tmpdir(), 'writer-')), 'writer.mjs');
  const options = { bundle: true, platform: 'node', format: 'esm', outfile: writer, logLevel: 'warning' } as const;
  await build({ stdin: { contents: program, resolveDir: process.cwd() }, ...options });
});
afterAll(() => removeFolder(join(writer, '..')));

describe('a crash while the journal is shortened', () => {
  // The first two writes are the header and the events that make it long; the third is the snapshot.
  const writes = [3, 4].flatMap((n) => ['before', 'torn', 'after'].map((moment) => `journal-write:${n}:${moment}`));
  const syncs = [3, 4].flatMap((n) => ['before', 'after'].map((moment) => `journal-sync:${n}:${moment}`));
  const renames = ['journal-rename:1:before', 'journal-rename:1:after'];

  tiered([...renames, ...writes, ...syncs], 1)('at %s loses nothing that was promised', async (death) => {
    const promised = join(folder, 'promised');
    const env = { ...process.env, MEMRL_FAULT: death, MEMRL_FAULT_LOG: join(folder, 'deaths') };
    const preload = `--import=${pathToFileURL(resolve('test/faults/die-at.mjs')).href}`;
    const { signal } = spawnSync(process.execPath, [preload, writer, path, promised, '1000'], { env });
    expect(signal).toBe('SIGKILL');
    const last = Number(readFileSync(promised, 'utf8').trimEnd().split('\n').at(-1));
    const { journal, contents } = await Journal.open(path);
    await journal.close();
    const { count = 0 } = (contents.snapshot ?? {}) as { count?: number };
    expect(count + contents.events.length).toBeGreaterThanOrEqual(last);
    // In order and without a gap, whatever came after the last promise.
    expect(contents.events.every(({ at }, n) => at === count + n)).toBe(true);
  });
});

const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0;
if (!canMount) console.warn('SKIPPED, because unshare -rm is not permitted here: a journal on a full disk');

describe('a full disk', () => {
  it.skipIf(!canMount)('while the journal is shortened leaves the long one as it is', () => {
    // Room for the events, but not for a snapshot of two megabytes beside them.
    const steps = `mount -t tmpfs -o size=6500k none ${folder} && cd ${folder}
      "${process.execPath}" ${writer} ${path} promised ${2 << 20} || exit 3
      head -c 60 journal.jsonl; echo; wc -l < journal.jsonl; ls; cat promised`;
    const said = execFileSync('unshare', ['-rm', 'sh', '-c', steps], { encoding: 'utf8' }).trimEnd().split('\n');
    expect(said).toEqual([
      '{"type":"journal","version":5}',
      ...['{"type":"time-passed","at":0}', '150004', 'journal.jsonl', 'promised'],
      ...['150000', '150001', '150002', '150003'],
    ]);
  });
});
