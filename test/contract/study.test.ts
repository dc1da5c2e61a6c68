import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readStudy, studyLimits } from '../../src/contract/study.js';

const table = { title: 'loss', columns: ['lr', { title: 'loss', unit: 'nats' }], rows: [[0.1, 2.5]] };

function read(study: object) {
  return readStudy(JSON.stringify({ version: 1, ...study }))!;
}

describe('a study', () => {
  it('is tables, figures, verdicts and notes, with what its writer left out', () => {
    const study = read({
      title: 'rates',
      notes: ['three seeds each'],
      tables: [{ ...table, rows: [{ cells: [0.1, { value: 2.5, interval: [2.4, 2.6], n: 3 }], best: true }, ['all']] }],
      figures: [
        { title: 'loss', x: 'lr', y: { title: 'loss', log: true }, series: [{ x: [1], y: [2] }], lines: [{ y: 1 }] },
      ],
      verdicts: [{ claim: 'It falls.', verdict: 'holds', figures: '2.5 against 3' }],
      lines: [
        { metrics: 'loss', y: 2, text: 'best known' },
        { metrics: ['a', 'b'], y: 0.5, per: 'tokens' },
      ],
      ofALaterVersion: true,
    });
    expect(study).toEqual({
      title: 'rates',
      notes: ['three seeds each'],
      tables: [
        {
          title: 'loss',
          columns: [
            { title: 'lr', unit: null, align: null, spare: null },
            { title: 'loss', unit: 'nats', align: null, spare: null },
          ],
          rows: [
            { cells: [0.1, { value: 2.5, interval: [2.4, 2.6], n: 3, text: null }], best: true },
            { cells: ['all', null], best: false },
          ],
          notes: [],
        },
      ],
      figures: [
        {
          ...{ title: 'loss', note: null },
          ...{ x: { title: 'lr', unit: null, log: false }, y: { title: 'loss', unit: null, log: true } },
          series: [
            {
              ...{ name: '', kind: 'line', x: [1], y: [2] },
              ...{ lo: null, hi: null, min: null, max: null, xlo: null, xhi: null },
            },
          ],
          ...{ bars: [], cells: null, range: null, set: null, slider: { title: 'step', unit: null } },
          lines: [{ x: null, y: 1, text: '' }],
        },
      ],
      verdicts: [{ claim: 'It falls.', verdict: 'holds', figures: ['2.5 against 3'] }],
      lines: [
        { metrics: ['loss'], y: 2, per: null, text: 'best known' },
        { metrics: ['a', 'b'], y: 0.5, per: 'tokens', text: '' },
      ],
      warnings: [],
    });
    expect(read(study).tables).toEqual(study.tables);
  });

  it('is as the documentation shows it', () => {
    const section = /### Tables and figures of your own[^]*?\n### /.exec(
      readFileSync('docs/sweep-file.md', 'utf8'),
    )![0];
    const study = readStudy(/```json\n([^]*?)```/.exec(section)![1]!)!;
    expect(study.warnings).toEqual([]);
    expect([study.verdicts, study.tables, study.figures, study.notes].map(({ length }) => length)).toEqual([
      1, 1, 2, 1,
    ]);
    expect(study.tables[0]!.rows[0]).toMatchObject({ best: true, cells: [0.01, { value: 85 }] });
    expect(study.figures[0]!.series[0]!.hi).toEqual([52, 90]);
    expect(study.figures[1]).toMatchObject({
      bars: [{ name: 'small', x: ['news', 'code', 'news', 'code'] }],
      set: null,
    });
    expect(study.lines).toEqual([
      { metrics: ['accuracy'], y: 92, per: null, text: 'people' },
      { metrics: ['loss'], y: -0.001, per: 'epoch', text: '' },
    ]);
  });

  it('has null where Python writes NaN or Infinity, and reads what stands beside it', () => {
    const text =
      '{"tables": [{"columns": ["a", "b", "c"], "rows": [[NaN, 1e999, {"value": 1, "interval": [-Infinity, 2]}]]}]}';
    const { tables, warnings } = readStudy(text)!;
    expect(tables[0]!.rows[0]!.cells).toEqual([null, null, { value: 1, interval: [null, 2], n: null, text: null }]);
    expect(warnings).toEqual([]);
  });

  it.each<{ what: string; study: object; warning: RegExp }>([
    {
      what: 'a cell',
      study: { tables: [{ ...table, rows: [[1, [2]]] }] },
      warning: /^table "loss", row 1, cell 2: expected a text, a number/,
    },
    {
      what: 'a row',
      study: { tables: [{ ...table, rows: ['x', [1, 2]] }] },
      warning: /^table "loss", row 1: expected a list of cells/,
    },
    {
      what: 'a row that is too long',
      study: { tables: [{ ...table, rows: [[1, 2, 3]] }] },
      warning: /^table "loss", row 1: 3 cells for 2 columns/,
    },
    { what: 'a table', study: { tables: [{ rows: [] }, table] }, warning: /^table 1: expected/ },
    { what: 'a list', study: { tables: table }, warning: /^tables: expected a list/ },
    { what: 'a verdict', study: { verdicts: [{ claim: 'c', verdict: 'perhaps' }] }, warning: /^verdict 1: expected/ },
    {
      what: 'points of two lengths',
      study: { figures: [{ title: 'f', x: 'x', y: 'y', series: [{ x: [1, 2], y: [1] }] }] },
      warning: /^figure "f", curve 1: expected/,
    },
    {
      what: 'bars of numbers and places of two lengths',
      study: { figures: [{ title: 'f', x: 'x', y: 'y', bars: [{ x: ['a', 'b'], y: [1, 2], at: [1] }] }] },
      warning: /^figure "f", bar 1: expected .*"at"/,
    },
    {
      what: 'a line at both',
      study: { figures: [{ title: 'f', x: 'x', y: 'y', series: [], lines: [{ x: 1, y: 2 }] }] },
      warning: /^figure "f", line 1: expected/,
    },
    {
      what: 'more cells than can be drawn',
      study: { figures: [{ title: 'f', x: 'x', y: 'y', cells: [Array(65).fill(0)] }] },
      warning: /^figure 1: expected .*64 × 64/,
    },
    {
      what: 'a line of no metric',
      study: { lines: [{ y: 1 }, { metrics: 'a', y: 2 }] },
      warning: /^chart line 1: expected .*"metrics"/,
    },
    {
      what: 'a number of lines',
      study: { lines: Array.from({ length: 70 }, (_, y) => ({ metrics: 'a', y })) },
      warning: /^of 70 chart lines the first 64 are read/,
    },
    { what: 'a version', study: { version: 2, tables: [table] }, warning: /^version: expected 1/ },
    { what: 'a title', study: { title: {}, notes: ['n'] }, warning: /^title: expected a text/ },
  ])('says where $what is not as it should be, and reads the rest', ({ study, warning }) => {
    const said = read({ notes: ['stays'], ...study });
    expect(said.warnings).toEqual([expect.stringMatching(warning)]);
    expect(said.notes.length).toBe(1);
  });

  it('is cut where it has more than can be shown, and says so', () => {
    const rows = Array.from({ length: 1_000_000 }, () => [1]);
    const { tables, warnings } = read({ tables: [{ title: 't', columns: ['a'], rows }] });
    expect(tables[0]!.rows).toHaveLength(studyLimits.rows);
    expect(warnings).toEqual([`table "t": of 1000000 rows the first ${studyLimits.rows} are read.`]);
    const long = { kind: 'points', x: Array(6000).fill(1), y: Array(6000).fill(1) };
    const { figures } = read({ figures: [{ title: 'f', x: 'x', y: 'y', series: Array(20).fill(long) }] });
    const lengths = figures[0]!.series.map(({ x }) => x.length);
    expect([lengths[0], lengths.reduce((sum, each) => sum + each)]).toEqual([
      studyLimits.points,
      studyLimits.allPoints,
    ]);
    const wrong = read({ tables: [{ columns: ['a'], rows: Array.from({ length: 900 }, () => [[]]) }] });
    expect(wrong.warnings).toHaveLength(studyLimits.warnings + 1);
    expect(wrong.warnings.at(-1)).toBe(`And ${900 - studyLimits.warnings} more of these.`);
    expect(read({ notes: ['n'.repeat(100_000)] }).notes[0]).toHaveLength(studyLimits.text);
  });

  it('has no text that controls a terminal', () => {
    const { notes, tables } = read({
      notes: ['a\u001b[2Jb\nc\u0007'],
      tables: [{ columns: ['\u001b]0;x\u0007t'], rows: [['\u0000z']] }],
    });
    expect(notes).toEqual(['ab c']);
    expect(tables[0]).toMatchObject({ columns: [{ title: 't' }], rows: [{ cells: ['z'] }] });
  });

  it('is not what another program keeps in a file of that name', () => {
    expect(readStudy('{"study_name": "optuna", "trials": []}')).toBeNull();
    expect(readStudy('{"tables": [')).toMatchObject({ warnings: [expect.stringMatching(/not written to its end/)] });
    expect(readStudy('[]')).toMatchObject({ tables: [], warnings: [expect.any(String)] });
  });

  it('is read, whatever JSON it is', () => {
    const any = fc.jsonValue({ maxDepth: 6 });
    const part = fc.record({
      version: any,
      title: any,
      notes: any,
      tables: any,
      figures: any,
      verdicts: any,
      lines: any,
    });
    const inner = fc.record({
      tables: fc.array(fc.record({ title: any, columns: fc.array(any), rows: fc.array(any) })),
    });
    fc.assert(
      fc.property(fc.oneof(part, inner), (study) => Array.isArray(read(study).warnings)),
      { numRuns: 200 },
    );
  });
});
