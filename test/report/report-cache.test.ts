import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { RunValue } from '../../src/analysis/run-value.js';
import type { Outcome } from '../../src/base/outcome.js';
import { nothingWritten } from '../../src/contract/written-files.js';
import { writeRunRecord } from '../../src/files/run-directory/run-record-file.js';
import { writeWrittenFiles } from '../../src/files/run-directory/supervisor-notes.js';
import { RunMetrics } from '../../src/metrics/run-metrics.js';
import { buildReport } from '../../src/report/build-report.js';
import type { Report } from '../../src/report/report.js';
import { removeFolder } from '../remove-folder.js';

const root = mkdtempSync(join(tmpdir(), 'report-cache-'));
afterAll(() => removeFolder(root));
const reading = vi.spyOn(RunMetrics.prototype, 'readToEnd');
afterEach(() => reading.mockClear());

/** Unix s. */
const LONG_AGO = 1_700_000_000;
const long = Array.from(
  { length: 2000 },
  (_, step) => `{"step": ${step}, "loss": ${(2000 - step) / 1000}, "acc": 0.5}`,
);
const done: Outcome = { kind: 'done' };
let sweeps = 0;

type Facts = {
  rows?: readonly string[];
  outcome?: Outcome | null;
  parameters?: Record<string, number | string>;
};

function sweepOf(runs: Record<string, Facts>, text = 'command: [true]\n'): string {
  const sweep = join(root, `sweep-${sweeps++}`);
  mkdirSync(sweep);
  writeFileSync(join(sweep, 'sweep.yaml'), text);
  for (const [name, { rows = long, outcome = done, parameters = {} }] of Object.entries(runs)) {
    const directory = join(sweep, name);
    writeRunRecord(directory, {
      ...{ version: 1, sweep: 's', group: 'runs', subgroup: null, name, identity: name, parameters, argv: ['true'] },
      ...{ cwd: '/', host: 'here', git: null },
      attempts: [{ number: 1, slot: 'cpu 0', startedAt: 1, endedAt: outcome === null ? null : 2, outcome }],
    });
    writeOld(join(directory, 'metrics.jsonl'), rows.map((row) => `${row}\n`).join(''));
  }
  return sweep;
}

function writeOld(path: string, text: string): void {
  writeFileSync(path, text);
  utimesSync(path, LONG_AGO, LONG_AGO);
}

const cacheIn = (sweep: string) => join(sweep, 'report.cache');

/** The report, and how many runs were read for it. */
async function reported(sweep: string, value?: RunValue): Promise<{ report: Report; reads: number }> {
  reading.mockClear();
  const report = await buildReport(sweep, value === undefined ? {} : { value });
  return { report, reads: reading.mock.calls.length };
}

function means(report: Report): (number | null | undefined)[] {
  return report.sections.flatMap((section) =>
    section.kind === 'metrics' ? section.rows.map(({ metrics }) => metrics['loss']?.mean) : [],
  );
}

const two = { a: { parameters: { lr: 1 } }, b: { parameters: { lr: 2 } } };

describe('the second report of a sweep', () => {
  const explodes = [
    ...long.slice(0, -2),
    '{"step": 1998, "loss": Infinity, "acc": NaN}',
    '{"step": 1999, "acc": null}',
  ];

  it.each<{ of: string; runs: Record<string, Facts>; text?: string; value?: RunValue }>([
    { of: 'last values', runs: two },
    { of: 'means', runs: two, value: { kind: 'mean', of: 5 } },
    { of: 'values at the best', runs: two, value: { kind: 'best', objective: 'loss', goal: 'minimize' } },
    { of: 'runs whose values are infinite', runs: { ...two, c: { rows: explodes, parameters: { lr: 3 } } } },
    {
      of: 'runs with marks',
      runs: {
        ...two,
        c: {
          rows: long.toReversed().map((row, step) => row.replace(/"step": \d+/, `"step": ${step}`)),
          parameters: { lr: 3 },
        },
      },
      text: 'metric: {name: loss}\n',
    },
  ])('reads nothing again and says the same: $of', async ({ runs, text, value }) => {
    const sweep = sweepOf(runs, text);
    const first = await reported(sweep, value);
    const second = await reported(sweep, value);
    expect([first.reads, second.reads]).toEqual([Object.keys(runs).length, 0]);
    expect(second.report).toEqual(first.report);
  });

  it.each<{ change: string; make: (run: string) => void; loss: number }>([
    {
      change: 'it grew',
      make: (run) => {
        appendFileSync(join(run, 'metrics.jsonl'), '{"step": 2000, "loss": 7}\n');
        utimesSync(join(run, 'metrics.jsonl'), LONG_AGO, LONG_AGO);
      },
      loss: 7,
    },
    {
      change: 'it was rewritten with the same size and date',
      make: (run) => {
        const path = join(run, 'metrics.jsonl');
        const { ino, size, mtimeMs } = statSync(path);
        writeOld(path, readFileSync(path, 'utf8').replace('"loss": 0.001', '"loss": 9.001'));
        expect(statSync(path)).toMatchObject({ ino, size, mtimeMs });
      },
      loss: 9.001,
    },
    {
      change: 'another file took its place',
      make: (run) => {
        const path = join(run, 'metrics.jsonl');
        writeOld(`${path}.new`, readFileSync(path, 'utf8').replace('"loss": 0.001', '"loss": 8.001'));
        renameSync(`${path}.new`, path);
      },
      loss: 8.001,
    },
    {
      change: 'the run wrote elsewhere, as is found later',
      make: (run) => {
        rmSync(join(run, 'metrics.jsonl'));
        const path = join(root, `elsewhere-${sweeps}.jsonl`);
        writeOld(path, long.map((row) => row.replace('"loss": 0.001', '"loss": 6.001')).join('\n') + '\n');
        const files = [{ path, attempt: 1, by: 'open' as const, why: 'a process of the run had it open' }];
        writeWrittenFiles(run, { ...nothingWritten, files });
      },
      loss: 6.001,
    },
  ])('reads a run of which $change', async ({ make, loss }) => {
    const sweep = sweepOf(two);
    expect(means((await reported(sweep)).report)).toEqual([0.001, 0.001]);
    make(join(sweep, 'a'));
    const { report, reads } = await reported(sweep);
    expect(means(report)).toEqual([loss, 0.001]);
    expect(reads).toBe(1);
  });

  it('reads the runs again where something else is asked', async () => {
    const sweep = sweepOf(two);
    await reported(sweep);
    const highest = await reported(sweep, { kind: 'max' });
    expect(means(highest.report)).toEqual([2, 2]);
    writeFileSync(join(sweep, 'sweep.yaml'), 'metrics: {show: [acc]}\n');
    expect([highest.reads, (await reported(sweep)).reads]).toEqual([2, 2]);
  });

  it('keeps no more than a few answers of a run, those asked last', async () => {
    const sweep = sweepOf(two);
    for (let of = 1; of <= 9; of++) await reported(sweep, { kind: 'mean', of });
    expect(readFileSync(cacheIn(sweep), 'utf8').trim().split('\n')).toHaveLength(8);
    expect((await reported(sweep, { kind: 'mean', of: 9 })).reads).toBe(0);
    expect((await reported(sweep, { kind: 'mean', of: 1 })).reads).toBe(2);
  });
});

describe('the file of the cache', () => {
  it.each<{ of: string; runs: Record<string, Facts>; touched?: true }>([
    { of: 'runs that are not over', runs: { a: { outcome: null } } },
    { of: 'files that are read at once', runs: { a: { rows: long.slice(0, 20) } } },
    { of: 'files that were written a moment ago', runs: { a: {} }, touched: true },
  ])('has nothing of $of', async ({ runs, touched }) => {
    const sweep = sweepOf(runs);
    if (touched) utimesSync(join(sweep, 'a', 'metrics.jsonl'), new Date(), new Date());
    expect((await reported(sweep)).reads).toBe(1);
    expect(existsSync(cacheIn(sweep))).toBe(false);
    expect((await reported(sweep)).reads).toBe(1);
  });

  it('may be damaged anywhere: the report is the same', async () => {
    const sweep = sweepOf(two);
    const { report } = await reported(sweep);
    const text = readFileSync(cacheIn(sweep));
    const damaged = [
      ...Array.from({ length: 40 }, (_, part) => {
        const bytes = Buffer.from(text);
        bytes[Math.floor((part / 40) * text.length)]! ^= 1 + part;
        return bytes;
      }),
      ...[0, 5, 300, text.length - 1].map((end) => text.subarray(0, end)),
      Buffer.from('garbage\n\n[]\n00000000 \n'),
    ];
    for (const bytes of damaged) {
      writeFileSync(cacheIn(sweep), bytes);
      expect((await reported(sweep)).report).toEqual(report);
    }
    expect((await reported(sweep)).reads).toBe(0);
  });

  it('is done without where it cannot be written, and writes through no link', async () => {
    const sweep = sweepOf(two);
    mkdirSync(join(cacheIn(sweep), 'full'), { recursive: true });
    const { report } = await reported(sweep);
    const again = await reported(sweep);
    expect(again.report).toEqual(report);
    expect(again.reads).toBe(2);
    rmSync(cacheIn(sweep), { recursive: true });
    const other = join(root, 'other.txt');
    writeFileSync(other, 'mine');
    symlinkSync(other, cacheIn(sweep));
    await reported(sweep);
    expect(readFileSync(other, 'utf8')).toBe('mine');
    expect((await reported(sweep)).reads).toBe(0);
  });
});
