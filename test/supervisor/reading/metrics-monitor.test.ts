import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlannedRun } from '../../../src/spec/planned-run.js';
import { MetricsMonitor, TimedRule } from '../../../src/supervisor/reading/metrics-monitor.js';
import { newBusy } from '../../../src/supervisor/reading/reading-messages.js';
import { removeFolder } from '../../remove-folder.js';
import { plan } from '../testbed.js';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'vitals-'))));
afterEach(() => removeFolder(directory));

const add = (...rows: string[]) =>
  appendFileSync(join(directory, 'metrics.jsonl'), rows.map((row) => `${row}\n`).join(''));

function signsOf(run: Partial<PlannedRun> = {}, since = 0): MetricsMonitor {
  return new MetricsMonitor(plan('/', 's', [{ directory, ...run }]).runs[0]!, since);
}

/** Reads at this time and says what is seen. */
function at(signs: MetricsMonitor, now: number) {
  signs.refresh();
  return signs.vitals(now);
}

describe('the vital signs of a run', () => {
  it('are unknown before its first row', () => {
    const vitals = at(signsOf(), 1000);
    const nothing = {
      metrics: {},
      progress: null,
      toBudget: null,
      used: null,
      movement: null,
      counting: [],
      spark: [],
    };
    expect(vitals).toEqual({ ...nothing, step: null, notFinite: [], exceeded: null, unwritten: null });
  });

  it('take the pace of a resumed run that begins anew from there', () => {
    for (const step of [0, 20, 75]) add(`{"step": ${step}}`);
    const signs = signsOf({ metrics: { show: [], x: 'step', progress: { key: 'step', total: 100 } } });
    expect(at(signs, 1000).progress).toBe(0.75);
    for (const step of [0, 20]) add(`{"step": ${step}}`);
    expect(at(signs, 2000).progress).toBe(0.2);
    add('{"step": 40}');
    expect(at(signs, 4000).toBudget).toMatchObject({ seconds: 6, at: 4000 });
  });

  it('tell how far it is and how long it takes, by its pace since it took up', () => {
    const metrics = { show: [], x: 'step', progress: { key: 'step', total: 100 } };
    const signs = signsOf({ metrics }, 0);
    add('{"step": 50}');
    expect(at(signs, 10_000)).toMatchObject({ progress: 0.5, toBudget: { seconds: 10, at: 10_000 } });
    // A resumed run came with its first half: only what was added since counts.
    add('{"step": 60}');
    expect(at(signs, 30_000)).toMatchObject({ progress: 0.6 });
    expect(signs.vitals(31_000).toBudget?.seconds).toBeCloseTo(80, 6);
    expect(signs.vitals(31_000).toBudget?.at).toBe(30_000);
    add('{"step": 250}');
    expect(at(signs, 40_000)).toMatchObject({ progress: 1, toBudget: { seconds: 0, at: 40_000 } });
  });

  it('are what its progress bar says where no metric does', () => {
    const bar = ' 25%|██▌       | 50/200 [00:10<00:30, 5.00it/s, loss=0.5]\n';
    writeFileSync(join(directory, 'output.log'), bar);
    const vitals = at(signsOf(), 10_000);
    expect(vitals).toMatchObject({ progress: 0.25, toBudget: { seconds: 30, at: 10_000 }, metrics: { loss: 0.5 } });
    add('{"progress/done_frac": 0.5}');
    expect(at(signsOf(), 11_000)).toMatchObject({ progress: 0.5, metrics: { 'progress/done_frac': 0.5 } });
  });

  it('tell when it moved, and how often it usually does', () => {
    const metrics = { show: [], x: 'step', progress: { key: 'step', total: 100 } };
    const signs = signsOf({ metrics }, 0);
    add('{"step": 1}');
    expect(at(signs, 4000).movement).toEqual({ at: 4000, every: 4000, longest: 4000 });
    add('{"step": 2}');
    expect(at(signs, 5000).movement).toEqual({ at: 5000, every: 1000, longest: 1000 });
    add('{"step": 2}');
    expect(at(signs, 6000).movement).toEqual({ at: 5000, every: 1000, longest: 1000 });
    add('{"step": 3}');
    expect(at(signs, 8000).movement).toEqual({ at: 8000, every: 2000, longest: 3000 });
  });

  it('take its rows for movement where it does not say how far it is', () => {
    const signs = signsOf();
    add('{"loss": 1}');
    at(signs, 1000);
    add('{"loss": 1}');
    expect(at(signs, 3000)).toMatchObject({ progress: null, toBudget: null, movement: { at: 3000, every: 2000 } });
  });

  it('use the share that our own lab writes where the sweep file names no progress', () => {
    add('{"step": 1, "progress/done_frac": 0.25}');
    expect(at(signsOf(), 1000).progress).toBe(0.25);
  });

  it('show the first metric that is there of those wanted', () => {
    add('{"step": 1, "loss": 3}', '{"step": 2, "loss": 2}');
    const metrics = { show: ['bits', 'loss'], x: 'step', progress: null };
    expect(at(signsOf({ metrics }), 1000)).toMatchObject({ spark: [3, 2], metrics: { step: 2, loss: 2 } });
  });

  it('show a result where nothing is wanted, and a better one when it comes', () => {
    add('{"step": 1, "lr": 5}', '{"step": 2, "lr": 4}');
    const signs = signsOf({ metrics: { show: [], x: 'step', progress: null } });
    expect(at(signs, 1000).spark).toEqual([5, 4]);
    add('{"step": 3, "lr": 3, "loss": 9}');
    expect(at(signs, 2000).spark).toEqual([9]);
  });

  it('pass over what has the name of no result and only counts', () => {
    const signs = signsOf({ metrics: { show: [], x: 'step', progress: null } });
    add('{"seen": 1, "kl": 5}', '{"seen": 2, "kl": 4}', '{"seen": 3, "kl": 6}');
    expect(at(signs, 1000)).toMatchObject({ spark: [1, 2, 3] });
    add('{"seen": 4, "kl": 3}');
    expect(at(signs, 2000)).toMatchObject({ spark: [5, 4, 6, 3], counting: ['seen'] });
    add('{"seen": 9, "kl": 2}');
    expect(at(signs, 3000).spark).toEqual([1, 2, 3, 4, 9]);
    expect(at(signs, 3000).counting).toEqual([]);
  });

  it.each(['score', 'eval/accuracy', 'reward', 'episode_return', 'x'])(
    'take %s for a result though it rises evenly',
    (key) => {
      add(...[1, 2, 3, 4].map((value) => JSON.stringify({ [key]: value / 4, other: value % 3 })));
      const objective = { name: 'x', goal: 'maximize' } as const;
      const signs = signsOf({ metrics: { show: [], x: 'step', progress: null }, objective });
      expect(at(signs, 1000)).toMatchObject({ spark: [0.25, 0.5, 0.75, 1], counting: [] });
    },
  );

  it('show what the run is judged by before other results', () => {
    add('{"reward": 1, "eval/loss": 7}');
    const metrics = { show: [], x: 'step', progress: null };
    expect(at(signsOf({ metrics, stopWhen: { when: 'eval_loss < 2', for: 1 } }), 1000).spark).toEqual([7]);
  });

  it.each([
    { row: '{"loss": NaN}', notFinite: ['loss'] },
    { row: '{"train/loss": null, "kl": NaN}', notFinite: ['train/loss'] },
    { row: '{"explained_variance": NaN}', notFinite: [] },
    { row: '{"loss": 1}', notFinite: [] },
  ])('name the metrics that matter and are no numbers: $notFinite after $row', ({ row, notFinite }) => {
    add(row);
    expect(at(signsOf(), 1000).notFinite).toEqual(notFinite);
  });

  it('tell its step, and the levels of its objective, or else of a result that stands for it', () => {
    const rows = (key: string) => Array.from({ length: 40 }, (_, step) => `{"step": ${step}, "${key}": ${step}}`);
    add(...rows('loss'));
    const signs = signsOf();
    expect(at(signs, 1000)).toMatchObject({ step: 39 });
    expect(signs.judged()).toMatchObject({ name: 'loss', levels: { better: -1 } });
    const objective = { name: 'reward', goal: 'maximize' as const };
    const judgedByReward = signsOf({ objective });
    at(judgedByReward, 1000);
    expect(judgedByReward.judged()).toMatchObject({ name: 'reward', levels: null });
    add(...rows('reward'));
    at(judgedByReward, 2000);
    const loss = { name: 'loss', levels: { better: -1 } };
    expect(judgedByReward.judged()).toMatchObject({ name: 'reward', levels: { better: 1 }, loss });
    // A reward stands for the run before a loss, and its name says which way is better.
    const byName = signsOf();
    at(byName, 3000);
    expect(byName.judged()).toMatchObject({ name: 'reward', levels: { better: 1 } });
    expect(byName.ending()).toMatchObject({ metric: 'reward', last: 39 });
    const unjudged = signsOf({ metrics: { ...plan('/', 's', [{}]).runs[0]!.metrics, show: ['entropy'] } });
    add(...rows('entropy'));
    at(unjudged, 4000);
    expect(unjudged.judged()).toBeNull();
    expect(unjudged.ending()).toBeNull();
  });

  it('count the rows that meet the rule, from the first again when the file is replaced', () => {
    const signs = signsOf({ stopWhen: { when: 'loss < limit', for: 2 }, parameters: { limit: 1 } });
    add('{"loss": 0.5}');
    at(signs, 1);
    expect(signs.ruleMet).toBeNull();
    writeFileSync(join(directory, 'metrics.jsonl'), '{"loss": 0.4, "x": 1}\n');
    at(signs, 2);
    expect(signs.ruleMet).toBeNull();
    add('{"loss": 0.3}');
    at(signs, 3);
    expect(signs.ruleMet).toBe('loss < limit');
  });
});

describe('a long file', () => {
  const row = (step: number) => `{"step": ${step}, "loss": 1}`;
  const rows = (from: number, count: number) => Array.from({ length: count }, (_, index) => row(from + index));
  /** Reads all in parts of so many bytes; gives the most that one part took. */
  const readAll = (signs: MetricsMonitor, part: number) => {
    let most = 0;
    for (let more = true; more;) {
      const read = signs.refresh(part);
      most = Math.max(most, read.bytes);
      more = read.more;
    }
    return most;
  };
  const told: string[] = [];
  const jury = {
    restart: () => undefined,
    remember: ({ step }: Readonly<Record<string, number>>) => void told.push(`old ${step}`),
    note: ({ step }: Readonly<Record<string, number>>) => void told.push(`new ${step}`),
    judge: () => null,
  };
  const objective = { name: 'loss', goal: 'minimize' as const };
  const resumed = () =>
    new MetricsMonitor(plan('/', 's', [{ directory, objective }]).runs[0]!, 0, jury, { hasPast: true });
  beforeEach(() => void (told.length = 0));

  it('is read in parts, and no pace is made out of how fast it is read', () => {
    const metrics = { show: ['loss'], x: 'step', progress: { key: 'step', total: 20_000 } };
    add(...rows(1, 10_000));
    const signs = signsOf({ metrics });
    expect(signs.refresh(4096)).toMatchObject({ changed: true, more: true });
    expect(signs.vitals(1000)).toMatchObject({ toBudget: null, movement: null });
    expect(readAll(signs, 4096)).toBeLessThanOrEqual(4096);
    expect(at(signs, 1000)).toMatchObject({
      progress: 0.5,
      toBudget: { seconds: 1, at: 1000 },
      metrics: { step: 10_000 },
    });
  });

  it.each([50, 128, 1000, 1 << 20])('of an earlier attempt is told from what is new, in parts of %d bytes', (part) => {
    add(...rows(1, 5));
    const signs = resumed();
    signs.refresh(part);
    add(...rows(6, 2));
    readAll(signs, part);
    expect(told).toEqual(['old 1', 'old 2', 'old 3', 'old 4', 'old 5', 'new 6', 'new 7']);
  });

  it('of an earlier attempt may end in half a line, which is new when it is completed', () => {
    writeFileSync(join(directory, 'metrics.jsonl'), `${row(1)}\n{"st`);
    const signs = resumed();
    readAll(signs, 64);
    appendFileSync(join(directory, 'metrics.jsonl'), `ep": 2}\n${row(3)}\n`);
    readAll(signs, 64);
    expect(told).toEqual(['old 1', 'new 2', 'new 3']);
  });

  it('meets no rule before all of the past is read', () => {
    add('{"loss": 0.5}', '{"loss": 0.5}', '{"loss": 2}');
    const run = { directory, stopWhen: { when: 'loss < 1', for: 1 } };
    const signs = new MetricsMonitor(plan('/', 's', [run]).runs[0]!, 0, jury, { hasPast: true });
    signs.refresh(16);
    expect(signs.ruleMet).toBeNull();
    readAll(signs, 16);
    expect(signs.ruleMet).toBe('loss < 1');
  });

  it('of thousands of keys a row is held in bounded memory', () => {
    const wide = `{${Array.from({ length: 10_000 }, (_, key) => `"key${key}": 1`).join(',')}}`;
    const signs = signsOf();
    add(...Array.from({ length: 30 }, () => wide));
    readAll(signs, 1 << 17);
    expect(Object.keys(signs.vitals(1000).metrics)).toHaveLength(2000);
  });

  it.each([
    { what: 'deeply nested', line: `{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
    { what: 'full of quotes that never end', line: `{"a": NaN, "b": "${'\\"'.repeat(100_000)}` },
    { what: 'nothing but bytes', line: '\0'.repeat(200_000) },
  ])('may have a line that is $what', ({ line }) => {
    const signs = signsOf();
    add('{"a": 1}', line, '{"c": 2}');
    readAll(signs, 1 << 17);
    expect(signs.vitals(1000).metrics).toEqual({ a: 1, c: 2 });
  });
});

it('says which pattern of an older version is none, and so finds nothing', () => {
  writeFileSync(join(directory, 'output.log'), 'loss: 3 acc: 4\n');
  const patterns = { loss: 'loss: (?=\\d)(\\d+)', acc: 'acc: (\\d+)' };
  const signs = signsOf({ metrics: { show: [], x: 'step', progress: null, patterns } });
  expect(at(signs, 0).metrics).toEqual({ acc: 4 });
  expect(signs.hindrance).toBe('the pattern of loss finds nothing: invalid or unsupported Perl syntax: `(?=`');
  expect(signsOf().hindrance).toBeNull();
});

const list = (length: number) => `[${Array.from({ length }, (_, index) => index).join(', ')}]`;

const rule = (when: string, parameters = {}) =>
  new TimedRule(plan('/', 's', [{ stopWhen: { when, for: 1 }, parameters }]).runs[0]!, newBusy());

it('is met, and has no fault', () => {
  const usual = rule('loss > limit', { limit: 5 });
  expect([4, 6].map((loss) => usual.isMetBy({ loss }))).toEqual([false, true]);
  expect(usual.fault).toBeNull();
});

it('is switched off when its rows take too long, together', () => {
  const when = 'xs.all(a, xs.all(b, a + b >= 0)) && loss > 5';
  const slow = rule(when, { xs: Array.from({ length: 100 }, (_, n) => n) });
  for (let rows = 0; slow.fault === null && rows < 100_000; rows++) slow.isMetBy({ loss: 1 });
  expect(slow.fault).toBe(`stop_when is switched off (${when}): it takes too long`);
  expect(slow.isMetBy({ loss: 10 })).toBe(false);
  slow.restart();
  expect(slow.isMetBy({ loss: 10 })).toBe(false);
});

it('is switched off when it needs too much memory', () => {
  const large = rule(`size(${list(200)}.map(a, ${list(200)}.map(b, ${list(200)}))) > loss`);
  expect(large.isMetBy({ loss: 1 })).toBe(false);
  expect(large.fault).toMatch(
    /^stop_when is switched off \(.*\): this makes more than 1,000,000 characters and elements/,
  );
});

it('says why it is none, where a plan of an older version has let it through', () => {
  expect(rule('loss >').fault).toMatch(/switched off \(loss >\): the expression ends too early$/);
});
