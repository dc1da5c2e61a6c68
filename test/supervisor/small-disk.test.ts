import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import { ensureSupervisor } from '../../src/client/ensure-supervisor.js';
import type { Fleet } from '../../src/client/fleet.js';
import { canMount, SmallDisk } from './small-disk.js';
import { plan, run, untilSettled, untilState, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']! };
const isPossible = canMount('what becomes of a sweep whose disk runs full');

let disk: SmallDisk;
let fleets: Fleet[];
beforeEach(async () => {
  if (!isPossible) return;
  fleets = [];
  disk = await SmallDisk.mount('1m');
});
afterEach(async () => {
  if (!isPossible) return;
  fleets.forEach((fleet) => fleet.close());
  await disk.close();
});

async function supervised(): Promise<Fleet> {
  const fleet = await ensureSupervisor(disk.outside, await disk.programs());
  fleets.push(fleet);
  await fleet.ready();
  return fleet;
}

/** Counts its starts beside the disk, waits for its gate, and ends with `code`. */
function quiet(name: string, code: number) {
  const script = `echo x >> ${disk.beside(`starts-${name}`)}; while ! test -e ${disk.beside(`gate-${name}`)}; do sleep 0.05; done; exit ${code}`;
  return { name, argv: ['sh', '-c', script] };
}

/** Writes until there is no more room, and then tries for more, until its gate opens. */
function greedy(name: string) {
  const { argv } = quiet(name, 5);
  const script = argv[2]!.replace('do sleep', 'do head -c 65536 /dev/zero 2> /dev/null; sleep');
  return { name, argv: ['sh', '-c', script] };
}

const starts = (name: string) => {
  const path = disk.beside(`starts-${name}`);
  return existsSync(path) ? readFileSync(path, 'utf8').length / 2 : 0;
};
const openGate = (name: string) => writeFileSync(disk.beside(`gate-${name}`), '');
const isFull = () => disk.free === 0;

const later = Array.from({ length: 30 }, (_, n) => `later${n}`);

/** Those that small things are asked of. */
const asked = later.slice(-10).map((name) => RunId.parse(`s/${name}`));

/** A sweep on three slots, of which one run has filled the disk. */
async function filled(): Promise<Fleet> {
  const fleet = await supervised();
  later.forEach(openGate);
  const runs = [greedy('greedy'), quiet('early', 4), quiet('late', 3), ...later.map((name, n) => quiet(name, n % 2))];
  const swept = plan(disk.inside, 's', runs);
  expect(await fleet.submit(swept, environment, { slots: 3, gpus: 'none' })).toMatchObject({ ok: true });
  await waitFor('the disk to be full', isFull);
  await waitFor('all slots to be taken', () => starts('late') === 1);
  return fleet;
}

function makeSpace(): void {
  openGate('greedy');
  truncateSync(join(disk.outside, 's', 'greedy', 'output.log'), 0);
}

/** There is room again, and nothing is left to wait for. */
async function endInPeace(fleet: Fleet): Promise<void> {
  makeSpace();
  openGate('late');
  await waitFor('a supervisor', () => fleet.connection === 'connected');
  // The last thing that was promised while the disk ran full may be that they are held.
  await fleet.act('release', asked);
  await untilSettled(fleet);
}

/** Every run was started once and ended with its own code. */
function expectAllWell(fleet: Fleet): void {
  const names = ['greedy', 'early', 'late', ...later];
  expect(Object.fromEntries(names.map((name) => [name, starts(name)]))).toEqual(
    Object.fromEntries(names.map((name) => [name, 1])),
  );
  const codes = Object.fromEntries(names.map((name) => [name, run(fleet, `s/${name}`).exit?.code]));
  expect(codes).toEqual({ greedy: 5, early: 4, late: 3, ...Object.fromEntries(later.map((name, n) => [name, n % 2])) });
}

/** Asks for small things until the journal has no room for one more; gives what is said then. */
async function askUntilRefused(fleet: Fleet): Promise<string> {
  return waitFor('a refusal', async () => {
    for (const verb of ['hold', 'release'] as const) {
      const ack = await fleet.act(verb, asked);
      if (!ack.ok) return `${ack.message} ${ack.fix}`;
    }
    return null;
  });
}

describe.skipIf(!isPossible)('a disk that runs full in the middle of a sweep', () => {
  it('is named, uses up no run, and holds nothing up for longer than it is full', { tags: ['long'] }, async () => {
    const fleet = await filled();
    openGate('early');
    const early = await untilState(fleet, 's/early', 'failed');
    expect(early).toMatchObject({ exit: { code: 4 }, reason: 'the disk of its directory was full when it ended' });
    const first = await untilState(fleet, 's/later0', 'starting');
    await waitFor('the problem', () => fleet.status.problem);
    expect(fleet.status.problem).toBe(
      `no run can be started right now: cannot write to ${first.directory}: the disk is full`,
    );
    expect(run(fleet, 's/later0').reason).toMatch(/^cannot be started right now, will be retried: .*the disk is full$/);
    expect(await askUntilRefused(fleet)).toMatch(/so it was not done: ENOSPC.* Free some space/);
    expect(fleet.status.problem).toMatch(/^the disk of the runs directory is full, nothing is started until/);
    const more = plan(disk.inside, 'more', [quiet('more', 0)]);
    expect(await fleet.submit(more, environment, {})).toMatchObject({
      ok: false,
      message: expect.stringMatching(/so it was not done: ENOSPC/) as string,
      fix: expect.stringContaining('Free some space') as string,
    });
    expect([run(fleet, 's/greedy').state, run(fleet, 's/late').state]).toEqual(['running', 'running']);

    await endInPeace(fleet);
    expectAllWell(fleet);
    expect(fleet.status.problem).toBeNull();
    await waitFor('the record', () => disk.text('s', 'early', 'run.json').includes('"code": 4'));
    expect(disk.text('.supervisor', 'log').split('\n').length).toBeLessThan(20);
  });

  it(
    'takes nothing away when the supervisor is killed, and a run ends with nobody there',
    { tags: ['long'] },
    async () => {
      const fleet = await filled();
      await askUntilRefused(fleet);
      await disk.killSupervisor();
      openGate('early');
      const exit = join(disk.outside, 's', 'early', 'attempts', '1', 'exit');
      await waitFor('the end of early', () => existsSync(exit));
      await waitFor('the problem', () => fleet.problem);
      expect(fleet.problem).toMatch(/did not start.\nNothing can be written there: ENOSPC/);
      await endInPeace(fleet);
      expectAllWell(fleet);
      expect(readdirSync(join(disk.outside, '.supervisor')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    },
  );
});
