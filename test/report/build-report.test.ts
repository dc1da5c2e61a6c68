import { execSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/base/outcome.js';
import { UserError } from '../../src/base/user-error.js';
import { runFiles } from '../../src/contract/files.js';
import { writeRunRecord } from '../../src/files/run-record-file.js';
import type { RunValue } from '../../src/analysis/run-value.js';
import { buildReport } from '../../src/report/build-report.js';
import type { Spread } from '../../src/report/spread.js';
import { numberFiles } from '../../src/report/numbers-csv.js';
import { memoryFigures } from '../../src/report/page/memory-figures.js';
import { reportLines } from '../../src/report/report-lines.js';
import { reportReplacer } from '../../src/report/report.js';
import { removeFolder } from '../remove-folder.js';

const root = mkdtempSync(join(tmpdir(), 'report-'));
afterAll(() => removeFolder(root));
let sweeps = 0;

type Facts = {
  name: string;
  group: string;
  parameters: Record<string, string | number | null>;
  /** Bits known at each evaluation, one every 100 steps. */
  bits?: number[];
  /** A text is a line as it stands: JSON.stringify knows no NaN. */
  rows?: (object | string)[];
  greedy?: [answer: number, probability: number];
  outcome?: Outcome | null;
  exit?: string;
};

function sweepOf(text: string, runs: Facts[]): string {
  const sweep = join(root, `sweep-${sweeps++}`);
  mkdirSync(sweep);
  writeFileSync(join(sweep, 'sweep.yaml'), text);
  for (const run of runs) writeRun(sweep, run);
  return sweep;
}

function writeRun(sweep: string, { name, group, parameters, bits, rows, greedy, outcome, exit }: Facts): void {
  const directory = join(sweep, name);
  const started = { number: 1, slot: 'cpu 0', startedAt: 0, endedAt: 1, outcome: outcome ?? null };
  writeRunRecord(directory, {
    version: 1,
    sweep: 'abcd',
    group,
    subgroup: null,
    name,
    identity: name,
    parameters,
    argv: ['true'],
    cwd: '/',
    host: 'here',
    git: null,
    attempts: outcome === undefined && exit === undefined ? [] : [started],
  });
  if (exit !== undefined) {
    mkdirSync(join(directory, 'attempts', '1'), { recursive: true });
    writeFileSync(join(directory, 'attempts', '1', 'exit'), exit);
  }
  if (rows !== undefined) writeRows(directory, rows);
  if (bits === undefined) return;
  writeRows(directory, evaluations(bits, greedy));
  writeFileSync(join(directory, 'config.json'), JSON.stringify({ batch_size: 1, group_size: 4, ...parameters }));
}

function writeRows(directory: string, rows: (object | string)[]): void {
  const lines = rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`);
  writeFileSync(join(directory, 'metrics.jsonl'), lines.join(''));
}

function evaluations(bits: number[], greedy: Facts['greedy']): object[] {
  return bits.map((each, index) => ({
    step: index * 100,
    'progress/episodes': index * 400,
    'test/bits/answer_raw': each,
    'test/greedy': greedy?.[0] ?? null,
    'test/greedy_prob': greedy?.[1] ?? 0.1,
  }));
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

describe('the report of a sweep', () => {
  it('shows what every condition came to', async () => {
    expect(reportLines(await buildReport(abcd()), { width: 140, ascii: false }).slice(1)).toMatchInlineSnapshot(`
      [
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
        "",
        "memorised: from that evaluation on, every one knew at least 95 % of the secret's log2 N bits.",
        "stuck: ended confident (P > 0.9) of a wrong answer.",
        "episodes, examples: the median over the seeds that memorised; all seeds: those that did not count as infinite.",
        "bits/…: log2 N over the median of all seeds; in brackets 95 %, by bootstrap over base models and the seeds on each.",
        "ceiling: the most bits one episode can carry: log2 of the number of rewards that can be told apart.",
        "* N=1024 B=4: 5 neighbouring integers earn the top reward, so 7.68 of 10 bits are all that the reward asks for.",
        "Some numbers are coarse: there were up to 400 episodes between evaluations.",
      ]
    `);
  });

  it('fits narrow pages and plain terminals', async () => {
    const report = await buildReport(abcd());
    for (const width of [40, 60, 80, 120]) {
      for (const line of reportLines(report, { width, ascii: true, tests: { against: null } })) {
        expect(line.length).toBeLessThanOrEqual(width);
        expect(line).toMatch(/^[\x20-\x7e]*$/);
      }
    }
  });

  it('has the same facts as JSON', async () => {
    const json = JSON.parse(JSON.stringify(await buildReport(abcd()), reportReplacer)) as {
      sections: { group: string; rows: { medianOfAll: unknown }[] }[];
    };
    expect(json.sections.map(({ group, rows }) => [group, rows.map(({ medianOfAll }) => medianOfAll)])).toEqual([
      ['A', [4400, 'infinite']],
      ['B', [1600, 3200, 6400]],
      ['D', [null]],
    ]);
  });

  it.each<{ what: string; outcome?: Outcome | null; exit?: string; state: string }>([
    { what: 'not started', state: 'queued' },
    { what: 'started, and its end not recorded', outcome: null, state: 'running' },
    { what: 'ended well, and the supervisor was not there', outcome: null, exit: '0\n', state: 'done' },
    { what: 'ended badly, and the supervisor was not there', outcome: null, exit: '1\n', state: 'failed' },
    { what: 'ended by a signal', outcome: { kind: 'signal', signal: 'SIGSEGV' }, state: 'failed' },
    { what: 'killed', outcome: { kind: 'killed' }, state: 'killed' },
  ])('knows a run that is $what', async ({ outcome, exit, state }) => {
    const facts = { ...(outcome !== undefined && { outcome }), ...(exit !== undefined && { exit }) };
    expect((await buildReport(sweepOf('', [{ name: 'a', group: 'g', parameters: {}, ...facts }]))).counts).toEqual({
      [state]: 1,
    });
  });

  it('sums up any other program by the metrics the sweep shows', async () => {
    const sweep = sweepOf('metrics: {show: [eval/acc]}\n', [
      ...[0.1, 0.2].flatMap((lr) =>
        [0, 1].map((seed) => ({
          name: `lr${lr}_s${seed}`,
          group: 'main',
          parameters: { lr, seed },
          rows: [
            { step: 0, 'eval/acc': 0 },
            { step: 1, 'eval/acc': lr + seed / 100 },
          ],
          outcome: done,
        })),
      ),
      { name: 'lr0.3_s0', group: 'main', parameters: { lr: 0.3, seed: 0 } },
    ]);
    expect(reportLines(await buildReport(sweep), { width: 80, ascii: false }).slice(1)).toEqual([
      '',
      'main',
      'lr=0.2 is best: eval/acc 0.205 over 2 runs, told apart from all others; next is',
      '  lr=0.1 (0.105 over 2 runs).',
      'So far: 1 run has not ended.',
      'setting  n  states          eval/acc ↑',
      '──────────────────────────────────────',
      'lr=0.2   2  2 done    ● 0.205 ± 0.0071',
      'lr=0.1   2  2 done      0.105 ± 0.0071',
      'lr=0.3   1  1 queued                 –',
      '',
      'Metrics: last values; mean ± standard deviation over the seeds.',
      '●: the best of its column; ↑ ↓ which way is better.',
    ]);
  });

  it.each<{ value: RunValue; spread?: Spread; cells: string[]; note?: string }>([
    { value: { kind: 'last' }, cells: ['2 ± 1.4 · 1 NaN', '1 inf'] },
    { value: { kind: 'min' }, cells: ['● 1.33 ± 0.58', '2'], note: 'lowest values; mean ± standard deviation' },
    { value: { kind: 'at', x: 2 }, spread: 'range', cells: ['2 [1, 3] · 1 NaN', '1 inf'] },
    { value: { kind: 'mean', of: 2 }, spread: 'median', cells: ['1.75 [1.38, 2.13] · 1 NaN', '1 inf'] },
  ])('says $value.kind of each run, and $spread of the seeds', async ({ value, spread, cells, note }) => {
    const curves = [
      [2, 1, 1],
      [1, 2, 3],
      [3, 2, 'NaN'],
    ];
    const runs = [
      ...curves.map((curve, seed) => ({ lr: 0.1, seed, curve })),
      { lr: 0.2, seed: 0, curve: [4, 2, 'Infinity'] },
    ].map(({ lr, seed, curve }) => ({
      ...{ name: `lr${lr}_s${seed}`, group: 'main', parameters: { lr, seed }, outcome: done },
      rows: curve.map((loss, step) => `{"step": ${step}, "loss": ${loss}}`),
    }));
    const report = await buildReport(sweepOf('', runs), { value });
    const lines = reportLines(report, { width: 100, ascii: false, ...(spread === undefined ? {} : { spread }) });
    const rule = lines.findIndex((line) => line.startsWith('──'));
    expect(lines.slice(rule + 1, rule + 3).map((line) => line.replace(/^.*(done|NaN|diverged)  +/, ''))).toEqual(cells);
    expect(lines.slice(rule + 3).join(' ')).toContain(note ?? '');
  });

  it('says which runs ended, but not well: of each setting, of all, and why', async () => {
    const curves: [number, (number | string)[], Outcome][] = [
      [0.1, [3, 2, 1], done],
      [1, [3, 4e8, 1.8e20], done],
      [2, [3, 2, 'NaN'], done],
      [3, [3, 2, '-Infinity'], { kind: 'killed' }],
      [4, [3, 4e8, 1.8e20], { kind: 'failed', code: 1 }],
    ];
    const runs = curves.map(([lr, curve, outcome]) => ({
      ...{ name: `lr${lr}`, group: 'main', parameters: { lr, seed: 0 }, outcome },
      rows: curve.map((loss, step) => `{"step": ${step}, "loss": ${loss}}`),
    }));
    const report = await buildReport(sweepOf('metric: {name: loss}', runs));
    expect(report.marks.map(({ run, word }) => [run, word])).toEqual([
      ['lr1', 'diverged'],
      ['lr2', 'nan'],
      ['lr3', 'diverged'],
    ]);
    const text = reportLines(report, { width: 100, ascii: false }).join('\n');
    expect(text).toMatch(/ · 3 done · 1 failed · 1 killed · 2 diverged · 1 NaN\n/);
    expect(text).toMatch(/lr=1 +1 +1 done, 1 diverged/);
    expect(text).toContain('\nlr1 diverged: loss 1.80e20, at its best 3\n');
    expect(text).toContain('\nlr3 diverged: loss is infinite');
  });

  it('reads on where a file is torn or missing', async () => {
    const sweep = sweepOf('groups: [this is, no: map\n', [
      { name: 'a', group: 'g', parameters: { ...single, N: 16, fixed_secret: 3 }, outcome: done },
    ]);
    mkdirSync(join(sweep, 'foreign'));
    writeFileSync(join(sweep, 'a', 'config.json'), '{"N": 1');
    writeFileSync(join(sweep, 'a', 'metrics.jsonl'), '{"step": 0, "test/bits/answer_raw": 0}\n{"st');
    const [section] = (await buildReport(sweep)).sections;
    expect(section).toMatchObject({ kind: 'memory', rows: [{ seeds: 1, counts: { censored: 1 } }] });
  });

  it('says what is wrong when there is nothing to report', async () => {
    await expect(buildReport(join(root, 'absent'))).rejects.toThrow(UserError);
    await expect(buildReport(sweepOf('', []))).rejects.toThrow('holds no runs');
  });
});

describe('a memory sweep that is compared with other learners', () => {
  const observedAt = (name: string, N: number, seed: number, determined: number | null): Facts => {
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

  it('shows what was told, what it took, and what others need, side by side', async () => {
    const lines = reportLines(await buildReport(compared()), { width: 190, ascii: false });
    expect(lines.slice(3, 8)).toMatchInlineSnapshot(`
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
    expect(lines.join(' ')).toContain('95 %, by bootstrap over the seeds within each N');
  });

  it('keeps within the page with all of it', async () => {
    const report = await buildReport(compared());
    for (const width of [40, 80, 120]) {
      for (const line of reportLines(report, { width, ascii: true })) expect(line.length).toBeLessThanOrEqual(width);
    }
  });

  it('takes what lies beside the runs before what is in them, and passes over what is no such file', async () => {
    const sweep = compared();
    writeFileSync(join(sweep, 'reference.json'), reference([row(16, 9, null)], { optimizer: 'adam' }));
    writeFileSync(join(sweep, 'B_N16_s0', 'reference.json'), '{"version": 1, "rows": [');
    writeFileSync(join(sweep, 'B_N16_s1', 'reference.json'), '{"version": 7}');
    const { sections, tables } = await buildReport(sweep);
    expect(sections[0]).toMatchObject({
      rows: [{ compared: { ideal: 9, table: Infinity } }, { compared: { ideal: 32, table: 176 } }],
      scalings: [{ idealSlope: expect.closeTo(Math.log(32 / 9) / Math.log(4)) as number, tableSlope: null }],
    });
    expect(tables).toEqual(['adam 1, groups of 4', 'sgd 1, groups of 4']);
  });

  it('has the same numbers as CSV', async () => {
    const files = numberFiles(await buildReport(compared()));
    expect(files.map(({ name }) => name)).toEqual(['b-memory.csv', 'b-exponents.csv']);
    const cells = files.map(({ text }) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => line.split(',')),
    );
    const column = (file: number, title: string) =>
      cells[file]!.slice(1).map((line) => line[cells[file]![0]!.indexOf(title)]);
    expect(column(0, 'told_median')).toEqual(['9', '33']);
    expect(column(0, 'table_median')).toEqual(['44', '176']);
    expect(column(0, 'episodes_all_median')).toEqual(['8000', '8000']);
    expect(column(1, 'table_exponent')).toEqual(['1']);
    expect(column(1, 'exponent_low95')[0]).toMatch(/^-\d/);
  });

  it('draws what was told and what it took', async () => {
    const [section] = (await buildReport(compared())).sections;
    const figure = memoryFigures(section!).find(({ title }) => title === 'Told against took')!;
    expect(figure.note).toContain('Open: the rewards of the same episodes left only one secret.');
    expect(figure.svg).toContain('binary N=64');
    expect(memoryFigures(section!)[0]!.note).toContain('Dotted: a table of independent logits');
    expect(memoryFigures((await buildReport(abcd())).sections[0]!).map(({ title }) => title)).not.toContain(
      figure.title,
    );
  });
});

describe('runs that have written nothing', () => {
  it('are counted where they are known, each once', async () => {
    const sweep = sweepOf('', [{ name: 'a1', group: 'a', parameters: { n: 1 }, rows: [{ step: 1, loss: 1 }] }]);
    const known = (['a1', 'a2'] as const).map((name, index) => ({
      ...{ name, group: 'a', directory: join(sweep, name), parameters: { n: index + 1 }, config: {} },
      state: 'held' as const,
    }));
    const { counts, sections } = await buildReport(sweep, { known });
    // The supervisor knows better than the files.
    expect(counts).toEqual({ held: 2 });
    expect(sections).toMatchObject([{ rows: [{ states: { held: 1 } }, { states: { held: 1 } }] }]);
  });
});

describe('the order of a report', () => {
  it('is that of the numbers in the names, decimals and exponents too', async () => {
    const rates = [10, 9, 0.3, 0.25, 0.1, 1e-7];
    const runs = rates.map((lr) => ({
      name: `lr${lr}`,
      group: 'a',
      parameters: { lr },
      rows: [{ step: 1, loss: lr }],
    }));
    const { sections } = await buildReport(sweepOf('', runs));
    const rows = sections.flatMap((section) => (section.kind === 'metrics' ? section.rows : []));
    expect(rows.map(({ varies }) => varies['lr'])).toEqual([1e-7, 0.1, 0.25, 0.3, 9, 10]);
  });
});

describe('a run whose files are no files', () => {
  const files = ['metrics.jsonl', 'config.json', 'run.json', 'attempts/1/exit'];
  const ways = ['mkfifo', 'mkdir', 'ln -s x', 'ln -s /dev/zero'];

  it.each(files.flatMap((file) => ways.map((way) => ({ file, way }))))(
    'is left out or told as far as it goes: $way $file',
    async ({ file, way }) => {
      const facts = { group: 'g', parameters: { lr: 1 }, exit: '0\n', rows: [{ step: 1, loss: 3 }] };
      const sweep = sweepOf('metrics: {show: [loss]}', [
        { ...facts, name: 'odd' },
        { ...facts, name: 'well', parameters: { lr: 2 } },
      ]);
      const path = join(sweep, 'odd', file);
      rmSync(path, { force: true });
      execSync(`${way.replace(/ x$/, ` ${path}`)} ${path}`);
      const { sections } = await buildReport(sweep);
      expect(JSON.stringify(sections)).toContain('"loss":{"mean":3');
    },
  );
});

it('says how many hours GPUs were idle under runs', async () => {
  const sweep = sweepOf('name: abcd\n', [{ name: 'a', group: 'main', parameters: {}, outcome: { kind: 'done' } }]);
  const sample = (hour: number, percent: number) =>
    `{"time":"2026-01-01T0${hour}:00:00.000Z","system/gpu_percent":${percent}}\n`;
  writeFileSync(
    join(sweep, 'a', runFiles.usage),
    [90, 90, 1, 0, 80].map((value, hour) => sample(hour, value)).join(''),
  );
  const report = await buildReport(sweep);
  expect(report.gpuHours).toEqual({ seen: 4, idle: 2 });
  expect(reportLines(report, { width: 100, ascii: false })).toContain(
    'GPU hours of runs: 4.0, idle 2.0 (50 %, below 3 % utilization)',
  );
});
