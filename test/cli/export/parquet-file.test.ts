import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseRunValue, type RunValue } from '../../../src/analysis/run-value.js';
import { writeParquet } from '../../../src/cli/export/parquet-file.js';
import type { RunRecord } from '../../../src/contract/run-record.js';
import { writeOutput } from '../../../src/files/output-file.js';
import { writeRunRecord } from '../../../src/files/run-directory/run-record-file.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'memrl-parquet-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

function addRun(name: string, parameters: RunRecord['parameters'], metrics = ''): void {
  const attempt = { number: 1, slot: 'cpu 0', startedAt: 0, endedAt: 1500, outcome: { kind: 'done' as const } };
  writeRunRecord(join(directory, name), {
    ...{ version: 1, sweep: 's', group: 'g', subgroup: null, name, identity: name, parameters },
    ...{ argv: ['true'], cwd: '/', host: 'here', git: null, attempts: metrics === '' ? [] : [attempt] },
  });
  if (metrics !== '') writeFileSync(join(directory, name, 'metrics.jsonl'), metrics);
}

/** What is written, as another reader has it. */
async function written(metrics: 'last' | 'all') {
  const path = join(directory, 'out.parquet');
  const value = metrics === 'all' ? metrics : (parseRunValue(metrics) as RunValue);
  const count = writeOutput(path, (file) => writeParquet(file, { name: 's', directory }, value));
  const bytes = readFileSync(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const rows = await parquetReadObjects({ file });
  const { schema, num_rows: inFile } = parquetMetadata(file);
  expect([rows.length, Number(inFile)]).toEqual([count, count]);
  const types = schema.slice(1).map(({ name, type, converted_type: as }) => [name, as ?? type]);
  return { rows, types: Object.fromEntries(types) as Record<string, string> };
}

describe('a Parquet file', () => {
  it('has a row for each run, with values of their own type, and nothing where there is nothing', async () => {
    addRun(
      'r10',
      { lr: 0.1, n: 3, on: true, mixed: 1, list: [1, 'a'], 'odd, key': 'ü' },
      '{"step":1,"eval/loss":2.5}\n',
    );
    addRun('r9', { lr: 1, n: 2 ** 40, on: false, mixed: 'x', none: null }, '{"step":7,"eval/loss":NaN,"a.b":-1}\n');
    addRun('r1', {});
    const { rows, types } = await written('last');
    expect(rows).toMatchObject([
      {
        name: 'r1',
        state: 'queued',
        attempts: 0n,
        startedAt: null,
        seconds: null,
        starred: false,
        tags: null,
        lr: null,
      },
      {
        ...{ sweep: 's', group: 'g', subgroup: null, name: 'r9', state: 'done', attempts: 1n },
        ...{ startedAt: new Date(0), endedAt: new Date(1500), seconds: 1.5 },
        ...{ lr: 1, n: 1_099_511_627_776n, on: false, mixed: 'x', list: null, none: null, 'odd, key': null },
        ...{ 'eval/loss': NaN, 'a.b': -1, step: 7 },
      },
      {
        name: 'r10',
        lr: 0.1,
        n: 3n,
        on: true,
        mixed: '1',
        list: '[1,"a"]',
        'odd, key': 'ü',
        'eval/loss': 2.5,
        'a.b': null,
      },
    ]);
    expect(types).toMatchObject({
      ...{ name: 'UTF8', attempts: 'INT64', startedAt: 'TIMESTAMP_MILLIS', seconds: 'DOUBLE', starred: 'BOOLEAN' },
      ...{ lr: 'DOUBLE', n: 'INT64', on: 'BOOLEAN', mixed: 'UTF8', list: 'UTF8', none: 'UTF8', step: 'DOUBLE' },
    });
  });

  it('has a row for each value', async () => {
    addRun('r1', {}, '{"step":1,"loss":3}\n{"step":2,"loss":NaN}\n');
    const { rows, types } = await written('all');
    expect(rows.filter(({ metric }) => metric === 'loss')).toEqual([
      { sweep: 's', group: 'g', subgroup: null, name: 'r1', step: 1, metric: 'loss', value: 3 },
      { sweep: 's', group: 'g', subgroup: null, name: 'r1', step: 2, metric: 'loss', value: NaN },
    ]);
    expect(types).toMatchObject({ step: 'DOUBLE', metric: 'UTF8', value: 'DOUBLE' });
  });

  it.each(['last', 'all'] as const)('is one also where there is nothing to write (%s)', async (metrics) => {
    const { rows, types } = await written(metrics);
    expect(rows).toEqual([]);
    expect(types).toMatchObject({ sweep: 'UTF8' });
  });

  it('may have more rows than are held at once', async () => {
    addRun('r1', {}, Array.from({ length: 60_000 }, (_, step) => `{"step":${step},"loss":${step / 2}}\n`).join(''));
    const { rows } = await written('all');
    // The steps are a metric, too.
    expect(rows).toHaveLength(120_000);
    const losses = rows.filter(({ metric }) => metric === 'loss');
    expect(losses.map(({ value }) => value as number)).toEqual(losses.map((_, step) => step / 2));
  });
});
