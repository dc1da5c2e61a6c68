import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { property } from '../tiers.js';
import { event } from '../../bench/support/event-file.js';
import { WandbFileBytes } from '../../bench/support/wandb-file.js';
import { describeSources, reportLines } from '../../src/metrics/describe-sources.js';
import { openMetrics } from '../../src/metrics/run-metrics.js';
import { removeFolder } from '../remove-folder.js';
import { sqliteBytes } from './sqlite-bytes.js';

const root = mkdtempSync(join(tmpdir(), 'row-model-'));
afterAll(() => removeFolder(root));
let runs = 0;

/** A row as a program writes it: several loggers write rows of their own metrics into one file. */
type Row = { readonly step: number; readonly metric: string; readonly value: number };

/** Files of a run, by path. */
type Files = Readonly<Record<string, string | Buffer>>;

/** How a format writes rows, each of which has one metric. `refusesLate`: only another file of the run begins at an earlier step. */
const formats: readonly { name: string; refusesLate?: true; files: (rows: readonly Row[]) => Files }[] = [
  { name: 'our own lines', files: (rows) => ({ 'metrics.jsonl': rows.map(json).join('') }) },
  { name: 'JSON lines of any name', files: (rows) => ({ 'scalars.json': rows.map(json).join('') }) },
  { name: 'a table', files: (rows) => ({ 'log.csv': `Step,${metrics.join(',')}\n${rows.map(cells).join('')}` }) },
  { name: 'printed lines', files: (rows) => ({ 'output.log': rows.map(printed).join('') }) },
  { name: 'printed dicts', files: (rows) => ({ 'output.log': rows.map(dict).join('') }) },
  { name: 'TensorBoard', files: (rows) => ({ 'events.out.tfevents.1': Buffer.concat(rows.map(asEvent)) }) },
  { name: 'W&B', refusesLate: true, files: asWandb },
  { name: 'MLflow', files: asMlflow },
  { name: 'trackio, in SQLite', files: (rows) => ({ 'project.db': asTrackio(rows) }) },
  { name: 'a Trainer', files: (rows) => ({ 'trainer_state.json': JSON.stringify({ log_history: rows.map(asRow) }) }) },
];
const takingLate = formats.filter(({ refusesLate }) => refusesLate !== true);
const metrics = ['loss', 'reward', 'acc'];
const asRow = ({ step, metric, value }: Row) => ({ step, [metric]: value });
const json = (row: Row) => `${JSON.stringify(asRow(row))}\n`;
const cells = ({ step, metric, value }: Row) =>
  `${[step, ...metrics.map((name) => (name === metric ? value : ''))].join(',')}\n`;
const printed = ({ step, metric, value }: Row) => `step=${step} ${metric}=${value.toFixed(1)}\n`;
const dict = ({ step, metric, value }: Row) => `{'${metric}': ${value.toFixed(1)}, 'step': ${step}}\n`;
const asEvent = ({ step, metric, value }: Row) => event(metric, value, step);

/** A file for each attempt, which begins at an earlier step than that of the row before. */
function asWandb(rows: readonly Row[]): Files {
  const begins = rows.flatMap(({ step }, at) => (at === 0 || step < rows[at - 1]!.step ? [at] : []));
  const files = begins.map((from, attempt) => {
    const file = new WandbFileBytes();
    for (const { step, metric, value } of rows.slice(from, begins[attempt + 1]))
      file.history(step, { [metric]: value });
    return [`wandb/offline-run-${attempt}-a/run-a.wandb`, file.take()] as const;
  });
  return Object.fromEntries(files);
}

/** A file for each metric. */
function asMlflow(rows: readonly Row[]): Files {
  const lines = (name: string) => rows.filter(({ metric }) => metric === name).map(({ step, value }, at) => `${1.7e12 + at} ${value} ${step}\n`); // prettier-ignore
  const files = metrics.filter((name) => lines(name).length > 0).map((name) => [`metrics/${name}`, lines(name).join('')] as const); // prettier-ignore
  return { 'meta.yaml': 'run_id: a\n', ...Object.fromEntries(files) };
}

function asTrackio(rows: readonly Row[]): Buffer {
  const written = rows.map(({ step, metric, value }) => [
    '2026-01-01T00:00:00',
    'run',
    step,
    `{"${metric}": ${value}}`,
  ]);
  return sqliteBytes('metrics', ['timestamp', 'run_name', 'step', 'metrics'], written);
}

function curvesOf(files: Files): Record<string, number[][]> {
  const run = join(root, String(runs++));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(run, path)), { recursive: true });
    writeFileSync(join(run, path), text);
  }
  const read = openMetrics(run, { places: { folders: [], patterns: {} }, hasUsage: false }).readNow();
  return Object.fromEntries(
    metrics.map((key) => [key, Array.from(read.series(key).x, (x, at) => [x, read.series(key).y[at]!])]),
  );
}

/** Several loggers, each of which writes its metric at rising steps, mixed in any order: all but the first are late. */
const mixed = fc
  .array(fc.uniqueArray(fc.nat(40), { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 })
  .chain((loggers) => {
    const steps = loggers.map((own) => own.toSorted((a, b) => a - b));
    const order = fc.shuffledSubarray(
      steps.flatMap((own, logger) => own.map(() => logger)),
      {
        minLength: steps.flat().length,
      },
    );
    return order.map((turns) => {
      const at = steps.map(() => 0);
      return turns.map((logger, value): Row => ({
        step: steps[logger]![at[logger]!++]!,
        metric: metrics[logger]!,
        value,
      }));
    });
  });

describe.each(takingLate)('rows in $name', ({ files }) => {
  property('are all there, each at its step, in whatever order loggers write theirs', 40, (examples) => {
    fc.assert(
      fc.property(mixed, (rows) => {
        fc.pre(rows.some((row, at) => at > 0 && row.step !== rows[0]!.step));
        const expected = Object.fromEntries(
          metrics.map((key) => [
            key,
            rows.filter(({ metric }) => metric === key).map(({ step, value }) => [step, value]),
          ]),
        );
        expect(curvesOf(files(rows))).toEqual(expected);
      }),
      examples,
    );
  });

  property(
    'that repeat a step, or fill a gap, replace nothing beyond it: a best step, a last row with step 0',
    40,
    (examples) => {
      fc.assert(
        fc.property(fc.integer({ min: 3, max: 30 }), fc.nat(29), (count, late) => {
          const rows = Array.from({ length: count }, (_, at): Row => ({ step: 2 * at, metric: 'loss', value: at }));
          const again = Math.min(late, 2 * count - 2);
          const curve = new Map(rows.map(({ step, value }) => [step, value]));
          curve.set(again, -1);
          const { loss } = curvesOf(files([...rows, { step: again, metric: 'loss', value: -1 }]));
          expect(loss).toEqual([...curve].sort(([one], [other]) => one - other));
        }),
        examples,
      );
    },
  );
});

describe.each(formats)('rows in $name', ({ files }) => {
  property('of resumed attempts count from where each began again, and earlier ones stay', 40, (examples) => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(20), fc.integer({ min: 2, max: 12 })), { minLength: 1, maxLength: 4 }),
        (all) => {
          const rows: Row[] = [];
          let curve: number[][] = [];
          for (const [from, count] of all) {
            const begin = Math.min(from, curve.length === 0 ? 0 : Math.max(0, curve.length - 2));
            curve = curve.slice(0, begin);
            for (let step = begin; step < begin + count; step++) {
              curve.push([step, rows.length]);
              rows.push({ step, metric: 'loss', value: rows.length });
            }
          }
          expect(curvesOf(files(rows))['loss']).toEqual(curve);
        },
      ),
      examples,
    );
  });
});

/** What a program may do next with its one metric: go on, write at an earlier step, begin again at a step that was there. */
const deeds = fc.array(
  fc.oneof(
    fc.record({ deed: fc.constant('goes on' as const), count: fc.integer({ min: 1, max: 6 }), stride: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ deed: fc.constant('writes late' as const), at: fc.nat(60) }),
    fc.record({ deed: fc.constant('resumes' as const), at: fc.nat(60), count: fc.integer({ min: 2, max: 8 }) }),
  ),
  { minLength: 1, maxLength: 8 },
); // prettier-ignore

/** The steps of the rows that these deeds write: at first two, so that the counter has moved. */
function stepsOf(all: ReturnType<typeof deeds.generate>['value']): number[] {
  const steps = [0, 1];
  for (const each of all) {
    const top = Math.max(...steps);
    if (each.deed === 'writes late') steps.push(each.at % (top + 1));
    else {
      const begin = each.deed === 'resumes' ? steps[each.at % steps.length]! : top + each.stride;
      const stride = each.deed === 'resumes' ? 1 : each.stride;
      for (let at = 0; at < each.count; at++) steps.push(begin + at * stride);
    }
  }
  return steps;
}

/**
 * The curve by a plain model that keeps all rows: of two at one step the later counts, and rows that begin at a step that was there
 * and go on from it, before the last one, replace all from there on that were written before.
 */
function modelOf(steps: readonly number[]): number[][] {
  let kept: { step: number; value: number }[] = [];
  let again = { from: Infinity, since: 0, last: Infinity };
  for (const [value, step] of steps.entries()) {
    const last = Math.max(-1, ...kept.map((row) => row.step));
    const isResumed = step > again.last && step < last;
    if (isResumed) kept = kept.filter((row) => row.step < again.from || row.value >= again.since);
    const isRepeated = !isResumed && step < last && kept.some((row) => row.step === step);
    if (step !== last && step !== again.last)
      again = isRepeated ? { from: step, since: value, last: step } : { from: Infinity, since: 0, last: Infinity };
    kept.push({ step, value });
  }
  return [...new Map(kept.map(({ step, value }) => [step, value]))].toSorted(([one], [other]) => one - other);
}

describe.each(takingLate)('any mixture of rows in $name', ({ files }) => {
  property(
    'that come late, again and of resumed attempts, gives the points of a model that keeps all',
    60,
    (examples) => {
      fc.assert(
        fc.property(deeds, (all) => {
          const steps = stepsOf(all);
          const rows = steps.map((step, value): Row => ({ step, metric: 'loss', value }));
          expect(curvesOf(files(rows))['loss']).toEqual(modelOf(steps));
        }),
        examples,
      );
    },
  );
});

/** Attempts of a training that writes its loss at each step; beside it runs an evaluation, some steps behind, until both end. */
const behind = fc.record({
  attempts: fc.array(fc.record({ back: fc.integer({ min: 1, max: 5 }), count: fc.integer({ min: 6, max: 12 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
  lag: fc.integer({ min: 1, max: 4 }),
});

describe.each(takingLate)('an evaluation beside a training that is resumed, in $name', ({ files }) => {
  property(
    'keeps each of its points, and ends where the training was resumed until it has come so far again',
    30,
    (examples) => {
      fc.assert(
        fc.property(behind, ({ attempts, lag }) => {
          const rows: Row[] = [];
          const curves = { loss: new Map<number, number>(), reward: new Map<number, number>() };
          let end = 0;
          for (const { back, count } of attempts) {
            const begin = Math.max(0, end - back);
            end = begin + count;
            for (let step = begin; step < end + lag; step++) {
              if (step < end) rows.push({ step, metric: 'loss', value: rows.length });
              if (step - lag >= begin) rows.push({ step: step - lag, metric: 'reward', value: rows.length });
            }
          }
          for (const { step, metric, value } of rows) curves[metric as 'loss' | 'reward'].set(step, value);
          const { loss, reward } = curvesOf(files(rows));
          expect({ loss, reward }).toEqual({ loss: [...curves.loss], reward: [...curves.reward] });
        }),
        examples,
      );
    },
  );
});

describe('loggers that write files of their own', () => {
  it.each([
    { of: 'JSON lines', file: (name: string) => `${name}.jsonl`, text: (rows: readonly Row[]) => rows.map(json).join('') },
    { of: 'tables', file: (name: string) => `${name}.csv`, text: (rows: readonly Row[]) => `step,${rows[0]!.metric}\n${rows.map(({ step, value }) => `${step},${value}\n`).join('')}` },
  ])('give the same points as in one file: $of', ({ file, text }) => {
    fc.assert(
      fc.property(mixed, (rows) => {
        const own = metrics.map((name) => rows.filter(({ metric }) => metric === name));
        const files = own.flatMap((part) => (part.length === 0 ? [] : [[file(`of-${part[0]!.metric}`), text(part)] as const]));
        const expected = own.map((part) => part.map(({ step, value }) => [step, value]));
        expect(Object.values(curvesOf(Object.fromEntries(files)))).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  }); // prettier-ignore

  it('hide nothing of the training with the time in each late row, which goes on from where it was', () => {
    const train = [0, 1, 2, 3, 4, 5].map((step, at) => ({ step, loss: at, timestamp: 1.7e9 + at }));
    const late = [1, 2, 3].map((step, at) => ({ step, reward: at, timestamp: 1.7e9 + 10 + at }));
    const { loss, reward } = curvesOf({ 'metrics.jsonl': [...train, ...late].map((row) => `${JSON.stringify(row)}\n`).join('') });
    expect({ loss: loss!.length, reward: reward!.length }).toEqual({ loss: 6, reward: 3 });
  });
}); // prettier-ignore

describe('attempts of one run', () => {
  it('go on with one curve in the next version_N of Lightning, resumed twice', () => {
    const run = join(root, String(runs++));
    const version = (number: number, from: number, to: number) => {
      const folder = join(run, `lightning_logs/version_${number}`);
      mkdirSync(folder, { recursive: true });
      const rows = Array.from({ length: to - from }, (_, at) => `${from + at},${number}\n`);
      writeFileSync(join(folder, 'metrics.csv'), `step,loss\n${rows.join('')}`);
    };
    version(0, 0, 10);
    version(1, 7, 12);
    version(10, 11, 15);
    const { x, y } = openMetrics(run, { places: { folders: [], patterns: {} } })
      .readNow()
      .series('loss');
    expect(Array.from(x)).toEqual(Array.from({ length: 15 }, (_, at) => at));
    expect(Array.from(y)).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 10, 10, 10, 10]);
  });
});

describe('event files of one folder', () => {
  /** Points of one process: steps from `from` to `to`, one in each `every` seconds from `at` on, whose values are its number. */
  type Writer = { readonly from: number; readonly to: number; readonly at: number; readonly every: number };
  const lossOf = (writers: readonly Writer[]) => {
    const files = writers.map(({ from, to, at, every }, number) => {
      const steps = Array.from({ length: to - from }, (_, index) => from + index);
      const events = steps.map((step, index) => event('loss', number, step, 1.7e9 + at + index * every));
      return [`events.out.tfevents.${number + 1}`, Buffer.concat(events)] as const;
    });
    return curvesOf(Object.fromEntries(files))['loss'];
  };

  it.each([
    { when: 'one after the other: the later from its first step on', writers: [{ from: 0, to: 8, at: 0, every: 1 }, { from: 5, to: 7, at: 20, every: 1 }], values: [0, 0, 0, 0, 0, 1, 1] },
    { when: 'side by side: all points, and at one step the later file', writers: [{ from: 0, to: 6, at: 0, every: 2 }, { from: 2, to: 4, at: 3, every: 2 }], values: [0, 0, 1, 1, 0, 0] },
    { when: 'two side by side, and a third when both had ended', writers: [{ from: 0, to: 6, at: 0, every: 2 }, { from: 2, to: 4, at: 3, every: 2 }, { from: 3, to: 5, at: 60, every: 1 }], values: [0, 0, 1, 2, 2] },
  ])('that were written $when', ({ writers, values }) => {
    expect(lossOf(writers)).toEqual(values.map((value, step) => [step, value]));
  });
}); // prettier-ignore

describe('what does not count', () => {
  it('is counted and said in the report of a run: points of two processes at one step, and those that a resume replaced', () => {
    const run = join(root, String(runs++));
    mkdirSync(run);
    const rows = [1, 1, 2, 3, 4, 2, 3].map((step, value): Row => ({ step, metric: 'loss', value }));
    writeFileSync(join(run, 'metrics.jsonl'), rows.map(json).join(''));
    const report = describeSources(openMetrics(run, { places: { folders: [], patterns: {} } }).readNow());
    const lines = reportLines(report).map(({ text }) => text);
    expect(lines).toContainEqual(expect.stringMatching(/^points that a resumed attempt replaced: \d+$/));
    expect(lines).toContain('values written again at a step that had one, of which the last counts: 1');
  });
});
