import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../../src/base/user-error.js';
import { parseObjective, parseRule, wouldStop, wouldStopLines } from '../../src/report/early-stop-replay.js';
import { removeFolder } from '../remove-folder.js';

let sweep = '';
beforeEach(() => {
  sweep = join(mkdtempSync(join(tmpdir(), 'would-stop-')), 'lr');
  mkdirSync(sweep);
});
afterEach(() => removeFolder(join(sweep, '..')));

type Written = { group?: string; from?: number; to?: number | null; rows: readonly object[] | string };

/** A run that was up from `from` to `to` (seconds). */
function run(name: string, { group = 'A', from = 0, to = 100, rows }: Written): void {
  const directory = join(sweep, name);
  mkdirSync(directory);
  const attempt = { number: 1, slot: 'cpu 0', startedAt: from * 1000, endedAt: to === null ? null : to * 1000 };
  const record = {
    ...{ version: 1, sweep: 'lr', group, subgroup: null, name, identity: name, parameters: {}, argv: ['a'], cwd: '/' },
    ...{ host: 'here', git: null, attempts: [{ ...attempt, outcome: { kind: 'done' } }] },
  };
  writeFileSync(join(directory, 'run.json'), JSON.stringify(record));
  const text = typeof rows === 'string' ? rows : rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  writeFileSync(join(directory, 'metrics.jsonl'), text);
}

const losses = (...values: number[]) => values.map((loss, index) => ({ step: index + 1, loss }));
const loss = parseObjective('minimize loss');
const asha = parseRule('asha min_iter=2 eta=2');

describe('what a rule would have ended', () => {
  it('is told run by run, with what each came to, and what was saved', () => {
    run('good', { rows: losses(5, 4, 3, 2, 1) });
    run('bad', { rows: losses(9, 8, 8, 8, 8), from: 50, to: 150 });
    expect(wouldStop(sweep, asha, loss)).toEqual({
      sweep: 'lr',
      rule: 'asha (min_iter 2, eta 2)',
      objective: { name: 'loss', goal: 'minimize' },
      stopped: [
        {
          ...{ run: 'bad', group: 'A', iterations: 5, final: 8, iteration: 2, savedMs: 60_000 },
          why: 'asha: 8 at iteration 2 is above 4, the best half of 2 runs',
        },
      ],
      kept: [{ run: 'good', group: 'A', iterations: 5, final: 1 }],
      silent: [],
      savedShare: 0.3,
      savedMs: 60_000,
      bestKept: true,
      lostBest: [],
    });
  });

  it('says when it would have cost the run that came out best', () => {
    run('early', { rows: losses(1, 1, 1, 1) });
    run('late', { rows: losses(9, 9, 9, 0), from: 1 });
    const result = wouldStop(sweep, asha, loss);
    expect(result.lostBest).toEqual(['late']);
    expect(result.bestKept).toBe(false);
  });

  it('compares runs of one group only', () => {
    run('a', { rows: losses(1, 1) });
    run('b', { group: 'B', rows: losses(9, 9), from: 1 });
    expect(wouldStop(sweep, asha, loss).stopped).toEqual([]);
  });

  it.each<{ by: string; stamp: (second: number) => object }>([
    { by: '_timestamp in seconds', stamp: (second) => ({ _timestamp: 1.7e9 + second }) },
    { by: 'a time stamp in milliseconds', stamp: (second) => ({ ts: (1.7e9 + second) * 1000 }) },
    { by: 'a date', stamp: (second) => ({ timestamp: new Date((1.7e9 + second) * 1000).toISOString() }) },
  ])('takes rows in the order of their own time, by $by', ({ stamp }) => {
    // The better one came second, so that only the other order would end a run.
    run('a', { rows: losses(1, 1).map((row, index) => ({ ...row, ...stamp(100 + index) })) });
    run('b', { rows: losses(9, 9).map((row, index) => ({ ...row, ...stamp(index) })) });
    expect(wouldStop(sweep, asha, loss).stopped).toEqual([]);
  });

  it('counts a run that was resumed from a checkpoint without the steps it did again', () => {
    const rows = [...losses(5, 5, 5), { step: 2, loss: 1 }, { step: 3, loss: 1 }, { step: 3, loss: 0.5 }];
    run('resumed', { rows });
    run('other', { rows: losses(2, 2, 2), from: 200, to: 300 });
    const { stopped, kept } = wouldStop(sweep, parseRule('hyperband min_iter=2'), loss);
    expect(kept).toEqual([{ run: 'resumed', group: 'A', iterations: 3, final: 0.5 }]);
    expect(stopped.map(({ why }) => why)).toEqual(['hyperband: 2 at iteration 2 is above 1, the best third of 2 runs']);
  });

  it('passes over what is no finite number, and torn lines, and names runs that said nothing', () => {
    run('nan', { rows: '{"step": 1, "loss": NaN}\n{"step": 2, "loss": 1}\nnot json\n{"step": 3, "lo' });
    run('silent', { rows: [] });
    expect(wouldStop(sweep, asha, loss)).toMatchObject({
      kept: [{ run: 'nan', iterations: 1 }],
      silent: ['silent'],
    });
  });

  it('counts a run that is still up until its last row', () => {
    run('up', { rows: losses(1, 1), from: 0, to: null });
    expect(wouldStop(sweep, asha, loss)).toMatchObject({ savedShare: 0, kept: [{ run: 'up' }] });
  });

  it('names the metric that was meant when no run has it', () => {
    run('a', { rows: losses(1) });
    expect(() => wouldStop(sweep, asha, parseObjective('lss'))).toThrow('Did you mean `loss`?');
    expect(() => wouldStop(join(sweep, 'x'), asha, loss)).toThrow(UserError);
  });
});

describe('the lines of it', () => {
  it('say the sum first, and then the runs', () => {
    run('good', { rows: losses(5, 4, 3, 2, 1) });
    run('bad', { rows: losses(9, 8, 8, 8, 8), from: 50, to: 150 });
    expect(wouldStopLines(wouldStop(sweep, asha, loss), { width: 80, ascii: false })).toEqual([
      'lr · what asha (min_iter 2, eta 2) would have ended, to minimize loss',
      '',
      '1 of 2 runs would have ended early; 30 % of the run time (1m) would have been',
      '  saved.',
      'The best run of every group would have kept running.',
      '',
      'run  ended at  of  final  why',
      '──────────────────────────────────────────────────────────────────────────────',
      'bad         2   5      8  8 at iteration 2 is above 4, the best half of 2 runs',
    ]);
  });

  it.each([40, 80, 120])('fit %i columns, in ASCII if need be', (width) => {
    run('a_run_with_quite_a_long_name_lr0.0001_s0', { rows: losses(1, 1) });
    run('another_run_with_quite_a_long_name_lr0.1_s0', { rows: losses(9, 9), from: 5 });
    run('silent', { rows: [] });
    const lines = wouldStopLines(wouldStop(sweep, asha, loss), { width, ascii: true });
    for (const line of lines) {
      expect(line).toMatch(/^[\x20-\x7e]*$/);
      expect(line.length).toBeLessThanOrEqual(Math.max(width, 60));
    }
  });
});

describe('a rule on the command line', () => {
  it.each<{ text: string; gives: object }>([
    { text: 'asha eta=3 min_iter=5', gives: { type: 'asha', eta: 3, min_iter: 5 } },
    { text: '  median,min_runs=2 ', gives: { type: 'median', min_iter: 1, min_runs: 2 } },
    {
      text: 'hyperband max_iter=27 s=2 strict=false',
      gives: { type: 'hyperband', max_iter: 27, s: 2, eta: 3, strict: false },
    },
  ])('reads $text', ({ text, gives }) => expect(parseRule(text)).toEqual(gives));

  it.each<{ text: string; says: string }>([
    { text: 'ahsa', says: '`ahsa` is not an early-stopping rule. Did you mean `asha`?' },
    { text: '', says: 'Known: `hyperband`, `asha`, `median`' },
    { text: 'constructor x=1', says: '`constructor` is not an early-stopping rule' },
    { text: 'asha min_itre=3', says: 'asha has no `min_itre`. Did you mean `min_iter`?' },
    { text: 'asha min_iter', says: '`min_iter` does not say a number' },
    { text: 'asha min_iter=x', says: '`min_iter=x` does not say a number' },
    { text: 'asha min_iter=0', says: "`min_iter` in 'asha min_iter=0': expected a whole number from 1 on." },
    { text: 'asha eta=1', says: "`eta` in 'asha eta=1': expected a number above 1." },
    { text: 'hyperband', says: 'hyperband needs `min_iter`, or `max_iter` and `s`.' },
    { text: 'hyperband max_iter=2 s=1', says: 'hyperband has no band' },
    { text: 'asha max_iter=2 min_iter=3', says: 'asha has no rung' },
  ])('refuses $text', ({ text, says }) => {
    expect(() => parseRule(text)).toThrow(says);
    expect(() => parseRule(text)).toThrow(UserError);
  });

  it.each<{ text: string; gives: object | null }>([
    { text: 'maximize accuracy', gives: { name: 'accuracy', goal: 'maximize' } },
    { text: 'test/loss', gives: { name: 'test/loss', goal: 'minimize' } },
    { text: 'minimize val loss', gives: { name: 'val loss', goal: 'minimize' } },
    { text: 'minimized', gives: { name: 'minimized', goal: 'minimize' } },
    { text: 'minimize', gives: null },
    { text: ' ', gives: null },
  ])('reads the objective "$text"', ({ text, gives }) => {
    if (gives === null) expect(() => parseObjective(text)).toThrow(UserError);
    else expect(parseObjective(text)).toEqual(gives);
  });
});
