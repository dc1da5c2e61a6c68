import fc from 'fast-check';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseRunValue, type RunValue } from '../../../src/analysis/run-value.js';
import { csvLine } from '../../../src/text/table.js';
import { exportLines, type TextFormat } from '../../../src/cli/export/export-lines.js';
import type { RunRecord } from '../../../src/contract/run-record.js';
import { writeRunRecord } from '../../../src/files/run-directory/run-record-file.js';
import { removeFolder } from '../../remove-folder.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'memrl-export-'));
});
afterEach(() => removeFolder(directory));

function addRun(name: string, parameters: RunRecord['parameters'], metrics: string[] = []): void {
  const outcome = { kind: 'done' as const };
  const attempt = { number: 1, slot: 'cpu 0', startedAt: 0, endedAt: 1500, outcome };
  writeRunRecord(join(directory, name), {
    ...{ version: 1, sweep: 's', group: 'g', subgroup: null, name, identity: name, parameters },
    ...{ argv: ['true'], cwd: '/', host: 'here', git: null, attempts: metrics.length === 0 ? [] : [attempt] },
  });
  if (metrics.length > 0)
    writeFileSync(join(directory, name, 'metrics.jsonl'), metrics.map((row) => `${row}\n`).join(''));
}

function lines(format: TextFormat, metrics: string): string[] {
  const value = metrics === 'all' ? metrics : (parseRunValue(metrics) as RunValue);
  return [...exportLines({ name: 's', directory }, format, value)];
}

describe('a field of CSV', () => {
  it.each<[string | number | null, string]>([
    ['plain', 'plain'],
    ['', '""'],
    [null, ''],
    [0.5, '0.5'],
    ['a,b', '"a,b"'],
    ['say "no"', '"say ""no"""'],
    ['two\nlines', '"two\nlines"'],
    [' blank', '" blank"'],
  ])('%j is written %s', (value, text) => {
    expect(csvLine([value])).toBe(text);
  });

  it('is read back as it was by a plain reader', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (values) => {
        const fields = [...csvLine(values).matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)];
        expect(fields.map(([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare)).toEqual(values);
      }),
    );
  });
});

describe('an export', () => {
  beforeEach(() => {
    addRun('r10', { lr: 0.1, layers: [1, 2], 'odd, key': 'x "y"' }, [
      '{"step":1,"loss":3,"lr":9}',
      '{"step":2,"loss":2}',
      '{"step":3,"loss":1}',
      '{"step":2,"loss":1.5}',
      '{"step":3,"loss":NaN}',
    ]);
    addRun('r9', { lr: 0.2 });
  });

  it('has a row for each run, in natural order, with all that any run has', () => {
    expect(lines('csv', 'last')).toEqual([
      'sweep,group,subgroup,name,state,attempts,startedAt,endedAt,seconds,starred,tags,note,lr,layers,"odd, key",loss,metric:lr,step',
      's,g,,r9,queued,0,,,,false,,,0.2,,,,,',
      's,g,,r10,done,1,1970-01-01T00:00:00.000Z,1970-01-01T00:00:01.500Z,1.5,false,,,0.1,"[1,2]","x ""y""",NaN,9,3',
    ]);
  });

  it('has a row for each run that never began, with its state', () => {
    const unstarted = { ...{ name: 'r8', group: 'g', subgroup: 'sub', directory: join(directory, 'r8') }, config: {} };
    const known = [{ ...unstarted, parameters: { lr: 0.3 }, state: 'killed' as const }];
    const table = [...exportLines({ name: 's', directory, known }, 'csv', { kind: 'last' })];
    expect(table).toHaveLength(4);
    expect(table[1]).toBe('s,g,sub,r8,killed,0,,,,false,,,0.3,,,,,');
  });

  it('as JSON is the same facts', () => {
    const rows = JSON.parse(lines('json', 'last').join('\n')) as object[];
    expect(rows).toMatchObject([
      { name: 'r9', state: 'queued', metrics: {} },
      { name: 'r10', parameters: { layers: [1, 2] }, metrics: { loss: null, lr: 9 } },
    ]);
    expect(lines('jsonl', 'last').map((line) => JSON.parse(line) as object)).toEqual(rows);
  });

  it('tells infinities from NaN', () => {
    addRun('r11', {}, ['{"step":1,"loss":3,"acc":1}', '{"step":2,"loss":Infinity,"acc":-Infinity}']);
    expect(lines('csv', 'last').at(-1)).toMatch(/,-inf,inf,,2$/);
    expect(lines('csv', 'all').filter((line) => line.includes('r11'))).toEqual(
      ['1,acc,1', '2,acc,-inf', '1,loss,3', '2,loss,inf', '1,step,1', '2,step,2'].map((end) => `s,g,,r11,${end}`),
    );
    expect(JSON.parse(lines('jsonl', 'last').at(-1)!)).toMatchObject({ metrics: { loss: 'inf', acc: '-inf' } });
  });

  it('of all metrics has a row for each value, steps of a resumed run once', () => {
    expect(lines('csv', 'all')).toEqual([
      'sweep,group,subgroup,name,step,metric,value',
      ...['1,loss,3', '2,loss,1.5', '3,loss,NaN', '1,lr,9', '1,step,1', '2,step,2', '3,step,3'].map(
        (end) => `s,g,,r10,${end}`,
      ),
    ]);
    expect(JSON.parse(lines('json', 'all').join('\n'))).toHaveLength(7);
  });

  it('keeps every point of a run that is too long for a chart to keep', () => {
    addRun('long', {}, ['{"step":0,"loss":0}']);
    const rows = Array.from({ length: 40_000 }, (_, step) => `{"step":${step + 1},"loss":${step % 7}}\n`).join('');
    appendFileSync(join(directory, 'long/metrics.jsonl'), rows);
    expect(lines('jsonl', 'all').filter((line) => line.includes('"long"') && line.includes('"loss"'))).toHaveLength(
      40_001,
    );
  });

  it('of a sweep without runs is still a table, or an empty list', () => {
    rmSync(join(directory, 'r9'), { recursive: true });
    rmSync(join(directory, 'r10'), { recursive: true });
    expect(lines('csv', 'last')).toHaveLength(1);
    expect(JSON.parse(lines('json', 'all').join('\n'))).toEqual([]);
  });
});
