import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { wellHealth } from '../../../src/analysis/health/finding.js';
import { emptyState, type SchedulerState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import type { PlannedRun } from '../../../src/spec/planned-run.js';
import { nothingMonitored, runSummary } from '../../../src/supervisor/publish/run-view.js';
import { sweepSummaries } from '../../../src/supervisor/publish/sweep-view.js';
import { SubmissionStore } from '../../../src/supervisor/runs/submission-store.js';
import { id, submitted } from '../../scheduler/play.js';
import { plan } from '../testbed.js';
import { removeFolder } from '../../remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'memrl-views-'));
afterAll(() => removeFolder(folder));

/** The sweep `s` as clients see it, submitted in these parts. */
async function sweepOf(...parts: Partial<PlannedRun>[][]) {
  const book = new SubmissionStore(folder);
  const state = emptyState();
  for (const runs of parts) {
    const key = await book.add(plan(folder, 's', runs), {});
    const event = submitted(runs.map(({ name }) => name!));
    step(state, { ...event, plan: key } as SchedulerEvent);
  }
  return sweepSummaries(state, book, folder)[0]!;
}

const least = { name: 'test/loss', goal: 'minimize' } as const;
const most = { name: 'test/bits', goal: 'maximize', target: 10 } as const;

describe('what a sweep tries to do', () => {
  it.each<[string, Partial<PlannedRun>[][], object | undefined]>([
    ['is not said where no run has it', [[{ name: 'a' }]], undefined],
    [
      'is what all runs try',
      [
        [
          { name: 'a', objective: least },
          { name: 'b', objective: least },
        ],
      ],
      { name: 'test/loss', goal: 'minimize' },
    ],
    [
      'is what those try that try anything',
      [[{ name: 'a' }, { name: 'b', objective: most }]],
      { name: 'test/bits', goal: 'maximize' },
    ],
    [
      'is not said where they differ',
      [
        [
          { name: 'a', objective: least },
          { name: 'b', objective: most },
        ],
      ],
      undefined,
    ],
    ['is that of all its parts', [[{ name: 'a', objective: least }], [{ name: 'b', objective: most }]], undefined],
  ])('%s', async (_, parts, objective) => {
    expect((await sweepOf(...parts)).objective).toEqual(objective);
  });
});

describe('the groups of a sweep', () => {
  it('say how long their runs have between SIGTERM and SIGKILL, so that a question before a kill can', async () => {
    const { groups } = await sweepOf([{ name: 'a', grace: 30 }]);
    expect(groups.map(({ grace }) => grace)).toEqual([30]);
  });
});

describe('a row for the clients', () => {
  function rowOf(gpus: number) {
    const state: SchedulerState = emptyState();
    step(state, submitted([{ name: 'a', need: { gpus } }]));
    const planned = plan(folder, 's', [{ name: 'a' }]).runs[0]!;
    const beside = {
      ...{ argv: planned.argv, parameters: planned.parameters, gpuMemory: null, pid: null, warning: null },
      ...{
        monitored: nothingMonitored,
        health: wellHealth,
        left: null,
        waiting: null,
        wallTime: (at: number) => at,
      },
    };
    return runSummary(state.runs.get(id('a'))!, planned, beside);
  }

  it('says how many GPUs a run holds, also before it has any; a run of the CPU says nothing', () => {
    expect(rowOf(2)).toMatchObject({ gpuCount: 2, gpus: [] });
    expect(rowOf(0)).not.toHaveProperty('gpuCount');
  });
});
