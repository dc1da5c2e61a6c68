import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Report } from '../../src/cli/answers/report-answers.js';
import { buildReport } from '../../src/report/build-report.js';
import { pageFigures } from '../../src/report/page/page.js';
import { readPageData } from '../../src/report/page/page-data.js';
import { reportLines } from '../../src/report/report-lines.js';
import { reportReplacer } from '../../src/report/report.js';
import { FollowedStudies } from '../../src/report/studies/followed-studies.js';
import { removeFolder } from '../remove-folder.js';
import { pageOf, sweepIn } from './sweep-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'studies-'));
afterAll(() => removeFolder(root));
let sweeps = 0;

const runs = ['a', 'b'].map((name) => ({ name, rows: [{ step: 1, loss: 1 }] }));
const interval = { value: 3.2, interval: [2.9, 3.6] };
const study = {
  version: 1,
  title: 'held-out questions',
  notes: ['Each model answered 200 questions.'],
  tables: [
    {
      title: 'accuracy by rate',
      columns: ['rate', { title: 'accuracy', unit: '%' }, 'note'],
      rows: [[0.1, interval, 'low'], { cells: [0.01, { ...interval, n: 5 }, null], best: true }],
    },
  ],
  figures: [
    {
      ...{ title: 'Accuracy over rate', x: { title: 'rate', log: true }, y: 'accuracy', note: 'of both' },
      series: [
        { name: 'small', x: [0.01, 0.1], y: [3, 3.2], lo: [2.8, 2.9], hi: [3.1, 3.6] },
        { name: 'large', kind: 'points', x: [0.01, 0, 0.1], y: [4, 4, null], lo: [3, 3, 3], hi: [5, 5, 5] },
      ],
      lines: [{ y: 2.5, text: 'chance' }],
    },
  ],
  verdicts: [{ claim: 'A lower rate is better.', verdict: 'in part', figures: ['3.2 against 3.2'] }],
};

/** A sweep of two runs. @param files JSON or text by path. */
function sweepWith(files: Readonly<Record<string, unknown>>): string {
  const sweep = sweepIn(join(root, `s${sweeps++}`), runs);
  for (const [path, content] of Object.entries(files))
    writeFileSync(join(sweep, path), typeof content === 'string' ? content : JSON.stringify(content));
  return sweep;
}

async function linesOf(sweep: string, width = 120): Promise<string[]> {
  return reportLines(await buildReport(sweep), { width, ascii: false });
}

describe('what a program has to say of a sweep', () => {
  it('stands above the tables of the report, and that of a run below them', async () => {
    const both = await linesOf(sweepWith({ 'study.json': study, 'a/study.json': { ...study, title: 'of a run' } }));
    const order = ['held-out questions', 'main', 'a · of a run'].map((line) => both.indexOf(line));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order[0]).toBeGreaterThan(0);
    const lines = await linesOf(sweepWith({ 'study.json': study }));
    expect(`\n${lines.slice(lines.indexOf('held-out questions'), lines.indexOf('main') - 1).join('\n')}\n`)
      .toMatchInlineSnapshot(`
      "
      held-out questions
      in part: A lower rate is better. (3.2 against 3.2)

      accuracy by rate
         rate        accuracy (%)  note
      ─────────────────────────────────
          0.1      3.2 [2.9, 3.6]  low
      ●  0.01  3.2 [2.9, 3.6] n=5  –
      Each model answered 200 questions.
      1 figure, which \`memrl-tui report\` draws with --html: Accuracy over rate
      "
    `);
  });

  it('keeps within the width', async () => {
    const lines = await linesOf(sweepWith({ 'study.json': study }), 30);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(30);
  });

  it('may be lines for charts alone, which are no text to show', async () => {
    const lines = [{ metrics: 'loss', y: 1, text: 'best known' }];
    const sweep = sweepWith({ 'study.json': { lines }, 'b/study.json': { lines, notes: ['of b'] } });
    const report = await buildReport(sweep);
    const known = { metrics: ['loss'], y: 1, per: null, text: 'best known' };
    expect(report.chartLines).toEqual([
      { run: null, ...known },
      { run: 'b', ...known },
    ]);
    expect(report.studies).toMatchObject([{ run: 'b', notes: ['of b'] }]);
    expect(Report.parse(JSON.parse(JSON.stringify(report, reportReplacer))).chartLines).toEqual(report.chartLines);
  });

  it('has lines in the figures of metrics on the page, of a sweep in those of all runs, of a run in its own', async () => {
    const rows = [1, 2, 3, 4].map((step) => ({ step, loss: step / 10, other: 1 }));
    const sweep = sweepIn(join(root, `s${sweeps++}`), [
      { name: 'a', group: 'first', rows },
      { name: 'b', group: 'second', rows },
    ]);
    writeFileSync(join(sweep, 'study.json'), '{"lines": [{"metrics": "loss", "y": 0.9, "text": "best known"}]}');
    const own = [
      { metrics: ['loss'], y: 0.05, per: 'step', text: 'half of b' },
      { metrics: ['loss'], y: 0.05, per: 'tokens', text: 'over another axis' },
    ];
    writeFileSync(join(sweep, 'b/study.json'), JSON.stringify({ lines: own }));
    const figures = pageFigures(await readPageData(sweep, { objective: null }));
    const textsIn = (name: string) => {
      const { svg } = figures.find((figure) => figure.name === name)!;
      return ['best known', 'half of b', 'over another axis'].filter((text) => svg.includes(`>${text}<`));
    };
    expect(textsIn('first-loss')).toEqual(['best known']);
    expect(textsIn('second-loss')).toEqual(['best known', 'half of b']);
    expect(textsIn('second-other')).toEqual([]);
    // The axis reaches a line that is beyond the curve: 0.9 is as high above 0.4 as the ticks say.
    const { svg } = figures.find(({ name }) => name === 'first-loss')!;
    const level = Number(/stroke-dasharray="4 4"[^>]*>\s*<path d="M[\d.]+,([\d.]+)L/.exec(svg)![1]);
    const curve = [...svg.matchAll(/<path d="M[\d.]+,([\d.]+)L[^"]*?,([\d.]+)"/g)].map(([, from, to]) => [
      Number(from),
      Number(to),
    ]);
    const [low, high] = curve.find(([from, to]) => from! > to!)!;
    expect((low! - level) / (low! - high!)).toBeCloseTo((0.9 - 0.1) / (0.4 - 0.1), 1);
  });

  it('may be in several files, and in the directory of a run, which is named', async () => {
    const of = (title: string) => ({ title, notes: [`of ${title}`] });
    const sweep = sweepWith({ 'study-10.json': of('ten'), 'study-9.json': of('nine'), 'b/study.json': of('own') });
    const { studies } = await buildReport(sweep);
    expect(studies.map(({ file, run, title }) => [file, run, title])).toEqual([
      ['study-9.json', null, 'nine'],
      ['study-10.json', null, 'ten'],
      ['b/study.json', 'b', 'own'],
    ]);
    expect(await linesOf(sweep)).toEqual(expect.arrayContaining(['nine', 'of nine', 'b · own']));
  });

  it('is on the page, with figures like all others', async () => {
    const sweep = sweepWith({ 'study.json': study });
    const page = await pageOf(sweep);
    const section = /<h2>held-out questions<\/h2>[\s\S]*?<\/section>/.exec(page)![0];
    for (const text of [
      'accuracy by rate',
      'accuracy (%)',
      '3.2 [2.9, 3.6]',
      'in part: A lower rate',
      '>small</li>',
      'chance',
      'study.json',
    ])
      expect(section).toContain(text);
    expect(section).toContain('of both · Left out on a scale of logarithms: 1 point at or below 0.');
    expect(section).toMatch(/<svg role="img" aria-label="Accuracy over rate"/);
    const figures = pageFigures(await readPageData(sweep, { objective: null }));
    expect(figures.map(({ name }) => name)).toContain('study-accuracy-over-rate');
  });

  it('is read again for a window when its file has changed, and not before', async () => {
    const sweep = sweepWith({});
    const followed = new FollowedStudies(false);
    const runs = ['a', 'b'].map((name) => ({ name, directory: join(sweep, name) }));
    const read = () => followed.read(sweep, runs);
    expect((await read())(80)).toEqual([]);
    writeFileSync(join(sweep, 'a/study.json'), '{"notes": ["first"]}');
    const first = await read();
    expect(first(80)).toEqual(['a · study', 'first']);
    expect(await read()).toBe(first);
    writeFileSync(join(sweep, 'a/study.json'), '{"notes": ["the second"]}');
    expect((await read())(80)).toEqual(['a · study', 'the second']);
    // One without anything to show is not read again with the others, until it changes.
    const lines = '"lines": [{"metrics": "loss", "y": 1}]';
    writeFileSync(join(sweep, 'b/study.json'), `{${lines}}`);
    expect((await read())(80)).toEqual(['a · study', 'the second']);
    writeFileSync(join(sweep, 'b/study.json'), `{${lines}, "notes": ["of b"]}`);
    expect((await read())(80)).toEqual(['a · study', 'the second', '', 'b · study', 'of b']);
    rmSync(join(sweep, 'b/study.json'));
    const rows = Array.from({ length: 900 }, (_, row) => [row]);
    writeFileSync(join(sweep, 'a/study.json'), JSON.stringify({ tables: [{ columns: ['row'], rows }] }));
    expect((await read())(80)).toHaveLength(501);
    expect((await read())(80).at(-1)).toBe('403 more lines: memrl-tui report');
  });

  it('is in the answer for programs, as its schema says', async () => {
    const answer = JSON.parse(
      JSON.stringify(await buildReport(sweepWith({ 'study.json': study })), reportReplacer),
    ) as object;
    expect(Report.parse(answer).studies[0]).toMatchObject({
      file: 'study.json',
      tables: study.tables.map(({ title }) => ({ title })),
    });
  });
});

describe('a study.json that is none', () => {
  it('is told in words, and takes nothing else away', async () => {
    const sweep = sweepWith({ 'study.json': '{"tables": [', 'study-b.json': { notes: ['stays'], tables: 3 } });
    mkdirSync(join(sweep, 'study-c.json'));
    symlinkSync('study-d.json', join(sweep, 'study-d.json'));
    symlinkSync('nowhere.json', join(sweep, 'study-e.json'));
    symlinkSync('study-b.json', join(sweep, 'study-f.json'));
    writeFileSync(join(sweep, 'study-g.json'), '');
    truncateSync(join(sweep, 'study-g.json'), 100 << 20);
    writeFileSync(join(sweep, 'study-h.json'), '{"trials": []}');
    const { studies, sections } = await buildReport(sweep);
    expect(sections).toHaveLength(1);
    expect(studies.map(({ file, warnings }) => `${file}: ${warnings.join(' ')}`)).toMatchInlineSnapshot(`
      [
        "study.json: It is no JSON object, or not written to its end.",
        "study-b.json: tables: expected a list.",
        "study-c.json: It cannot be read: it is a directory, not a regular file.",
        "study-d.json: It cannot be read: it is a symbolic link that leads nowhere or may not be followed.",
        "study-f.json: tables: expected a list.",
        "study-g.json: It cannot be read: it has 100 MiB, and at most 4.0 MiB are read.",
      ]
    `);
    expect(studies.flatMap(({ notes }) => notes)).toEqual(['stays', 'stays']);
    const text = (await linesOf(sweep, 200)).join('\n');
    expect(text).toContain('study-g.json: It cannot be read: it has 100 MiB');
    expect(await pageOf(sweep)).toContain('it is a directory, not a regular file');
  });

  it('has figures that can be drawn of nothing', async () => {
    const empty = { title: 'f', x: { title: 'x', log: true }, y: { title: 'y', log: true } };
    const figures = [
      { ...empty, series: [] },
      { ...empty, series: [{ x: [null, -1], y: [1, 0] }] },
    ];
    expect(await pageOf(sweepWith({ 'study.json': { figures } }))).toContain('<h3>f</h3>');
  });

  it('is limited in number', async () => {
    const sweep = sweepWith(
      Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`study-${n}.json`, { notes: [`${n}`] }])),
    );
    const { studies } = await buildReport(sweep);
    expect(studies).toHaveLength(65);
    expect(studies.at(-1)!.warnings).toEqual(['Of the files study.json, 6 more are not shown.']);
  });
});
