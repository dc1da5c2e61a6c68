import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readStudy } from '../../../src/contract/study.js';
import { buildReport } from '../../../src/report/build-report.js';
import { reportLines } from '../../../src/report/report-lines.js';
import { memrl } from '../program.js';
import { tempDirectory } from '../temp-directory.js';
import { reportBefore, storedSweep } from './stored-sweep.js';

const marks = ['MEMRL_RUN_DIR', 'MEMRL_RUN'] as const;
afterEach(() => marks.forEach((name) => delete process.env[name]));

async function reportOf(sweep: string): Promise<string> {
  return `${reportLines(await buildReport(sweep), { width: Infinity, ascii: false }).join('\n')}\n`;
}

function studyIn(sweep: string) {
  return readStudy(readFileSync(join(sweep, 'study.json'), 'utf8'))!;
}

/** The cells of a table by the title of their column. */
function rowsOf({ columns, rows }: ReturnType<typeof studyIn>['tables'][number]) {
  return rows.map(({ cells }) => Object.fromEntries(columns.map(({ title }, at) => [title, cells[at]])));
}

describe('memrl study', () => {
  it('gives the stored tables, byte for byte', async () => {
    const sweep = storedSweep(tempDirectory());
    const { code, stdout } = await memrl(['study', sweep]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `written: ${join(sweep, 'study.json')}\n` });
    const report = await reportOf(sweep);
    const [tables, notes] = reportBefore.split(/\n(?=memorised: )/) as [string, string];
    expect(report).toContain(`\n${tables}\n`);
    expect(report).toContain(`\n${notes}`);
    expect(studyIn(sweep).warnings).toEqual([]);
  });

  it('gives the same output from its cache, and new values when metrics have changed', async () => {
    const sweep = storedSweep(tempDirectory(), (name) => name.startsWith('D_') || name.startsWith('C_'));
    await memrl(['study', sweep]);
    const first = readFileSync(join(sweep, 'study.json'), 'utf8');
    await memrl(['study', sweep]);
    expect(readFileSync(join(sweep, 'study.json'), 'utf8')).toBe(first);
    const run = readdirSync(sweep).find((name) => name.startsWith('D_'))!;
    const rows = readFileSync(join(sweep, run, 'metrics.jsonl'), 'utf8').split('\n');
    writeFileSync(join(sweep, run, 'metrics.jsonl'), `${rows[0]}\n`);
    await memrl(['study', sweep]);
    expect(rowsOf(studyIn(sweep).tables.at(-1)!)[0]!['memorised']).toMatchObject({ value: 2, text: '2/3' });
    writeFileSync(join(sweep, 'study.cache'), '{"version":1,"val');
    writeFileSync(join(sweep, run, 'metrics.jsonl'), rows.join('\n'));
    await memrl(['study', sweep]);
    expect(readFileSync(join(sweep, 'study.json'), 'utf8')).toBe(first);
  });

  it('stores numbers beside their texts, for --json and for tables', async () => {
    const sweep = storedSweep(tempDirectory(), (name) => name.startsWith('A_'));
    await memrl(['study', sweep]);
    const [binary, four] = rowsOf(studyIn(sweep).tables[0]!);
    expect(binary!['bits/episode']).toMatchObject({ value: 10 / 10_800, text: '0.000926' });
    expect(binary!['took/told']).toMatchObject({ text: '×20.5' });
    // An infinite median is no number of JSON.
    expect(four!['all seeds']).toEqual({ value: null, interval: null, n: null, text: '> 80,000' });
  });

  it('reports with its tests how many warm-ups are uniform enough', async () => {
    const sweep = storedSweep(tempDirectory(), (name) => /^(A_|warmup_single)/.test(name));
    const record = readFileSync(join(sweep, 'warmup_single', 'run.json'), 'utf8');
    mkdirSync(join(sweep, 'refused'));
    const failed = record
      .replace('"name":"warmup_single"', '"name":"refused"')
      .replace('"kind":"done"', '"kind":"failed"');
    writeFileSync(join(sweep, 'refused', 'run.json'), failed);
    const { stdout } = await memrl(['study', sweep, '--tests']);
    expect(stdout).toContain('warm-ups: 1 of 2 gave answers uniform enough');
  });

  it('refuses a folder without runs, and writes nothing for runs that learn no secret', async () => {
    const root = tempDirectory();
    const { code, stderr } = await memrl(['study', root]);
    expect(code).toBe(2);
    expect(stderr).toContain('has no runs of a sweep');
    const sweep = storedSweep(root, (name) => name.startsWith('warmup'));
    expect((await memrl(['study', sweep])).stdout).toBe(`there is nothing to study in the runs of ${sweep}\n`);
    expect(readdirSync(sweep)).not.toContain('study.json');
  });
});

describe('a run of a sweep', () => {
  /** Trains one of the runs anew, as its manager would start it. */
  async function train(sweep: string, name: string, ...more: string[]) {
    const run = join(sweep, name);
    for (const file of ['config.json', 'metrics.jsonl']) rmSync(join(run, file));
    const record = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as { attempts: { outcome: unknown }[] };
    record.attempts.forEach((attempt) => (attempt.outcome = null));
    writeFileSync(join(run, 'run.json'), JSON.stringify(record));
    process.env['MEMRL_RUN_DIR'] = run;
    return memrl(['train', `log_path=${run}`, 'N=16', 'n_batches=2', 'batch_size=1', 'group_size=2', ...more]);
  }

  it('writes the study at its end, with its own final state', async () => {
    const sweep = storedSweep(tempDirectory(), (name) => name.startsWith('B_'));
    const { code } = await train(
      sweep,
      'B_nsweep_single_B8_N16_s0',
      'reward_type=binned_log_distance',
      'reward_bins=8',
    );
    expect(code).toBe(0);
    const [sixteen] = rowsOf(studyIn(sweep).tables[0]!);
    expect(sixteen).toMatchObject({ memorised: { text: '2/3' }, plateau: { value: 1 } });
    expect(sixteen).not.toHaveProperty('other');
  });

  it('writes the study after a failure, too', async () => {
    const sweep = storedSweep(tempDirectory(), (name) => name.startsWith('B_'));
    const { code } = await train(
      sweep,
      'B_nsweep_single_B8_N16_s0',
      'reward_type=binned_log_distance',
      'reward_bins=no',
    );
    expect(code).toBe(2);
    expect(rowsOf(studyIn(sweep).tables[0]!)[0]).toMatchObject({ memorised: { text: '2/3' }, other: '1 unmeasured' });
  });

  it('does not fail when the study cannot be written', async () => {
    const sweep = storedSweep(tempDirectory(), (name) => name.startsWith('B_'));
    mkdirSync(join(sweep, 'study.json'));
    const { code, stdout } = await train(sweep, 'B_nsweep_single_B8_N16_s0');
    expect(code).toBe(0);
    expect(stdout).toContain('warning: the study of the sweep was not written');
  });
});
