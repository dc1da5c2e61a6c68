import { execSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/base/outcome.js';
import { UserError } from '../../src/base/user-error.js';
import { runFiles } from '../../src/contract/files.js';
import { writeRunRecord } from '../../src/files/run-directory/run-record-file.js';
import type { RunValue } from '../../src/analysis/run-value.js';
import { buildReport } from '../../src/report/build-report.js';
import type { Spread } from '../../src/report/spread.js';
import { reportLines } from '../../src/report/report-lines.js';
import { removeFolder } from '../remove-folder.js';

const root = mkdtempSync(join(tmpdir(), 'report-'));
afterAll(() => removeFolder(root));
let sweeps = 0;

type Facts = {
  name: string;
  group: string;
  parameters: Record<string, string | number | null>;
  /** A text is a line as it stands: JSON.stringify knows no NaN. */
  rows?: (object | string)[];
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

function writeRun(sweep: string, { name, group, parameters, rows, outcome, exit }: Facts): void {
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
  const lines = (rows ?? []).map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`);
  if (rows !== undefined) writeFileSync(join(directory, 'metrics.jsonl'), lines.join(''));
}

const done: Outcome = { kind: 'done' };
describe('the report of a sweep', () => {
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
      { name: 'a', group: 'g', parameters: { lr: 1 }, rows: ['{"step": 0, "loss": 3}', '{"st'], outcome: done },
    ]);
    mkdirSync(join(sweep, 'foreign'));
    writeFileSync(join(sweep, 'a', 'config.json'), '{"N": 1');
    expect((await buildReport(sweep)).sections).toMatchObject([{ keys: ['loss'], rows: [{ states: { done: 1 } }] }]);
  });

  it('fits narrow pages and plain terminals', async () => {
    const rows = (seed: number) => [{ step: 1, 'eval/accuracy': seed / 7, 'train/loss': 1 / (seed + 1), note: 1 }];
    const runs = [0.1, 0.2].flatMap((rate) =>
      [0, 1, 2].map((seed) => ({
        ...{ name: `r${rate}_s${seed}`, group: 'main', parameters: { rate, seed }, rows: rows(seed), outcome: done },
      })),
    );
    const report = await buildReport(sweepOf('groups:\n  main: {title: Déjà vu — of rates}\n', runs));
    for (const width of [40, 60, 80, 120]) {
      for (const line of reportLines(report, { width, ascii: true, tests: { against: null } })) {
        expect(line.length).toBeLessThanOrEqual(width);
        expect(line).toMatch(/^[\x20-\x7e]*$/);
      }
    }
  });

  it('says what is wrong when there is nothing to report', async () => {
    await expect(buildReport(join(root, 'absent'))).rejects.toThrow(UserError);
    await expect(buildReport(sweepOf('', []))).rejects.toThrow('holds no runs');
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
    const rows = sections.flatMap((section) => section.rows);
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
