import { describe, expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import { runStatus, runTable } from '../../../src/cli/show/run-table.js';
import { safeLine } from '../../../src/cli/terminal.js';
import { aRun, aSweep } from '../../tui/simulated-fleet.js';

const now = 10_000_000;
const sweeps = new Map([['abcd', aSweep({ show: ['loss'] })]]);
const plain = { sweeps, width: 100, now, colour: false };
const runs = [
  aRun('A_s0', {
    state: 'done',
    attempt: 1,
    startedAt: now - 9_000_000,
    endedAt: now - 1_000_000,
    metrics: { loss: 0.25 },
  }),
  aRun('A_s1', {
    ...{ state: 'running', attempt: 2, slot: 'gpu 1', startedAt: now - 65_000, progress: 0.419, etaSeconds: 90 },
    ...{ metrics: { loss: null }, health: 'nan', warning: 'GPU memory is \u001b[31mstill held' },
  }),
  aRun('A_s2', { state: 'queued', attempt: 1, reason: 'exit code 1, retry 1 of 3', retryAt: now + 4_000 }),
  aRun('A_s3', { state: 'stopping', attempt: 1, slot: 'cpu 0', startedAt: now - 1_000, killAt: now + 10_000 }),
];

describe('a run for scripts', () => {
  it('has the best value of its objective, where it has one', () => {
    const best = { metric: 'loss', goal: 'minimize', value: 0.125 } as const;
    expect(runStatus(aRun('A_s0', { best }))).toMatchObject({ best });
    expect(runStatus(aRun('A_s0'))).not.toHaveProperty('best');
  });
});

describe('the table of runs', () => {
  it('says when runs start, and how long that is', () => {
    const waiting = aRun('A_s4', { state: 'queued', reason: 'starts at 22:00', startsAt: now + 11_520_000 });
    expect(runTable([waiting], plain).map(safeLine).at(-1)).toMatch(/starts at 22:00, in 3h12m$/);
    expect(runStatus(waiting)).toMatchObject({ startsAt: new Date(now + 11_520_000).toISOString(), retryAt: null });
  });

  it('says where each run is, how far, and why', () => {
    expect(runTable(runs, plain).map(safeLine).join('\n')).toMatchInlineSnapshot(`
      "state     run   try  slot    time  progress  left    loss  why
      ─────────────────────────────────────────────────────────────────────────────────────────────────
      done      A_s0              2h13m                  0.2500
      running   A_s1    2  gpu 1  1m05s      41 %  ~90s     NaN  NaN; GPU memory is still held
      queued    A_s2                                             exit code 1, retry 1 of 3; again in 4s
      stopping  A_s3       cpu 0     1s                          SIGKILL in 10s"
    `);
  });

  it('keeps how long and why where names are long, and what tells the names apart', () => {
    const reason = 'RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB';
    const long = ['3.2-1B', '3.2-3B'].map((size) =>
      aRun(`s0_model-data-models-meta-llama-Llama-${size}-Instruct-checkpoints-final`, {
        ...{ state: 'failed', reason, startedAt: now - 9000, endedAt: now, metrics: { loss: 2 }, progress: 0.5 },
      }),
    );
    const lines = (width: number) => runTable(long, { ...plain, width }).map(safeLine);
    expect(lines(80).join('\n')).toMatchInlineSnapshot(`
      "state   run                                   time  why
      ────────────────────────────────────────────────────────────────────────────────
      failed  …1B-Instruct-checkpoints-final          9s  RuntimeError: CUDA out of m…
      failed  …3B-Instruct-checkpoints-final          9s  RuntimeError: CUDA out of m…"
    `);
    expect(lines(Infinity)[3]).toMatch(new RegExp(`^failed +${long[1]!.name} +9s +50 % +2 +${reason}$`));
  });

  it.each([30, 40, 60, 80, 200])('fits %i columns', (width) => {
    for (const line of runTable(runs, { ...plain, width })) expect(line.length).toBeLessThanOrEqual(width);
  });

  it('shows the parameters and metrics that are asked for', () => {
    const asked = [
      aRun('A_s0', {
        state: 'done',
        parameters: { lr: 3e-4, opt: 'sgd', bits: 1 },
        metrics: { 'eval/loss': 0.25, bits: 7 },
      }),
      aRun('A_s1', {
        state: 'failed',
        reason: 'exit code 3',
        parameters: { lr: 1e-4 },
        metrics: { 'eval/loss': null },
      }),
    ];
    const columns = ['eval/loss', 'lr', 'opt', 'bits', 'none'];
    expect(
      runTable(asked, { ...plain, columns })
        .map(safeLine)
        .join('\n'),
    ).toMatchInlineSnapshot(`
      "state   run   eval/loss      lr  opt  bits  none  why
      ─────────────────────────────────────────────────────────────
      done    A_s0     0.2500  0.0003  sgd     1
      failed  A_s1        NaN  0.0001                   exit code 3"
    `);
  });

  it('names the sweep where there are several', () => {
    const both = [runs[0]!, aRun('A_s0', { id: RunId.parse('other/A_s0'), sweep: 'other' })];
    const text = runTable(both, plain).map(safeLine).join('\n');
    expect(text).toContain('abcd/A_s0');
    expect(text).toContain('other/A_s0');
  });

  it('shows of each group the metric that stands for its runs', () => {
    const groups = [{ name: 'warmup', title: null, needs: [], shown: { show: ['bits'], x: 'step' } }];
    const known = new Map([['abcd', aSweep({ show: ['loss'], groups })]]);
    const warmup = aRun('w', { group: 'warmup', metrics: { loss: 9, bits: 3 } });
    const text = runTable([runs[0]!, warmup], { ...plain, sweeps: known }).map(safeLine);
    expect(text[0]).toMatch(/ metric/);
    expect(text.slice(2).join()).toMatch(/ loss 0\.2500.* bits 3/);
  });

  it('shows one metric of a group whose runs wrote theirs in different orders', () => {
    const rows = [
      { lr: 1, loss: 2 },
      { loss: 3, lr: 1 },
    ].map((metrics, n) => aRun(`A_s${n}`, { metrics }));
    const [titles] = runTable(rows, { ...plain, sweeps: new Map([['abcd', aSweep({ show: [] })]]) });
    expect(safeLine(titles!)).toMatch(/ loss$/);
  });

  it('colours the state and nothing else', () => {
    const coloured = runTable(runs, { ...plain, colour: true });
    expect(safeLine(coloured[2]!)).toMatch(/^\u001b\[32mdone\u001b\[0m /);
    expect(coloured.map((line) => safeLine(line).replace(/\u001b\[\d+m/g, ''))).toEqual(runTable(runs, plain));
  });

  it('of no runs is empty', () => {
    expect(runTable([], plain)).toEqual([]);
  });
});
