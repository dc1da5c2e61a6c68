import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import { readRunRecord } from '../../src/files/run-directory/run-record-file.js';
import { readStat } from '../../src/processes/process-identity.js';
import { run, shimPid, Testbed, untilSettled, untilState, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']! };

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

/** A command that counts its starts, waits for `gate`, and ends with `code`. */
function gated(name: string, code = 0) {
  const script = `echo start >> ${bed.path('starts')}-${name}; while ! test -e ${bed.path('gate')}; do sleep 0.02; done; exit ${code}`;
  return { name, argv: ['sh', '-c', script] };
}

const parentOf = (pid: number) => readStat(pid)?.parent;
const starts = (name: string) => bed.text(`starts-${name}`).split('\n').length - 1;
const openGate = () => writeFileSync(bed.path('gate'), '');

describe('after kill -9 of the supervisor', () => {
  it('the living are adopted, the codes of the dead are read, nothing is lost and nothing starts twice', async () => {
    const first = await bed.fleet();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await first.submit(
      bed.plan(
        's',
        names.map((name, code) => gated(name, code)),
      ),
      environment,
      { slots: 4 },
    );
    await waitFor('four to be up', () => ['a', 'b', 'c', 'd'].every((name) => starts(name) === 1));
    first.close();
    await bed.killSupervisor();
    // Two end while nobody is there.
    process.kill(-shimPid(bed.path('s/a'))!, 'SIGKILL');
    process.kill(-shimPid(bed.path('s/b'))!, 'SIGTERM');
    await waitFor('b to be dead', () => existsSync(bed.path('s/b/attempts/1/exit')));

    const second = await bed.fleet();
    expect(run(second, 's/c')).toMatchObject({ state: 'running', attempt: 1 });
    const { pid } = await waitFor('its process', () => (run(second, 's/c').pid === null ? null : run(second, 's/c')));
    expect(parentOf(pid!)).toBe(shimPid(bed.path('s/c')));
    openGate();
    await untilSettled(second);
    expect(names.map((name) => run(second, `s/${name}`).state)).toEqual([
      'lost',
      'failed',
      'failed',
      'failed',
      'failed',
      'failed',
    ]);
    expect(names.map((name) => run(second, `s/${name}`).exit)).toMatchObject([
      { class: 'lost' },
      { class: 'signal', signal: 'SIGTERM' },
      ...[2, 3, 4, 5].map((code) => ({ class: 'failed', code })),
    ]);
    expect(names.map(starts)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(readRunRecord(bed.path('s/b'))?.attempts).toMatchObject([{ number: 1, outcome: { kind: 'signal' } }]);
  });

  it('again and again, all runs end, each started once', { tags: ['long'] }, async () => {
    const fleet = await bed.fleet();
    const count = 40;
    const runs = Array.from({ length: count }, (_, n) => ({
      name: `r${n}`,
      argv: ['sh', '-c', `echo start >> ${bed.path('starts')}-r${n}; sleep 0.0${n % 10}; exit ${n % 3}`],
    }));
    await fleet.submit(bed.plan('s', runs), environment, { slots: 4 });
    // The fleet itself starts the next supervisor as soon as it has lost the last.
    for (let round = 0; round < 4; round++) {
      await waitFor('some progress', () => starts(`r${6 + round * 8}`) > 0);
      await bed.killSupervisor();
      await waitFor('another supervisor', () => bed.supervisorPid());
    }
    await waitFor('the end', () => fleet.connection === 'connected' && fleet.status.settled);
    expect(runs.map(({ name }) => starts(name))).toEqual(Array(count).fill(1));
    const summaries = [...fleet.runs.values()];
    expect(summaries.map(({ state }) => state)).toEqual(runs.map((_, n) => (n % 3 === 0 ? 'done' : 'failed')));
    expect(summaries.map(({ exit }) => exit?.code)).toEqual(runs.map((_, n) => n % 3));
  });

  it('a launch that was decided but not made is made once', async () => {
    const first = await bed.fleet();
    await first.submit(bed.plan('s', [gated('a'), gated('b')]), environment, { slots: 1 });
    await waitFor('a to be up', () => starts('a') === 1);
    first.close();
    await bed.killSupervisor();
    // As if it had died after it wrote down the slots and before it did what follows from that.
    const journal = bed.path('.supervisor/journal.jsonl');
    appendFileSync(journal, `${JSON.stringify({ type: 'slots-changed', at: Date.now(), cpus: 2, gpus: [] })}\n`);
    const second = await bed.fleet();
    await untilState(second, 's/b', 'running');
    openGate();
    await untilSettled(second);
    expect([starts('a'), starts('b')]).toEqual([1, 1]);
    // Its number is the one its process was told: the first was used up by the launch that was not made.
    expect(run(second, 's/b')).toMatchObject({ state: 'done', attempt: 2 });
    expect(existsSync(bed.path('s/b/attempts/2'))).toBe(true);
  });

  it('a run that was being stopped is still stopped, by force when its time is up', async () => {
    const first = await bed.fleet();
    const deaf = { argv: ['sh', '-c', 'trap "" TERM; echo up; while :; do sleep 0.05; done'], grace: 1 };
    await first.submit(bed.plan('s', [deaf]), environment, { slots: 1 });
    await waitFor('it to be up', () => bed.text('s/run0/output.log') === 'up\n');
    await first.act('kill', [RunId.parse('s/run0')]);
    first.close();
    await bed.killSupervisor();
    const second = await bed.fleet();
    await untilState(second, 's/run0', 'killed');
    expect(shimPid(bed.path('s/run0'))).not.toBeNull();
  });

  it('a torn line at the end of the journal is left out and told of', async () => {
    const first = await bed.fleet();
    await first.submit(bed.plan('s', [gated('a')]), environment, { slots: 1 });
    await waitFor('a to be up', () => starts('a') === 1);
    first.close();
    await bed.killSupervisor();
    appendFileSync(bed.path('.supervisor/journal.jsonl'), '{"type":"run-ended","at":1,"id":"s/a"\0\0\0');
    const second = await bed.fleet();
    expect(run(second, 's/a').state).toBe('running');
    expect(bed.text('.supervisor/log')).toContain('is torn and was skipped: {"type":"run-ended"');
    openGate();
    await untilState(second, 's/a', 'done');
  });

  it('the window finds the next supervisor by itself', async () => {
    const fleet = await bed.fleet();
    await fleet.submit(bed.plan('s', [gated('a')]), environment, { slots: 1 });
    await untilState(fleet, 's/a', 'running');
    const other = (await bed.attach())!;
    await bed.killSupervisor();
    await waitFor(
      'the loss to be noticed',
      () => fleet.connection === 'reconnecting' && other.connection === 'reconnecting',
    );
    expect(run(fleet, 's/a').state).toBe('running');
    await waitFor('both to be back', () => fleet.connection === 'connected' && other.connection === 'connected');
    openGate();
    await untilState(other, 's/a', 'done');
    await untilState(fleet, 's/a', 'done');
  });

  it('a sweep whose commands are gone is given up, and comes back with the next submit', async () => {
    const first = await bed.fleet();
    const plan = bed.plan('s', [{ argv: ['true'] }]);
    await first.submit(plan, environment, { slots: 1 });
    await untilState(first, 's/run0', 'done');
    first.close();
    await bed.killSupervisor();
    renameSync(bed.path('.supervisor/plans'), bed.path('.supervisor/moved'));
    const second = await bed.fleet();
    expect([...second.runs.keys()]).toEqual([]);
    expect(await second.submit(plan, environment, { slots: 1 })).toMatchObject({
      ok: true,
      message: '0 runs to do, 1 already done',
    });
  });

  it.each([
    { what: 'plans', gone: '.supervisor/plans' },
    { what: 'whole memory', gone: '.supervisor' },
  ])(
    'a run that outlives the $what of its supervisor is taken over, and not started beside itself',
    async ({ gone }) => {
      const first = await bed.fleet();
      const plan = bed.plan('s', [gated('a', 3), gated('b')]);
      await first.submit(plan, environment, { slots: 2, gpus: 'none' });
      await waitFor('both to be up', () => starts('a') + starts('b') === 2);
      const pid = await waitFor('its process', () => run(first, 's/a').pid);
      first.close();
      await bed.killSupervisor();
      renameSync(bed.path(gone), bed.path('.moved'));
      const second = await bed.fleet();
      expect([...second.runs.keys()]).toEqual([]);
      await second.submit(plan, environment, { slots: 2, gpus: 'none' });
      expect(await untilState(second, 's/a', 'running')).toMatchObject({ attempt: 2 });
      await waitFor('its process', () => run(second, 's/a').pid === pid);
      await waitFor('the warning', () => run(second, 's/a').warning);
      expect(run(second, 's/a').warning).toBe('attempt 1 was still running and continues: it was not started again');
      await untilState(second, 's/b', 'running');
      // Another death: what was taken over stays so.
      await bed.killSupervisor();
      await waitFor('the next supervisor', () => second.connection === 'connected' && bed.supervisorPid());
      await second.act('kill', [RunId.parse('s/b')]);
      await untilState(second, 's/b', 'killed');
      openGate();
      expect(await untilState(second, 's/a', 'failed')).toMatchObject({ exit: { code: 3 }, attempt: 2 });
      expect([starts('a'), starts('b')]).toEqual([1, 1]);
    },
  );
});

describe('the supervisor', () => {
  it('is one per runs directory: of ten started at once, one stays', async () => {
    const children = await Promise.all(Array.from({ length: 10 }, () => bed.spawnSupervisor()));
    await waitFor('nine to leave', () => children.filter(({ exitCode }) => exitCode === 0).length === 9);
    const stayed = children.filter(({ exitCode }) => exitCode === null);
    expect(stayed.map(({ pid }) => pid)).toEqual([bed.supervisorPid()]);
    // The others may be gone before it listens.
    await waitFor('it to answer', () => bed.attach());
  });

  it('takes over from a dead one, even when several try', async () => {
    await bed.fleet();
    await bed.killSupervisor();
    const children = await Promise.all(Array.from({ length: 5 }, () => bed.spawnSupervisor()));
    await waitFor('the others to leave', () => children.filter(({ exitCode }) => exitCode === 0).length >= 4);
    const fleets = await Promise.all([bed.fleet(), bed.fleet()]);
    expect(fleets.map(({ connection }) => connection)).toEqual(['connected', 'connected']);
  });

  it('ends by itself when nothing runs and nobody is there, leaving no lock', { tags: ['long'] }, async () => {
    const fleet = await bed.fleet();
    await fleet.submit(bed.plan('s', [{}]), environment, { slots: 1 });
    await untilState(fleet, 's/run0', 'done');
    fleet.close();
    await waitFor('its end', () => bed.supervisorPid() === null);
    await waitFor('its last word', () => bed.text('.supervisor/log').includes('nothing left to do'));
    expect(existsSync(bed.path('.supervisor/lock.json'))).toBe(false);
    expect(await bed.attach()).toBeNull();
    const again = await bed.fleet();
    expect(run(again, 's/run0').state).toBe('done');
  });

  it('leaves on a polite signal, and the runs go on', async () => {
    const fleet = await bed.fleet();
    await fleet.submit(bed.plan('s', [gated('a')]), environment, { slots: 1 });
    await waitFor('a to be up', () => starts('a') === 1);
    fleet.close();
    process.kill(bed.supervisorPid()!, 'SIGTERM');
    await waitFor('its end', () => bed.supervisorPid() === null);
    openGate();
    await waitFor('the run to end', () => bed.text('s/a/attempts/1/exit') === '0\n');
    const again = await bed.fleet();
    await untilState(again, 's/a', 'done');
  });

  it('says what is wrong when it cannot start', async () => {
    const first = await bed.fleet();
    first.close();
    await bed.killSupervisor();
    writeFileSync(bed.path('.supervisor/journal.jsonl'), '{"type":"journal","version":99}\n');
    await expect(bed.fleet()).rejects.toThrow(/did not start[^]*another version of memrl-tui/);
    expect(readFileSync(bed.path('.supervisor/journal.jsonl'), 'utf8')).toContain('99');
  });
});
