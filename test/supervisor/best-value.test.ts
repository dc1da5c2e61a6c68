import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runTest } from '../../src/query/match.js';
import { parseRunQuery } from '../../src/query/parser.js';
import type { PlannedRun } from '../../src/spec/planned-run.js';
import { run, Testbed, untilSettled, waitFor } from './testbed.js';

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

/** A run that writes one row for each value, as JSON has it or as Python writes what JSON has not, and ends. */
function writing(name: string, values: string, goal?: 'minimize' | 'maximize'): Partial<PlannedRun> {
  const directory = bed.path('s', name);
  const script = `for loss in ${values}; do i=$((i+1)); echo "{\\"step\\": $i, \\"loss\\": $loss}"; done > ${directory}/metrics.jsonl`;
  const objective = goal === undefined ? null : { name: 'loss', goal };
  return { name, directory, argv: ['sh', '-c', script], objective };
}

describe('the best value of a run', () => {
  it(
    'is that of its objective, and is known to the next supervisor as to the one that followed the run',
    { tags: ['long'] },
    async () => {
      const fleet = await bed.fleet();
      const runs = [
        writing('low', '3 0.25 NaN 1', 'minimize'),
        writing('high', '3 Infinity 7 -Infinity 1', 'maximize'),
        writing('broken', 'NaN Infinity', 'minimize'),
        writing('silent', '', 'minimize'),
        writing('aimless', '3 1 2'),
      ];
      await fleet.submit(bed.plan('s', runs), { PATH: process.env['PATH']! }, { slots: 2, gpus: 'none' });
      await untilSettled(fleet);
      const names = runs.map(({ name }) => name!);
      const told = () => names.map((name) => [name, run(fleet, `s/${name}`).best?.value]);
      const best = [
        ...[
          ['low', 0.25],
          ['high', 7],
          ['broken', null],
          ['silent', null],
        ],
        ['aimless', undefined],
      ];
      await waitFor('the last rows', () => run(fleet, 's/low').metrics['step'] === 4);
      // The files of the others may be read after that.
      await expect.poll(told).toEqual(best);
      expect(run(fleet, 's/high').best).toEqual({ metric: 'loss', goal: 'maximize', value: 7 });
      expect(run(fleet, 's/low').metrics['loss']).toBe(1);
      await bed.killSupervisor();
      await waitFor('another supervisor', () => fleet.connection === 'reconnecting');
      await waitFor('the connection', () => fleet.connection === 'connected');
      await waitFor('what was written to be read', () => fleet.status.recalled);
      expect(told()).toEqual(best);
    },
  );
});

describe('a run that diverged', () => {
  it('is told from one that is done, also by the next supervisor, and queries find it', async () => {
    const fleet = await bed.fleet();
    const runs = [writing('low', '3 2 1'), writing('wild', '3 4e8 8e78'), writing('endless', '3 2 Infinity')];
    await fleet.submit(bed.plan('s', runs), { PATH: process.env['PATH']! }, { slots: 2, gpus: 'none' });
    await untilSettled(fleet);
    const has = runTest(parseRunQuery('health:diverged'), 0);
    const told = () => runs.map(({ name }) => run(fleet, `s/${name}`)).map((each) => [each.state, has(each)]);
    const marked = [
      ['done', false],
      ['done', true],
      ['done', true],
    ];
    await waitFor('the last rows', () => fleet.status.recalled);
    expect(told()).toEqual(marked);
    expect(run(fleet, 's/wild').healthReason).toBe('loss 8.00e78, at its best 3');
    expect(run(fleet, 's/endless').metrics['loss']).toBe(Infinity);
    await bed.killSupervisor();
    await waitFor('another supervisor', () => fleet.connection === 'reconnecting');
    await waitFor('the connection', () => fleet.connection === 'connected');
    await waitFor('what was written to be read', () => fleet.status.recalled);
    expect(told()).toEqual(marked);
    expect(run(fleet, 's/endless').metrics['loss']).toBe(Infinity);
  });
});
