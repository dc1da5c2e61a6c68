import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { property } from '../../tiers.js';
import { describeSources } from '../../../src/metrics/describe-sources.js';
import { openMetrics, type RunMetrics } from '../../../src/metrics/run-metrics.js';
import { SqliteFile } from '../../../src/metrics/binary/sqlite-file.js';
import { rowsAfter, tablesOf } from '../../../src/metrics/binary/sqlite-table.js';
import { hasProgram } from '../../has-program.js';
import { removeFolder } from '../../remove-folder.js';

const fixtures = join(import.meta.dirname, '../../fixtures/metrics');
const database = readFileSync(join(fixtures, 'trackio-wal/fixture.db'));
const log = readFileSync(join(fixtures, 'trackio-wal/fixture.db-wal'));
const places = { folders: [], patterns: {} };
const PAGE = 4096;
const FRAME = PAGE + 24;

let run: string;
beforeEach(() => void (run = mkdtempSync(join(tmpdir(), 'trackio-'))));
afterEach(() => removeFolder(run));

const open = () => openMetrics(run, { places });
const points = (metrics: RunMetrics, key: string) => {
  const { x, y } = metrics.series(key);
  return Array.from(x, (at, index) => [at, y[index]]);
};
const lossOf = (step: number) => 2 / (1 + step) + 0.125;
const firstSteps = (count: number) => Array.from({ length: count }, (_, step) => [step, lossOf(step)]);
/** Those of the fixture whose database is of this size and whose log of that. */
const lay = (size: number, logSize: number) => {
  writeFileSync(join(run, 'fixture.db'), database.subarray(0, size));
  writeFileSync(join(run, 'fixture.db-wal'), log.subarray(0, logSize));
};
const age = (seconds: number) => {
  const time = Date.now() / 1000 - seconds;
  for (const name of readdirSync(run)) utimesSync(join(run, name), time, time);
};

describe("trackio's database", () => {
  it('is told by its table, and named as what it is', () => {
    cpSync(join(fixtures, 'trackio'), run, { recursive: true });
    const [source] = describeSources(open().readNow()).sources.filter(({ state }) => state === 'told');
    expect(source).toMatchObject({ format: 'trackio', files: ['fixture.db'], rows: 50 });
    expect(source!.why).toMatch(/table `metrics`/);
  });

  it('is left as it is: nothing is created beside it, nothing in it changes', () => {
    cpSync(join(fixtures, 'trackio-wal'), run, { recursive: true });
    open().readNow();
    expect(readdirSync(run)).toEqual(['fixture.db', 'fixture.db-wal']);
    expect(readFileSync(join(run, 'fixture.db')).equals(database)).toBe(true);
    expect(readFileSync(join(run, 'fixture.db-wal')).equals(log)).toBe(true);
  });

  it('waits for the rest of a file that was cut, wherever it was cut, and says so once nobody writes it any more', () => {
    const sizes = [0, 1, 17, 99, 100, 101].concat(
      Array.from({ length: database.length / PAGE }, (_, page) => [-1, 2000].map((by) => page * PAGE + by)).flat(),
    );
    for (const size of sizes.filter((each) => each >= 0)) {
      lay(size, 0);
      const metrics = open().readNow();
      expect([metrics.obstacle, points(metrics, 'loss').length]).toEqual([null, expect.toBeOneOf([0, 40])]);
    }
    lay(database.length - PAGE, 0);
    age(60);
    const metrics = open().readNow();
    const told = points(metrics, 'loss');
    expect(told).toEqual(firstSteps(told.length));
    expect([told.length, metrics.obstacle]).toEqual([39, 'fixture.db is damaged: page 51 is not whole']);
  });

  it('has each row once when its log grows bit by bit, and none before it is committed', () => {
    lay(database.length, 0);
    const told: unknown[] = [];
    const listener = {
      row: ({ step }: { step?: number }) => void told.push(step),
      restart: () => void told.push('restart'),
    };
    const metrics = openMetrics(run, { places, listener }).readNow();
    for (let at = 0; at < log.length; at += 331) {
      appendFileSync(join(run, 'fixture.db-wal'), log.subarray(at, Math.min(log.length, at + 331)));
      metrics.refresh();
      const steps = points(metrics, 'loss').length;
      expect(points(metrics, 'loss')).toEqual(firstSteps(steps));
      // A commit ends with a frame.
      if (at + 331 < 32 + FRAME) expect(steps).toBe(40);
    }
    expect(told).toEqual(Array.from({ length: 50 }, (_, step) => step));
  });

  property('is read up to what is wrong in its log', 25, (examples) => {
    fc.assert(
      fc.property(fc.nat(log.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const spoilt = Buffer.from(log);
        spoilt[at]! ^= flip;
        lay(database.length, 0);
        writeFileSync(join(run, 'fixture.db-wal'), spoilt);
        const told = points(open().readNow(), 'loss');
        expect(told).toEqual(firstSteps(told.length));
        expect(told.length).toBeGreaterThanOrEqual(40);
      }),
      examples,
    );
  });

  it('is not read where a row of its log is another than its checksum says', () => {
    const spoilt = Buffer.from(log);
    // The last digit of the last row.
    spoilt[spoilt.lastIndexOf('"loss":0.165,') + '"loss":0.16'.length]! ^= 1;
    lay(database.length, 0);
    writeFileSync(join(run, 'fixture.db-wal'), spoilt);
    expect(points(open().readNow(), 'loss')).toEqual(firstSteps(40));
  });

  property('is read without fail, whatever is wrong in it', 60, (examples) => {
    const flips = fc.array(fc.tuple(fc.nat(database.length - 1), fc.nat(255)), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(flips, (changes) => {
        const spoilt = Buffer.from(database);
        for (const [at, value] of changes) spoilt[at] = value;
        writeFileSync(join(run, 'fixture.db'), spoilt);
        age(60);
        const metrics = open();
        for (let turns = 0; turns === 0 || metrics.more; turns++) {
          expect(turns).toBeLessThan(100);
          metrics.refresh();
        }
      }),
      examples,
    );
  });

  it('is waited for while a transaction is open that is written to it at once', () => {
    writeFileSync(join(run, 'fixture.db'), readFileSync(join(fixtures, 'trackio/fixture.db')));
    writeFileSync(join(run, 'fixture.db-journal'), Buffer.from('d9d505f920a163d7', 'hex'));
    const metrics = open().readNow();
    expect(metrics.keys()).toEqual([]);
    // As journal_mode=PERSIST leaves it behind.
    writeFileSync(join(run, 'fixture.db-journal'), Buffer.alloc(28));
    expect(points(metrics.readNow(), 'loss')).toEqual(firstSteps(50));
  });
});

/** Python's own SQLite, with a table as trackio makes it. */
const prelude = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1] + "/p.db", isolation_level=None, timeout=0)
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA synchronous = OFF")
def make():
    db.execute("CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL, UNIQUE(run_id, step))")
def log(run, step, metrics):
    db.execute("INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, '2026-01-01T00:00:00+00:00', ?, ?, ?)", (run, run, step, json.dumps(metrics)))
`;
const python = (code: string) => execFileSync('python3', ['-c', prelude + code, run]);

describe.skipIf(!hasProgram('python3', 'databases that are written by SQLite itself'))('a project of trackio', () => {
  it('is read while it is written: rows come once and in order, and no writer is ever locked out', async () => {
    const told: number[] = [];
    const listener = { row: ({ step }: { step?: number }) => void told.push(step!), restart: () => void told.push(-1) };
    const metrics = openMetrics(run, { places, listener });
    const code = `
make()
db.execute("PRAGMA wal_autocheckpoint = 20")
for step in range(800):
    log("a", step, {"loss": step / 4, "pad": "x" * (step % 97) * 60})
    if step % 200 == 199:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
`;
    const writer = spawn('python3', ['-c', prelude + code, run], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    writer.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
    let isOver = false;
    const over = once(writer, 'close').then(() => (isOver = true));
    while (!isOver) {
      metrics.refresh(4096);
      await new Promise(setImmediate);
    }
    await over;
    metrics.readNow();
    expect(errors).toBe('');
    expect(told).toEqual(Array.from({ length: 800 }, (_, step) => step));
    expect(points(metrics, 'loss').at(-1)).toEqual([799, 799 / 4]);
    expect(readdirSync(run).filter((name) => name.endsWith('-shm'))).toEqual([]);
  });

  it.each<{ when: string; code: string }>([
    { when: 'another row is committed to the log', code: 'log("a", 2, {})' },
    {
      when: 'the log is taken into the database and deleted',
      code: 'db.execute("PRAGMA wal_checkpoint(TRUNCATE)")\nlog("a", 2, {})\ndb.close()',
    },
  ])('is read again when $when meanwhile', ({ code }) => {
    python('make()\nfor step in range(2): log("a", step, {})\nimport os\nos._exit(0)');
    const file = new SqliteFile(join(run, 'p.db'));
    let reads = 0;
    const read = file.read((pages) => {
      const { root } = tablesOf(pages).get('metrics')!;
      const ids = [...rowsAfter(pages, root, -Infinity)].map(({ id }) => id);
      if (reads++ === 0) python(code);
      return ids;
    });
    expect([reads, read]).toEqual([2, { is: 'read', value: [1, 2, 3] }]);
  });

  it('has the attempts at a run as one, whatever they are called', () => {
    python(`
make()
for step in range(6): log("brave-fox-1", step, {"loss": step})
for step in range(3, 9): log("calm-owl-2", step, {"loss": 100 + step})
`);
    expect(points(open().readNow(), 'loss')).toEqual([0, 1, 2, 103, 104, 105, 106, 107, 108].map((y, x) => [x, y]));
  });

  it('has runs beside each other by their names', () => {
    python(`
make()
for step in range(3):
    for run in "ab": log(run, step, {"loss": step * (1 if run == "a" else 10)})
`);
    const metrics = open().readNow();
    expect(metrics.keys()).toEqual(['step', 'a/loss', 'b/loss']);
    expect(points(metrics, 'b/loss')).toEqual([[0, 0], [1, 10], [2, 20]]); // prettier-ignore
  });

  it('is begun again when what was written is deleted', () => {
    python('make()\nfor step in range(5): log("a", step, {"loss": step})');
    const metrics = open().readNow();
    expect(points(metrics, 'loss')).toHaveLength(5);
    python('db.execute("DELETE FROM metrics")\nfor step in (8, 9): log("b", step, {"loss": 7})');
    expect(points(metrics.readNow(), 'loss')).toEqual([[8, 7], [9, 7]]); // prettier-ignore
  });

  it('is found once its table is there, though only its log knows of it yet', () => {
    python('');
    const metrics = open().readNow();
    // It does not close the database, so the log stays, and the database has one empty page.
    const holder = `make()\nlog("a", 0, {"loss": 1})\nlog("a", 1, {"loss": 2})\nimport os\nos._exit(0)\n`;
    expect(metrics.keys()).toEqual([]);
    python(holder);
    expect(metrics.readNow().keys()).toEqual(['step', 'loss']);
  });

  it('is told from other databases', () => {
    python('db.execute("CREATE TABLE trials (id INTEGER PRIMARY KEY, metrics)")');
    const { passedOver } = describeSources(open().readNow());
    expect(passedOver).toEqual([
      { file: 'p.db', why: 'it is an SQLite database without the tables of trackio or MLflow' },
    ]);
  });
});
