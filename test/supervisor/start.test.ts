import { afterEach, beforeEach, expect, it } from 'vitest';
import type { StartRule } from '../../src/spec/planned-run.js';
import { datedText, timeOfDayText } from '../../src/text/zoned-time.js';
import { Testbed, untilState, waitFor } from './testbed.js';

let bed: Testbed;
beforeEach(() => void (bed = new Testbed()));
afterEach(() => bed.close());

const environment = { PATH: process.env['PATH']! };
const zone = 'UTC';

/** The time of day that UTC shows some seconds from now. */
function clockIn(seconds: number): string {
  return timeOfDayText((Math.ceil(Date.now() / 1000) + seconds + 86_400) % 86_400);
}

/** A run that writes all the time. */
function plan(start?: StartRule) {
  const argv: [string, ...string[]] = ['sh', '-c', 'while test ! -e end; do echo up >> ups; sleep 0.05; done'];
  const directory = bed.path('s', 'a');
  return bed.plan('s', [{ name: 'a', argv, cwd: directory, directory, ...(start === undefined ? {} : { start }) }]);
}

it('suspends what runs when its window ends, also over the death of a supervisor, and continues it when there is none', async () => {
  const fleet = await bed.fleet();
  const window: [string, string] = [clockIn(-3600), clockIn(2)];
  await fleet.submit(plan({ zone, between: window, outside: 'pause' }), environment, { slots: 1, gpus: 'none' });
  await untilState(fleet, 's/a', 'running');
  const paused = await untilState(fleet, 's/a', 'paused');
  expect(paused.reason).toBe(`continues at ${window[0]}`);
  await bed.killSupervisor();
  const again = await bed.fleet();
  await untilState(again, 's/a', 'paused');
  const written = bed.text('s', 'a', 'ups').length;
  await again.submit(plan(), environment, { slots: 1, gpus: 'none' });
  await untilState(again, 's/a', 'running');
  await waitFor('the run to write again', () => bed.text('s', 'a', 'ups').length > written);
});

it('starts at once what became due while no supervisor was there', async () => {
  const fleet = await bed.fleet();
  const due = Math.ceil(Date.now() / 1000) * 1000 + 1000;
  await fleet.submit(plan({ zone, at: datedText(zone, due) }), environment, { slots: 1, gpus: 'none' });
  expect(fleet.runs.get([...fleet.runs.keys()][0]!)!.startsAt).toBe(due);
  await bed.killSupervisor();
  await waitFor('the time to pass', () => Date.now() > due);
  const again = await bed.fleet();
  const run = await untilState(again, 's/a', 'running');
  expect([run.attempt, run.startedAt! >= due]).toEqual([1, true]);
});
