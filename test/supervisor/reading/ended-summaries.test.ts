import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keptLine, keptValues } from '../../../src/files/kept/kept-lines.js';
import { RunMetrics } from '../../../src/metrics/run-metrics.js';
import { EarlyTerminate, type PlannedRun } from '../../../src/spec/planned-run.js';
import { EndedSummaries } from '../../../src/supervisor/reading/ended-summaries.js';
import { Watcher } from '../../../src/supervisor/runs/watcher.js';
import { removeFolder } from '../../remove-folder.js';
import { plan, waitFor } from '../testbed.js';
import { readerHere } from './reader-here.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'memrl-ended-'))));
afterEach(() => removeFolder(folder));

const fixtures = join(import.meta.dirname, '../../fixtures');
const summaries = () => join(folder, '.supervisor', 'summaries');
const cache = () => join(summaries(), 's.cache');

/** All that is told of runs, as text: a run for each line. */
type Told = Record<string, string>;

function watching(isKept: boolean) {
  const words = new Map<string, string | null>();
  const watcher = new Watcher(
    {
      ...{ now: () => 1_000_000, changed: () => undefined, recalled: () => undefined, ruleMet: () => undefined },
      ...{ targetReached: () => undefined, log: () => undefined },
      hindered: (id, text) => void words.set(id, text),
    },
    readerHere(undefined, isKept ? summaries() : undefined),
  );
  const told = (runs: readonly PlannedRun[]): Told =>
    Object.fromEntries(
      runs.map(({ id, name }) => {
        const vitals = { ...watcher.vitals(id), toBudget: null, used: null, movement: null };
        const all = [
          words.get(id) ?? null,
          watcher.objectiveOf(id),
          watcher.endingOf(id),
          Object.entries(vitals).sort(),
        ];
        return [
          name,
          JSON.stringify(all, (_key, value: unknown) => (typeof value === 'number' ? String(value) : value)),
        ];
      }),
    );
  return { watcher, told };
}

const reading = vi.spyOn(RunMetrics.prototype, 'refresh');
const keeping = vi.spyOn(EndedSummaries.prototype, 'keep');

/** What a supervisor tells of runs that ended before it was there, and how many of them it has read. */
async function recalled(runs: readonly PlannedRun[], isKept = true): Promise<{ told: Told; reads: number }> {
  for (const spy of [reading, keeping]) spy.mockClear();
  const before = keptText();
  const { watcher, told } = watching(isKept);
  watcher.recall(runs);
  await waitFor('all to be read', () => watcher.unread === 0);
  const pathsOf = ({ all }: RunMetrics) => JSON.stringify(all.map(({ found }) => found.paths));
  const reads = new Set((reading.mock.contexts as RunMetrics[]).map(pathsOf)).size;
  if (isKept) await waitFor('what was read to be kept', () => linesSince(before) >= keeping.mock.calls.length);
  await watcher.close();
  return { told: told(runs), reads };
}

function keptText(): string {
  return existsSync(cache()) ? readFileSync(cache(), 'utf8') : '';
}

/** Names of the runs of the lines, in their order. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/"run":"s\/([^"]+)"/g)].map(([, name]) => name!);
}

/** How many lines have come since the file had this text; it may have been shortened first. */
function linesSince(before: string): number {
  const now = keptText();
  const names = namesIn(before);
  return namesIn(now).length - (now.startsWith(before) ? names.length : new Set(names).size);
}

const metricsOf = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const rows = (count: number, of: (step: number) => object) =>
  metricsOf(Array.from({ length: count }, (_, step) => ({ step, ...of(step) })));

/** Programs, by what they have left in their directories. */
function kinds(): Record<string, (directory: string) => void> {
  const copies = (...path: string[]) => {
    const from = join(fixtures, ...path);
    const names = readdirSync(from, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return names.map(({ name }) => [name, (to: string) => cpSync(join(from, name), to, { recursive: true })] as const);
  };
  const printed = readdirSync(join(fixtures, 'printed')).filter((name) => name.endsWith('.log'));
  const databases = [['mlflow-database', 'mlflow.db.gz']] as const;
  return {
    ...Object.fromEntries(copies('metrics')),
    ...Object.fromEntries(copies('found').map(([name, copy]) => [`found-${name}`, copy] as const)),
    ...Object.fromEntries(
      printed.map((name) => [name, (to: string) => cpSync(join(fixtures, 'printed', name), join(to, 'output.log'))]),
    ),
    ...Object.fromEntries(
      databases.map(([place, name]) => [
        place,
        (to: string) => writeFileSync(join(to, 'mlflow.db'), gunzipSync(readFileSync(join(fixtures, place, name)))),
      ]),
    ),
    odd: (to) => {
      const odd = '{"step": 60, "loss": NaN, "acc": Infinity, "worse": -Infinity, "zero": -0.0}\n';
      writeFileSync(join(to, 'metrics.jsonl'), rows(60, (step) => ({ loss: 1 / (1 + step), acc: step })) + odd);
      writeFileSync(join(to, 'hparams.yaml'), 'lr: 0.25\n');
      writeFileSync(join(to, 'system-usage.jsonl'), '{"time": "2026-01-01T00:00:00Z", "system/memory": 12}\n');
    },
    diverged: (to) =>
      writeFileSync(
        join(to, 'metrics.jsonl'),
        rows(200, (step) => ({ loss: 1.2 ** step })),
      ),
    bar: (to) => writeFileSync(join(to, 'output.log'), 'starting\n 40%|####      | 4/10 [00:04<00:06]\n'),
    dvclive: (to) => {
      mkdirSync(join(to, 'dvclive/plots/metrics'), { recursive: true });
      writeFileSync(join(to, 'dvclive/plots/metrics/loss.tsv'), 'step\tloss\n0\t1\n1\t0.5\n');
      writeFileSync(join(to, 'dvclive/metrics.json'), '{"loss": 0.5, "step": 1, "final": 7}');
    },
  };
}

const rule = EarlyTerminate.parse({ type: 'asha', eta: 2, min_iter: 2 });

/** Kinds for each format, of which one is enough in the quick tier. */
const quick =
  /^(torch|wandb-resumed|trackio-wal|sb3|sb3-monitor|lightning|trainer|tqdm|rsl-rl|found-mlruns|odd|diverged|bar|dvclive|keras\.log)$/;

function plannedKinds(wanted: RegExp, earlyTerminate: PlannedRun['earlyTerminate'] = null): PlannedRun[] {
  const all = Object.entries(kinds()).filter(([name]) => wanted.test(name));
  const common = { objective: { name: 'loss', goal: 'minimize' as const }, stopWhen: { when: 'loss < -1', for: 1 } };
  const { runs } = plan(
    folder,
    's',
    all.map(([name]) => ({ name, ...common, earlyTerminate })),
  );
  for (const [index, { directory }] of runs.entries()) {
    mkdirSync(directory, { recursive: true });
    all[index]![1](directory);
  }
  return runs;
}

describe.each([
  { of: 'each format', wanted: quick, tier: {} },
  { of: 'every fixture', wanted: /./, tier: { tags: ['long'] } },
])('what is kept of ended runs, of $of', ({ wanted, tier }) => {
  it('tells the same as reading them, and nothing is read', tier, async () => {
    const runs = plannedKinds(wanted, rule);
    const read = await recalled(runs, false);
    const first = await recalled(runs);
    const kept = await recalled(runs);
    expect([read.reads, first.reads, kept.reads]).toEqual([runs.length, runs.length, 0]);
    expect(first.told).toEqual(read.told);
    expect(kept.told).toEqual(read.told);
    const isSilent = (text: string) => text.includes('["metrics",{}]');
    expect(Object.keys(read.told).filter((name) => isSilent(read.told[name]!))).toEqual(['bar']);
  });

  it('is the same where the runs ended while a supervisor followed them', tier, async () => {
    const runs = plannedKinds(wanted);
    keeping.mockClear();
    const { watcher } = watching(true);
    for (const run of runs) watcher.watch(run, 1, 1_000_000);
    for (const run of runs) watcher.finish(run);
    await waitFor('all to be read', () => watcher.unread === 0);
    await waitFor('what was read to be kept', () => linesSince('') >= keeping.mock.calls.length);
    await watcher.close();
    const names = namesIn(keptText());
    const read = await recalled(runs, false);
    const kept = await recalled(runs.filter(({ name }) => names.includes(name)));
    expect(kept.reads).toBe(0);
    expect(kept.told).toEqual(Object.fromEntries(Object.entries(read.told).filter(([name]) => names.includes(name))));
    // Of folders with several runs the names of curves change as they are read, and rows are judged again.
    const others = runs.filter(({ name }) => !names.includes(name) && !name.startsWith('found-'));
    expect(others.map(({ name }) => name)).toEqual([]);
  });
});

/** Two runs with some rows each. */
function two(text = (acc: number) => rows(50, (step) => ({ acc: acc + step, loss: 1 / (1 + step) }))): PlannedRun[] {
  const { runs } = plan(folder, 's', [{ name: 'a' }, { name: 'b' }]);
  for (const [index, { directory }] of runs.entries()) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'metrics.jsonl'), text(100 * index));
  }
  return runs;
}

const file = (run: PlannedRun, name = 'metrics.jsonl') => join(run.directory, name);

describe('a run of which something is kept', () => {
  it.each<{ change: string; make: (run: PlannedRun) => void; told: string }>([
    {
      change: 'has grown',
      make: (run) => appendFileSync(file(run), '{"step": 50, "acc": 777}\n'),
      told: '"acc":"777"',
    },
    {
      change: 'was rewritten with the same size and date',
      make: (run) => {
        const { atime, mtime, size } = statSync(file(run));
        writeFileSync(file(run), readFileSync(file(run), 'utf8').replace('"acc":49', '"acc":94'));
        utimesSync(file(run), atime, mtime);
        expect(statSync(file(run))).toMatchObject({ size, mtime });
      },
      told: '"acc":"94"',
    },
    {
      change: 'has another file',
      make: (run) => writeFileSync(file(run, 'progress.csv'), 'step,reward\n1,5\n2,6\n'),
      told: '"reward":"6"',
    },
  ])('is read anew where it $change', async ({ make, told }) => {
    const runs = two();
    await recalled(runs);
    make(runs[0]!);
    const again = await recalled(runs);
    expect(again.reads).toBe(1);
    expect(again.told['a']).toContain(told);
    expect(again.told).toEqual((await recalled(runs, false)).told);
    expect((await recalled(runs)).reads).toBe(0);
  });

  it('is read anew where its sweep asks for something else', async () => {
    const runs = two();
    await recalled(runs);
    const other = runs.map((run) => ({ ...run, objective: { name: 'acc', goal: 'maximize' as const } }));
    const again = await recalled(other);
    expect(again).toEqual({ reads: 2, told: (await recalled(other, false)).told });
  });

  it('is not read where only its other files have changed', async () => {
    const runs = two();
    const { told } = await recalled(runs);
    for (const run of runs) writeFileSync(file(run, 'run.json.tmp'), '{}');
    expect(await recalled(runs)).toEqual({ reads: 0, told });
    expect(await recalled(runs)).toEqual({ reads: 0, told });
  });

  it('is told with what else its files say now', async () => {
    const runs = two();
    await recalled(runs);
    writeFileSync(file(runs[0]!, 'hparams.yaml'), 'lr: 0.5\n');
    writeFileSync(file(runs[0]!, 'system-usage.jsonl'), '{"time": "2026-01-01T00:00:00Z", "system/memory": 31}\n');
    const { reads, told } = await recalled(runs);
    expect(reads).toBe(0);
    expect(told).toEqual((await recalled(runs, false)).told);
    expect(told['a']).toMatch(/"lr":"0.5".*"system\/memory":"31"/);
  });

  it('is not kept while its last row has no end', async () => {
    const runs = two();
    appendFileSync(file(runs[0]!), '{"step": 50, "acc": 9');
    const { watcher } = watching(true);
    watcher.recall(runs);
    await waitFor('the whole one to be kept', () => keptText() !== '');
    await watcher.close();
    expect(new Set(namesIn(keptText()))).toEqual(new Set(['b']));
  });

  it('costs a line at the end of a file, which is shortened when most of it is old', async () => {
    const runs = two();
    await recalled(runs);
    const before = keptText();
    const grow = (step: number) => appendFileSync(file(runs[0]!), `{"step": ${step}, "acc": 1}\n`);
    grow(50);
    await recalled(runs);
    expect(keptText().startsWith(before)).toBe(true);
    expect(statSync(summaries()).mode & 0o77).toBe(0);
    for (let copies = 0; copies < 3; copies++) appendFileSync(cache(), keptText());
    grow(51);
    await recalled(runs);
    expect(namesIn(keptText()).length).toBeLessThan(6);
    expect((await recalled(runs)).reads).toBe(0);
  });
});

describe('the file of summaries', () => {
  it('may be damaged anywhere: the same is told', async () => {
    const runs = two();
    const { told } = await recalled(runs);
    const text = readFileSync(cache());
    const damaged = [
      ...Array.from({ length: 20 }, (_, part) => {
        const bytes = Buffer.from(text);
        bytes[Math.floor((part / 20) * text.length)]! ^= 1 + part;
        return bytes;
      }),
      ...[0, 5, 300, text.length - 2].map((end) => text.subarray(0, end)),
      Buffer.from('garbage\n\n[]\n00000000 \n'),
    ];
    for (const bytes of damaged) {
      writeFileSync(cache(), bytes);
      const { watcher, told: toldOf } = watching(true);
      watcher.recall(runs);
      await waitFor('all to be read', () => watcher.unread === 0);
      await watcher.close();
      expect(toldOf(runs)).toEqual(told);
    }
  });

  it.each<{ what: string; forge: (summary: Record<string, unknown>) => unknown }>([
    { what: 'nothing', forge: () => null },
    { what: 'a list', forge: () => [] },
    { what: 'texts for numbers', forge: (summary) => ({ ...summary, vitals: { metrics: { acc: '9' } } }) },
    { what: 'an ending without its metric', forge: (summary) => ({ ...summary, ending: { last: 1 } }) },
    { what: 'rungs that are no list', forge: (summary) => ({ ...summary, passed: 7 }) },
  ])('is not believed where it has $what', async ({ forge }) => {
    const runs = two();
    const { told } = await recalled(runs);
    const forged = (keptValues(cache()) as { summary: Record<string, unknown> }[]).map((entry) =>
      keptLine({ ...entry, summary: forge(entry.summary) }),
    );
    writeFileSync(cache(), forged.join(''));
    const again = await recalled(runs);
    expect(again).toEqual({ reads: 2, told });
  });

  it('is replaced where something else is in its place', async () => {
    const runs = two();
    mkdirSync(summaries(), { recursive: true });
    const other = join(folder, 'other.txt');
    writeFileSync(other, 'mine');
    symlinkSync(other, cache());
    const { told } = await recalled(runs);
    expect(readFileSync(other, 'utf8')).toBe('mine');
    expect(await recalled(runs)).toEqual({ reads: 0, told });
  });

  it('goes with its sweep', async () => {
    mkdirSync(summaries(), { recursive: true });
    writeFileSync(join(summaries(), 'gone.cache'), '');
    await recalled(two());
    expect(readdirSync(summaries())).toEqual(['s.cache']);
  });
});
