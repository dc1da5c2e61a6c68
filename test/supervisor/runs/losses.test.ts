import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fleet } from '../../../src/client/fleet.js';
import { run, Testbed, untilSettled, untilState, waitFor } from '../testbed.js';

const environment = { PATH: process.env['PATH']! };

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

const starts = (name: string) => bed.text(`starts-${name}`).length / 2;
const openGate = (name: string) => writeFileSync(bed.path(`gate-${name}`), '');
const journal = () => bed.path('.supervisor', 'journal.jsonl');
const kept = () => readdirSync(bed.path('.supervisor')).filter((name) => name.includes('damaged'));

/** A command that counts its starts, and ends when its gate is open. */
function gated(name: string) {
  const script = `echo x >> ${bed.path('starts')}-${name}; while ! test -e ${bed.path('gate')}-${name}; do sleep 0.05; done`;
  return { name, argv: ['sh', '-c', script] };
}

const plan = () => bed.plan('s', [gated('a'), gated('b'), gated('c')]);

/** `a` is done, `b` and `c` are up, and the supervisor is dead. */
async function orphaned(): Promise<void> {
  openGate('a');
  const fleet = await bed.fleet();
  await fleet.submit(plan(), environment, { slots: 3, gpus: 'none' });
  await untilState(fleet, 's/a', 'done');
  await waitFor('the others to be up', () => starts('b') + starts('c') === 2);
  // What a row shows is in the journal.
  for (const name of ['s/b', 's/c']) await untilState(fleet, name, 'running');
  await waitFor('the record of a', () => bed.text('s', 'a', 'run.json').includes('"done"'));
  fleet.close();
  await bed.killSupervisor();
}

/** Launches it again with room for one, lets everything end, and gives the rows. */
async function again(fleet: Fleet) {
  await fleet.submit(plan(), environment, { slots: 1, gpus: 'none' });
  await waitFor('both to be taken over', () => ['b', 'c'].every((name) => run(fleet, `s/${name}`).state === 'running'));
  for (const name of ['b', 'c']) openGate(name);
  await untilSettled(fleet);
  return ['a', 'b', 'c'].map((name) => [run(fleet, `s/${name}`).state, starts(name)]);
}

const garbage = Buffer.from(Array.from({ length: 4096 }, (_, n) => (n * 7919) % 256));

describe.each<{ what: string; harm: () => void; keeps: boolean }>([
  { what: 'deleted', harm: () => rmSync(journal()), keeps: false },
  { what: 'emptied', harm: () => writeFileSync(journal(), ''), keeps: false },
  { what: 'overwritten with garbage', harm: () => writeFileSync(journal(), garbage), keeps: true },
  { what: 'put in place of by a folder', harm: () => (rmSync(journal()), mkdirSync(journal())), keeps: true },
  {
    what: 'put in place of by a pipe',
    harm: () => (rmSync(journal()), void spawnSync('mkfifo', [journal()])),
    keeps: true,
  },
])('a journal that was $what while the supervisor was dead', ({ harm, keeps }) => {
  it(
    'is told of until the sweep is launched again, which starts nothing twice whatever room there is',
    { tags: ['long'] },
    async () => {
      await orphaned();
      harm();
      const first = await bed.fleet();
      expect(first.status.problem).toMatch(/launch s again: finished runs are skipped, running ones are taken over/);
      first.close();
      await bed.killSupervisor();
      const second = await bed.fleet();
      expect(second.status.problem).toMatch(/launch s again/);
      expect(await again(second)).toEqual([
        ['done', 1],
        ['done', 1],
        ['done', 1],
      ]);
      expect(second.status.problem).toBeNull();
      expect(kept()).toHaveLength(keeps ? 1 : 0);
      if (existsSync(bed.path('victim'))) expect(bed.text('victim')).toBe('mine');
    },
  );
});

it('what is damaged is kept as it was, once', { tags: ['long'] }, async () => {
  await orphaned();
  writeFileSync(journal(), garbage);
  for (let life = 0; life < 3; life++) {
    (await bed.fleet()).close();
    await bed.killSupervisor();
  }
  expect(kept().map((name) => readFileSync(bed.path('.supervisor', name)))).toEqual([garbage]);
});

it('a line in its midst that is damaged is told of, and the rest counts', async () => {
  await orphaned();
  const lines = bed.text('.supervisor', 'journal.jsonl').split('\n');
  const index = lines.findIndex((line) => line.includes('"run-started"') && line.includes('"s/b"'));
  lines[index] = `${lines[index]!.slice(0, 20)}\0\0${lines[index]!.slice(22)}`;
  writeFileSync(journal(), lines.join('\n'));
  const fleet = await bed.fleet();
  expect(fleet.status.problem).toMatch(/the journal was damaged \(1 lines?\); it is kept as .*damaged-[0-9a-f]{8}$/);
  for (const name of ['b', 'c']) openGate(name);
  await untilSettled(fleet);
  expect(['a', 'b', 'c'].map((name) => [run(fleet, `s/${name}`).state, starts(name)])).toEqual(
    Array(3).fill(['done', 1]),
  );
});

it('commands that are gone are told of until the sweep is launched again', { tags: ['long'] }, async () => {
  await orphaned();
  rmSync(bed.path('.supervisor', 'plans'), { recursive: true });
  const fleet = await bed.fleet();
  expect(fleet.status.problem).toMatch(/the commands of s were lost[^]*launch s again/);
  expect(await again(fleet)).toEqual(Array(3).fill(['done', 1]));
  expect(fleet.status.problem).toBeNull();
});

it('nothing is told where nothing was ever launched', async () => {
  mkdirSync(bed.path('s', 'notes'), { recursive: true });
  expect((await bed.fleet()).status.problem).toBeNull();
});
