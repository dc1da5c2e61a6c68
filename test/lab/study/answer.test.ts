import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/base/outcome.js';
import { readStudy, type Study, studyText } from '../../../src/contract/study.js';
import { writeStudy } from '../../../src/lab/study/study.js';
import { buildReport } from '../../../src/report/build-report.js';
import { numberFiles } from '../../../src/report/numbers-csv.js';
import { reportLines } from '../../../src/report/report-lines.js';
import { removeFolder } from '../../remove-folder.js';
import { type Facts, sweepIn } from '../../report/sweep-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'answer-'));
afterAll(() => removeFolder(root));
let sweeps = 0;

type MemoryRun = Omit<Facts, 'outcome' | 'parameters'> & {
  parameters: Record<string, string | number>;
  /** Bits known at each evaluation, one every 100 steps. */
  bits?: number[];
  greedy?: [answer: number, probability: number];
  outcome?: Outcome | null;
};

function sweepOf(text: string, runs: readonly MemoryRun[]): string {
  const facts = runs.map(({ bits = [], greedy, rows, outcome, ...run }): Facts => ({
    ...{ ...run, rows: rows ?? evaluations(bits, greedy) },
    ...(outcome === null || outcome === undefined ? {} : { outcome }),
  }));
  const sweep = sweepIn(join(root, `sweep-${sweeps++}`), facts, text);
  for (const { name, parameters, outcome } of runs) {
    const settings = { batch_size: 1, group_size: 4, ...parameters };
    writeFileSync(join(sweep, name, 'config.json'), JSON.stringify(settings));
    if (outcome === null) endless(join(sweep, name, 'run.json'));
  }
  return sweep;
}

/** Makes a run one whose end nobody has recorded. */
function endless(record: string): void {
  writeFileSync(record, readFileSync(record, 'utf8').replace(/"outcome": \{[^}]*\}/, '"outcome": null'));
}

function evaluations(bits: number[], greedy: MemoryRun['greedy']): object[] {
  return bits.map((each, index) => ({
    step: index * 100,
    'progress/episodes': index * 400,
    'test/bits/answer_raw': each,
    'test/greedy': greedy?.[0] ?? null,
    'test/greedy_prob': greedy?.[1] ?? 0.1,
  }));
}

function studyOf(sweep: string): Study {
  return readStudy(readFileSync(writeStudy(sweep)!, 'utf8'))!;
}

/** What the manager reports of a sweep, down to the end of the study. */
async function answerOf(sweep: string, width: number): Promise<string[]> {
  writeStudy(sweep);
  const lines = reportLines(await buildReport(sweep), { width, ascii: false });
  return lines.slice(
    0,
    lines.findIndex((line) => /^\d+ figures?, which/.test(line)),
  );
}

/** The texts of a column. */
function cellsOf({ tables }: Study, title: string, table = 0): unknown[] {
  const { columns, rows } = tables[table]!;
  const at = columns.findIndex((column) => column.title === title);
  return rows.map(({ cells }) => (typeof cells[at] === 'object' ? cells[at]?.text : cells[at]));
}

const done: Outcome = { kind: 'done' };
const single = { env_type: 'single_step', reward_type: 'binary' };
const rise = (length: number, top: number) => [...Array.from({ length }, () => 0), top, top];

const abcd = () =>
  sweepOf('groups:\n  A:\n    title: Reward bins\n  B: {title: Secret size}\n  D: {}\n', [
    ...[0, 1, 2].map((seed) => ({
      name: `A_binary_s${seed}`,
      group: 'A',
      parameters: { ...single, N: 1024, seed, fixed_secret: 57 },
      bits: rise(10 + seed, 10),
      outcome: done,
    })),
    {
      name: 'A_B4_s0',
      group: 'A',
      parameters: { ...single, reward_type: 'binned_log_distance', reward_bins: 4, N: 1024, seed: 0, fixed_secret: 57 },
      bits: [0, 2, -8],
      greedy: [58, 0.99],
      outcome: done,
    },
    ...[16, 64, 256].flatMap((N) =>
      [0, 1].map((seed) => ({
        name: `B_N${N}_s${seed}`,
        group: 'B',
        parameters: { ...single, N, seed, fixed_secret: 3, n_batches: N * 100 },
        bits: rise(Math.sqrt(N), Math.log2(N)),
        outcome: done,
      })),
    ),
    {
      name: 'D_sft_s0',
      group: 'D',
      parameters: { N: 1024, fixed_secret: 57, seed: 0, num_epochs: 1, batch_size: 128 },
      bits: [0, 9.9, 10],
      outcome: null,
    },
  ]);

describe('the study of a sweep', () => {
  it('shows the results of every condition', async () => {
    expect((await answerOf(abcd(), 140)).slice(1)).toMatchInlineSnapshot(`
      [
        "",
        "bits learnt per episode",
        "",
        "A · Reward bins",
        "condition     N  B  memorised  stuck  plateau  collapsed  censored  episodes           range  all seeds  bits/episode  ceiling",
        "──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────",
        "binary     1024           3/3      –        –          –         –     4,400  4,000 to 4,800      4,400       0.00227        1",
        "binned     1024  4        0/1      1        –          –         –         –               –      > 800      < 0.0125       2*",
        "",
        "B · Secret size",
        "condition    N  memorised  stuck  plateau  collapsed  censored  episodes  range  all seeds  bits/episode                95 %  ceiling",
        "─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────",
        "binary      16        2/2      –        –          –         –     1,600  1,600      1,600       0.00250  [0.00250, 0.00250]        1",
        "binary      64        2/2      –        –          –         –     3,200  3,200      3,200       0.00187  [0.00187, 0.00187]        1",
        "binary     256        2/2      –        –          –         –     6,400  6,400      6,400       0.00125  [0.00125, 0.00125]        1",
        "binary: episodes ∝ N^0.50 (3 sizes, R² 1.000)",
        "",
        "D",
        "condition     N  memorised  stuck  plateau  collapsed  censored  other      examples  range  all seeds  steps  bits/example  ceiling  ratio",
        "───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────",
        "SFT        1024        0/1      –        –          –         –  1 running         –      –          –      –             –       10      –",
        "memorised: from that evaluation on, every one knew at least 95 % of the secret's log2 N bits.",
        "stuck: ended confident (P > 0.9) of a wrong answer.",
        "episodes, examples: the median over the seeds that memorised; all seeds: those that did not count as infinite.",
        "bits/…: log2 N over the median of all seeds; in brackets 95 %, by Student’s t over base models.",
        "ceiling: the most bits one episode can carry: log2 of the number of rewards that can be told apart.",
        "* N=1024 B=4: 5 neighbouring integers earn the top reward, so 7.68 of 10 bits are all that the reward asks for.",
        "Some numbers are coarse: there were up to 400 episodes between evaluations.",
      ]
    `);
  });

  it('has the same facts as numbers, and infinite ones as texts', () => {
    const study = studyOf(abcd());
    const told = study.tables.map((_, table) => cellsOf(study, 'all seeds', table));
    expect(told).toEqual([['4,400', '> 800'], ['1,600', '3,200', '6,400'], ['–']]);
    expect(readStudy(studyText(study))).toEqual(study);
  });

  it('skips damaged and missing files', () => {
    const sweep = sweepOf('groups: [this is, no: map\n', [
      { name: 'a', group: 'g', parameters: { ...single, N: 16, fixed_secret: 3 }, outcome: done },
    ]);
    mkdirSync(join(sweep, 'foreign'));
    writeFileSync(join(sweep, 'a', 'config.json'), '{"N": 1');
    writeFileSync(join(sweep, 'a', 'metrics.jsonl'), '{"step": 0, "test/bits/answer_raw": 0}\n{"st');
    expect(cellsOf(studyOf(sweep), 'censored')).toEqual(['1']);
  });
});

describe('a memory sweep that is compared with other learners', () => {
  const observedAt = (name: string, N: number, seed: number, determined: number | null): MemoryRun => {
    const last = rise(10 * (seed + 1), Math.log2(N));
    const rows = evaluations(last, undefined).map((row, index) => ({
      ...row,
      'observer/bits_known': index === 0 ? 0 : 1,
      ...(determined !== null && index > 0 && { 'observer/determined_after': determined }),
    }));
    const parameters = { ...single, N, seed, fixed_secret: 3 };
    return { name: `${name}_N${N}_s${seed}`, group: 'B', parameters, rows, outcome: done };
  };
  const row = (N: number, ideal: number, table: number | null) => ({
    ...{ condition: { kind: 'binary' }, N, secretBits: Math.log2(N), ceilingBits: 1, mutualBits: 0.5 / N },
    ideal: { seeds: 30, reached: 30, median: ideal, interval: [1, 9], mean: ideal },
    tabular: { seeds: 30, reached: table === null ? 3 : 30, median: table, interval: null, mean: null },
  });
  const reference = (rows: object[], tabular: object = {}) =>
    JSON.stringify({
      version: 1,
      tabular: { optimizer: 'sgd', learning_rate: 1, group_size: 4, budget: 80_000, ...tabular },
      rows,
    });
  const compared = () => {
    const runs = [16, 64].flatMap((N) => [0, 1, 2].map((seed) => observedAt('B', N, seed, N / 2 + seed)));
    const sweep = sweepOf('', [...runs, { name: 'ideal', group: 'references', parameters: {}, outcome: done }]);
    writeFileSync(join(sweep, 'ideal', 'reference.json'), reference([row(16, 8, 44), row(64, 32, 176)]));
    return sweep;
  };

  it('shows the episodes until revealed, until memorised, and those of other learners, side by side', async () => {
    const lines = await answerOf(compared(), 190);
    expect(lines.slice(5, 10)).toMatchInlineSnapshot(`
      [
        "condition   N  memorised  stuck  plateau  collapsed  censored  episodes            range  all seeds  bits/episode                 95 %  ceiling  told  took/told  table  ideal  I(R;S|G)",
        "────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────",
        "binary     16        3/3      –        –          –         –     8,000  4,000 to 12,000      8,000      0.000500  [0.000333, 0.00100]        1     9       ×889     44      8    0.0313",
        "binary     64        3/3      –        –          –         –     8,000  4,000 to 12,000      8,000      0.000750  [0.000500, 0.00150]        1    33       ×242    176     32   0.00781",
        "binary: episodes ∝ N^0.00 [-0.79, 0.79] (2 sizes); a table N^1.00, the ideal learner N^1.00",
      ]
    `);
    expect(lines.join(' ')).toContain('told: episodes after which their rewards left only one secret');
    expect(lines.join(' ')).toContain('(sgd 1, groups of 4)');
    expect(lines.join(' ')).toContain('95 %, by bootstrap over base models and the seeds on each');
  });

  it('fits into the width of the page', async () => {
    const sweep = compared();
    for (const width of [40, 80, 120])
      for (const line of await answerOf(sweep, width)) expect(line.length).toBeLessThanOrEqual(width);
  });

  it('prefers reference files beside the runs to those in them, and ignores other files', () => {
    const sweep = compared();
    writeFileSync(join(sweep, 'reference.json'), reference([row(16, 9, null)], { optimizer: 'adam' }));
    writeFileSync(join(sweep, 'B_N16_s0', 'reference.json'), '{"version": 1, "rows": [');
    writeFileSync(join(sweep, 'B_N16_s1', 'reference.json'), '{"version": 7}');
    const study = studyOf(sweep);
    expect(cellsOf(study, 'ideal')).toEqual(['9', '32']);
    expect(cellsOf(study, 'table')).toEqual(['∞', '176']);
    expect(study.tables[0]!.notes[0]).toMatch(/; the ideal learner N\^0\.92$/);
    expect(study.notes.join(' ')).toContain('(adam 1, groups of 4; sgd 1, groups of 4)');
  });

  it('has the same numbers as CSV', async () => {
    const sweep = compared();
    writeStudy(sweep);
    const files = numberFiles(await buildReport(sweep));
    const { text } = files.find(({ name }) => name === 'study-b.csv')!;
    // Cells with a comma are quoted.
    const lines = text.trimEnd().split('\n').map((line) => [...line.matchAll(/"([^"]*)"|[^,]+|(?<=,)(?=,|$)/g)].map(([all, quoted]) => quoted ?? all)); // prettier-ignore
    const [heads, ...rows] = lines as [string[], ...string[][]];
    const column = (title: string) => rows.map((cells) => cells[heads.indexOf(title)]);
    expect(column('told')).toEqual(['9', '33']);
    expect(column('table')).toEqual(['44', '176']);
    expect(column('all seeds')).toEqual(['8000', '8000']);
    expect(Number(column('95 % low')[0])).toBeCloseTo(4 / 12_000, 9);
  });

  it('draws episodes until memorised against episodes until revealed', () => {
    const study = studyOf(compared());
    const told = study.figures.find(({ title }) => title === 'Told against took, B')!;
    // Both sizes at the median of three seeds; with the learners beside them, and the line on which nothing is lost.
    expect(told.series[0]).toMatchObject({ name: 'binary', kind: 'points', x: [9, 33], y: [8000, 8000] });
    expect(told.series.slice(1).map(({ x }) => x)).toEqual([
      [8, 32],
      [44, 176],
      [8, 8000],
    ]);
    const sizes = study.figures.find(({ title }) => title === 'Episodes until memorised, B')!;
    expect(sizes.series[0]).toMatchObject({ x: [16, 64], y: [8000, 8000], lo: [4000, 4000], hi: [12_000, 12_000] });
    expect(sizes.series.slice(2).map(({ kind, y }) => [kind, y])).toEqual([
      ['dashed', [44, 176]],
      ['dashed', [8, 32]],
    ]);
    const alone = studyOf(abcd()).figures.map(({ title }) => title);
    expect(alone).toEqual(['Bits per episode', 'Episodes until memorised, B']);
  });
});
