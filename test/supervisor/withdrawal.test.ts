import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fleet } from '../../src/client/fleet.js';
import { readRunRecord } from '../../src/files/run-directory/run-record-file.js';
import { tiered } from '../tiers.js';
import { shimPid, Testbed, untilState, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']! };
const TWO_DAYS = 2 * 86_400_000;

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

const preload = (file: string) => `--import=${pathToFileURL(resolve('test/faults', file)).href}`;

/** A client whose supervisors die one after the other at these operations (see `die-at.mjs`); the last one lives, in another time. */
async function fleetOf(deaths: readonly string[]): Promise<Fleet> {
  const lives = [...deaths];
  const programs = await bed.programs();
  const given = {
    ...programs.environment,
    MEMRL_FAULT_LOG: bed.path('.deaths'),
    NODE_OPTIONS: ['die-at.mjs', 'shift-clock.mjs'].map(preload).join(' '),
  };
  Object.defineProperty(given, 'MEMRL_CLOCK_SHIFT_MS', {
    enumerable: true,
    get: () => String(lives.length === 0 ? TWO_DAYS : 0),
  });
  Object.defineProperty(given, 'MEMRL_FAULT', { enumerable: true, get: () => lives.shift() ?? '' });
  return bed.fleet({ ...programs, environment: given });
}

/** What is recorded of a run: number and end of each attempt. */
const recorded = () =>
  readRunRecord(bed.path('s/run0'))?.attempts.map(({ number, outcome }) => [number, outcome?.kind ?? null]);

/** A run that says which attempt it is, and waits for its gate. */
const gated = `echo start $MEMRL_ATTEMPT >> "$OUT"; while ! test -e "$OUT.gate"; do sleep 0.02; done`;
const started = () => bed.text('.out');

async function launched(fleet: Fleet): Promise<void> {
  const plan = bed.plan('s', [{ argv: ['sh', '-c', `OUT=${bed.path('.out')}; ${gated}`] }]);
  await waitFor('the submit to be heard', async () => {
    return (await fleet.submit(plan, environment, { slots: 1, gpus: 'none' })).ok;
  });
}

describe('an attempt that was to be made when its supervisor died', () => {
  tiered(['claim:1:before', 'claim:2:torn', 'claim:3:after', 'claim:1:after', 'claim:2:after', 'claim:3:before'], 3)(
    'is not an attempt, though the next one died at taking it back (%s), and the clock was set forward',
    async (death) => {
      const fleet = await fleetOf(['attempt:1:after', death]);
      await launched(fleet);
      await waitFor('the second attempt', () => started() !== '');
      writeFileSync(bed.path('.out.gate'), '');
      await waitFor('its end', () => recorded()?.[0]?.[1]);
      const [, , moment] = death.split(':');
      expect(bed.text('.deaths')).toBe(`attempt after\nclaim ${moment}\n`);
      expect(started()).toBe('start 2\n');
      expect(recorded()).toEqual([[2, 'done']]);
    },
  );
});

describe('an attempt that was said to be up, and whose shim had not come to claim it', () => {
  async function cutOff(): Promise<void> {
    const first = await bed.fleet();
    await launched(first);
    await waitFor('it to be up', () => started() !== '');
    await waitFor('its record', () => recorded()?.length === 1);
    first.close();
    await bed.killSupervisor();
    process.kill(-shimPid(bed.path('s/run0'))!, 'SIGKILL');
    rmSync(bed.path('.out'));
  }

  async function isMadeAnew(number: number): Promise<void> {
    const fleet = await bed.fleet();
    await waitFor('the next attempt', () => started() !== '');
    writeFileSync(bed.path('.out.gate'), '');
    await untilState(fleet, 's/run0', 'done');
    await waitFor('its record', () => recorded()?.at(-1)?.[1] === 'done');
    expect(recorded()).toEqual([[number, 'done']]);
    expect(started()).toBe(`start ${number}\n`);
  }

  it('never ran, so it is not lost: another one is made', async () => {
    await cutOff();
    rmSync(bed.path('s/run0/attempts/1/pid'));
    await isMadeAnew(2);
  });

  it('leaves no trace in the record, though who found it out died before it wrote that', async () => {
    await cutOff();
    rmSync(bed.path('s/run0/attempts/1/pid'));
    const event = { type: 'launch-withdrawn', at: Date.now(), id: 's/run0', attempt: 1 };
    appendFileSync(bed.path('.supervisor/journal.jsonl'), `${JSON.stringify(event)}\n`);
    // The number of the launch that was decided by then, and not made, is used up.
    await isMadeAnew(3);
  });
});
