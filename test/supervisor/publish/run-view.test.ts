import { describe, expect, it } from 'vitest';
import type { Run } from '../../../src/scheduler/state.js';
import { wellHealth } from '../../../src/analysis/health/finding.js';
import { nothingMonitored, runSummary } from '../../../src/supervisor/publish/run-view.js';
import { RunSummary } from '../../../src/protocol/run-summary.js';
import { plan } from '../testbed.js';

const planned = plan('/runs', 's', [{ argv: ['train'] }]).runs[0]!;
const beside = {
  argv: planned.argv,
  parameters: { n: 1 },
  monitored: nothingMonitored,
  health: wellHealth,
  waiting: null,
  left: null,
  gpuMemory: null,
  pid: null,
  wallTime: (at: number) => at,
  warning: null,
};
const slot = { kind: 'cpu', index: 0 } as const;

function earlierOf(run: Partial<Run>): unknown {
  const whole = { need: { gpus: 0 }, hold: null, priority: 0, attempt: 3, starts: 3, ...run } as unknown as Run;
  return runSummary(whole, planned, { ...beside, wallTime: (at) => at + 1000 }).earlier;
}

function attemptOf(run: Partial<Run>): number {
  const whole = { need: { gpus: 0 }, hold: null, priority: 0, past: [], ...run } as unknown as Run;
  return runSummary(whole, planned, beside).attempt;
}

describe('the attempt in a row', () => {
  it.each<{ when: string; run: Partial<Run>; attempt: number }>([
    {
      when: 'of a run that is up is the number its process was told, also after launches that were not made',
      run: { attempt: 5, starts: 2, state: { phase: 'running', slot, pid: 7, since: 0, pausedAt: null, pausedMs: 0 } },
      attempt: 5,
    },
    {
      when: 'of a run that ended is that of its last process',
      run: { attempt: 5, starts: 2, state: { phase: 'ended', outcome: { kind: 'done' }, since: 0, at: 1 } },
      attempt: 5,
    },
    {
      when: 'of a run that starts is the number of the start',
      run: { attempt: 1, starts: 0, state: { phase: 'starting', slot, stop: null } },
      attempt: 1,
    },
    {
      when: 'of a run that was never up is none',
      run: { attempt: 1, starts: 0, state: { phase: 'waiting', notBefore: null, last: null } },
      attempt: 0,
    },
    {
      when: 'of a run that was killed before it was up is none',
      run: { attempt: 1, starts: 0, state: { phase: 'ended', outcome: { kind: 'killed' }, since: null, at: 1 } },
      attempt: 0,
    },
  ])('$when', ({ run, attempt }) => {
    expect(attemptOf(run)).toBe(attempt);
  });
});

describe('the best value in a row', () => {
  const objective = { name: 'acc', goal: 'maximize' as const };
  const waits = { phase: 'waiting', notBefore: null, last: null } as const;
  const run = { need: { gpus: 0 }, hold: null, priority: 0, past: [], state: waits, starts: 0 } as unknown as Run;
  const rowOf = (best: number | null, given: object = { objective }) =>
    runSummary(run, { ...planned, ...given }, { ...beside, monitored: { ...nothingMonitored, best } });

  it('says of which metric it is and what is good; null takes back what was told before', () => {
    expect(rowOf(0.9).best).toEqual({ metric: 'acc', goal: 'maximize', value: 0.9 });
    expect(rowOf(null).best).toEqual({ metric: 'acc', goal: 'maximize', value: null });
  });

  it('is not told of a run without an objective, nor by an older build, whose rows are read as well', () => {
    expect(rowOf(null, {})).not.toHaveProperty('best');
    const row: unknown = JSON.parse(JSON.stringify({ ...rowOf(0.9), best: undefined }));
    expect(RunSummary.parse(row).best).toBeUndefined();
    expect(RunSummary.parse(rowOf(0.9)).best?.value).toBe(0.9);
  });
});

describe('the times of earlier attempts', () => {
  const past: Run['past'] = [
    [0, 10],
    [20, 30],
  ];

  it('are those of all but the attempt whose times are told by themselves, on the clock of the machine', () => {
    const running = { phase: 'running', slot, pid: 7, since: 40, pausedAt: null, pausedMs: 0 } as const;
    const both = [
      [1000, 1010],
      [1020, 1030],
    ];
    expect(earlierOf({ past, state: running })).toEqual(both);
    expect(earlierOf({ past, state: { phase: 'waiting', notBefore: null, last: null } })).toEqual(both);
    expect(earlierOf({ past, state: { phase: 'ended', outcome: { kind: 'done' }, since: 20, at: 30 } })).toEqual([
      both[0],
    ]);
    // Killed while it waited for its third.
    expect(earlierOf({ past, state: { phase: 'ended', outcome: { kind: 'killed' }, since: null, at: 90 } })).toEqual(
      both,
    );
  });

  it('are not told where there are none', () => {
    expect(earlierOf({ past: [], state: { phase: 'starting', slot, stop: null } })).toBeUndefined();
  });
});
