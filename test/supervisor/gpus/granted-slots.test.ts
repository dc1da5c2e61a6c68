import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestedSlots } from '../../../src/client/fleet.js';
import { usableCores } from '../../../src/processes/usable-cores.js';
import { Testbed, untilSettled, waitFor } from '../testbed.js';

const environment = { PATH: process.env['PATH']! };

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

/** Submits one more run, lets it end, and gives the slots there are then. */
async function slotsAfter(fleet: Awaited<ReturnType<Testbed['fleet']>>, wish: RequestedSlots): Promise<number> {
  await fleet.submit(bed.plan('s', [{ name: `r${fleet.runs.size}` }]), environment, { gpus: 'none', ...wish });
  await untilSettled(fleet);
  return fleet.status.cpu.slots;
}

describe('slots that a person has given', () => {
  it('stay with the next submit, when everything has settled, until a wish says otherwise', async () => {
    const fleet = await bed.fleet();
    expect(await slotsAfter(fleet, {})).toBe(usableCores());
    await fleet.request({ verb: 'set-slots', slots: { slots: 5 } });
    expect(await slotsAfter(fleet, {})).toBe(5);
    expect(await slotsAfter(fleet, { slots: 3 })).toBe(3);
    expect(await slotsAfter(fleet, {})).toBe(3);
  });

  it('stay when the supervisor is another', async () => {
    const fleet = await bed.fleet();
    await slotsAfter(fleet, {});
    await fleet.request({ verb: 'set-slots', slots: { slots: 5 } });
    await bed.killSupervisor();
    await waitFor('the next supervisor', () => fleet.connection === 'connected' && bed.supervisorPid());
    expect(await slotsAfter(fleet, {})).toBe(5);
  });
});
