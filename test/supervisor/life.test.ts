import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import type { Fleet } from '../../src/client/fleet.js';
import { readRunRecord } from '../../src/files/run-directory/run-record-file.js';
import { Resources } from '../../src/spec/planned-run.js';
import { run, Testbed, untilSettled, untilState, waitFor } from './testbed.js';
import { removeFolder } from '../remove-folder.js';

const environment = { PATH: process.env['PATH']! };
const forever = ['sleep', '600'];
const id = (text: string) => RunId.parse(text);

let bed: Testbed;
let fleet: Fleet;
beforeAll(async () => {
  bed = new Testbed();
  fleet = await bed.fleet();
});
afterAll(() => bed.close());
// One supervisor for all: what a test leaves is stopped, forgotten and removed.
afterEach(async () => {
  await fleet.request({ verb: 'stop-sweep', sweep: 's' });
  await untilSettled(fleet);
  expect(await fleet.request({ verb: 'forget-sweep', sweep: 's' })).toMatchObject(
    fleet.sweeps.has('s') ? { ok: true } : {},
  );
  for (const name of readdirSync(bed.runs)) if (!name.startsWith('.')) removeFolder(bed.path(name));
});

describe('a sweep under the supervisor', () => {
  it('runs to its end, with the exit codes and the reasons of its runs', async () => {
    const plan = bed.plan('s', [
      { name: 'good', argv: ['sh', '-c', 'echo hello; echo $MEMRL_RUN'] },
      { name: 'bad', argv: ['sh', '-c', 'echo "ValueError: too small" >&2; exit 3'] },
      { name: 'crash', argv: ['sh', '-c', 'kill -SEGV $$'] },
      { name: 'missing', argv: ['no-such-program'] },
      { name: 'nowhere', cwd: '/no/such/folder' },
    ]);
    expect(await fleet.submit(plan, environment, { slots: 2 })).toMatchObject({ ok: true });
    await untilSettled(fleet);
    expect(run(fleet, 's/good')).toMatchObject({ state: 'done', attempt: 1, exit: { class: 'done', code: 0 } });
    expect(run(fleet, 's/bad')).toMatchObject({ state: 'failed', reason: 'ValueError: too small', exit: { code: 3 } });
    expect(run(fleet, 's/crash')).toMatchObject({ state: 'failed', exit: { class: 'signal', signal: 'SIGSEGV' } });
    expect(run(fleet, 's/missing')).toMatchObject({ state: 'failed', reason: 'command not found: no-such-program' });
    expect(run(fleet, 's/nowhere')).toMatchObject({
      ...{ state: 'failed', reason: 'working directory /no/such/folder does not exist' },
    });
    expect(bed.text('s/good/output.log')).toBe('hello\ns/good\n');
    expect(readRunRecord(bed.path('s/bad'))?.attempts).toMatchObject([
      { number: 1, outcome: { kind: 'failed', code: 3 } },
    ]);
  });

  it('keeps to its slots, and takes more when it gets more', async () => {
    const runs = Array.from({ length: 4 }, () => ({ argv: forever }));
    await fleet.submit(bed.plan('s', runs), environment, { slots: 2 });
    await waitFor('two to run', () => [...fleet.runs.values()].filter(({ state }) => state === 'running').length === 2);
    expect(run(fleet, 's/run2')).toMatchObject({ state: 'queued', reason: 'waiting for a slot (2 of 2 busy)' });
    expect(run(fleet, 's/run1').slot).toBe('cpu 1');
    await fleet.request({ verb: 'set-slots', slots: { slots: 3 } });
    await untilState(fleet, 's/run2', 'running');
    expect(run(fleet, 's/run3').state).toBe('queued');
    // The status comes after the rows.
    await expect.poll(() => fleet.status).toMatchObject({ cpu: { slots: 3, busy: 3 }, settled: false });
  });

  it('starts a group when the one it needs is done, and says which failed when it is not', async () => {
    const groups = [
      { name: 'warmup' },
      { name: 'broken' },
      { name: 'A', needs: ['warmup'] },
      { name: 'B', needs: ['broken'] },
    ];
    const runs = [
      { name: 'w', group: 'warmup', argv: ['touch', bed.path('warm')] },
      { name: 'x', group: 'broken', argv: ['false'] },
      { name: 'a', group: 'A', argv: ['test', '-e', bed.path('warm')] },
      { name: 'b', group: 'B' },
    ];
    await fleet.submit(bed.plan('s', runs, groups), environment, { slots: 1 });
    await untilSettled(fleet);
    expect(run(fleet, 's/a').state).toBe('done');
    expect(run(fleet, 's/b')).toMatchObject({ state: 'queued', reason: 'needs broken, which failed', attempt: 0 });
  });

  it('takes exit code 0 for done only where the sweep file asks for no more', async () => {
    const done = { file: 'checkpoints.jsonl', where: 'name == "final"' };
    const finish = `echo '{"name":"final","batch":3}' > checkpoints.jsonl`;
    const runs = ['full', 'short'].map((name) => {
      const directory = bed.path('s', name);
      return { name, directory, done, argv: ['sh', '-c', `cd ${directory}; ${name === 'full' ? finish : 'true'}`] };
    });
    await fleet.submit(bed.plan('s', runs), environment, { slots: 2 });
    await untilSettled(fleet);
    expect(run(fleet, 's/full').state).toBe('done');
    expect(run(fleet, 's/short')).toMatchObject({
      ...{ state: 'failed', reason: expect.stringContaining('no final checkpoint') as string },
    });
  });

  it('shows what the metrics say, and ends a run as done when its rule is met', async () => {
    const directory = bed.path('s/m');
    const rows = `cd ${directory}; i=0; while :; do i=$((i+1)); echo "{\\"step\\": $i, \\"bits/known\\": $i}" >> metrics.jsonl; sleep 0.02; done`;
    const stopWhen = { when: 'bits_known >= limit', for: 3 };
    const metrics = { show: ['bits/known'], x: 'step', progress: { key: 'step', total: 1000 } };
    const plan = bed.plan('s', [
      { name: 'm', directory, argv: ['sh', '-c', rows], parameters: { limit: 20 }, stopWhen, metrics, grace: 1 },
    ]);
    await fleet.submit(plan, environment, { slots: 1 });
    const ended = await untilState(fleet, 's/m', 'done');
    expect(ended).toMatchObject({ reason: 'stopped: bits_known >= limit', exit: { class: 'done' } });
    expect(ended.metrics['bits/known']).toBeGreaterThanOrEqual(22);
    expect(ended.spark.length).toBeGreaterThan(10);
    expect(readRunRecord(directory)?.attempts[0]?.outcome).toEqual({ kind: 'done', rule: 'bits_known >= limit' });
  });

  it('counts the attempts in the command, and adds what a resumed run is told', async () => {
    const argv = ['sh', '-c', 'echo "$@"; exit 1', 'sh', 'try-${attempt}'];
    await fleet.submit(bed.plan('s', [{ argv, resumeArgs: ['--resume'] }]), environment, { slots: 1 });
    await untilState(fleet, 's/run0', 'failed');
    expect(await fleet.act('resume', [id('s/run0')])).toEqual({ ok: true, message: '1 run queued again' });
    await waitFor(
      'the second attempt',
      () => run(fleet, 's/run0').attempt === 2 && run(fleet, 's/run0').state === 'failed',
    );
    expect(bed.text('s/run0/output.log')).toMatch(/^try-1\n\n──── attempt 2.*────\ntry-2 --resume\n$/s);
  });

  it('keeps the environment to its owner, out of journal, records and arguments', async () => {
    const secret = 'sekret-4711';
    const plan = bed.plan('s', [{ argv: ['sh', '-c', 'test -n "$TOKEN" && sleep 600'] }]);
    await fleet.submit(plan, { ...environment, TOKEN: secret }, { slots: 1 });
    await untilState(fleet, 's/run0', 'running');
    const holders = execFileSync('grep', ['-rl', secret, bed.runs], { encoding: 'utf8' }).trim().split('\n');
    expect(holders.map((path) => path.replace(/[0-9a-f]{16}/, 'HASH'))).toEqual([
      bed.path('.supervisor/environments/HASH.json'),
    ]);
    expect(statSync(holders[0]!).mode & 0o777).toBe(0o600);
    expect(statSync(bed.path('.supervisor')).mode & 0o077).toBe(0);
    expect(statSync(bed.path('.supervisor/executor')).mode & 0o077).toBe(0);
    expect(JSON.stringify([...fleet.runs.values()])).not.toContain(secret);
    const lock = JSON.parse(readFileSync(bed.path('.supervisor/lock.json'), 'utf8')) as { socket: string };
    expect(statSync(lock.socket).mode & 0o777).toBe(0o600);
  });
});

describe('a person', () => {
  it('ends a run politely, then by force; twice is once', async () => {
    const deaf =
      'trap "" TERM; setsid sh -c \'trap "" TERM; while :; do sleep 0.1; done\' & while :; do sleep 0.1; done';
    await fleet.submit(bed.plan('s', [{ argv: ['sh', '-c', deaf], grace: 3 }]), environment, { slots: 1 });
    await untilState(fleet, 's/run0', 'running');
    expect(await fleet.act('kill', [id('s/run0')])).toEqual({ ok: true, message: '1 run being stopped' });
    expect(run(fleet, 's/run0')).toMatchObject({ state: 'stopping', killAt: expect.any(Number) as number });
    expect(await fleet.act('kill', [id('s/run0')])).toMatchObject({ ok: false, message: 's/run0 is stopping already' });
    expect(await untilState(fleet, 's/run0', 'killed')).toMatchObject({ exit: { class: 'killed' }, slot: null });
  });

  it('takes a waiting run out of the queue, and resumes what was killed', async () => {
    await fleet.submit(bed.plan('s', [{ argv: forever }, { argv: ['true'] }]), environment, { slots: 1 });
    await fleet.act('kill', [id('s/run1')]);
    expect(run(fleet, 's/run1')).toMatchObject({ state: 'killed', attempt: 0 });
    await fleet.act('kill', [id('s/run0')]);
    await untilState(fleet, 's/run0', 'killed');
    expect(await fleet.act('resume', [id('s/run1'), id('s/nobody')])).toEqual({
      ...{ ok: true, message: '1 run queued again; 1 not: s/nobody is not known here' },
    });
    await untilState(fleet, 's/run1', 'done');
    expect(await fleet.act('resume', [id('s/run1')])).toMatchObject({
      ok: false,
      message: expect.stringContaining('is done') as string,
    });
  });

  it('stops a whole sweep, and may then forget it', async () => {
    await fleet.submit(bed.plan('s', [{ argv: forever }, { argv: forever }]), environment, { slots: 1 });
    await untilState(fleet, 's/run0', 'running');
    expect(await fleet.request({ verb: 'forget-sweep', sweep: 's' })).toMatchObject({ ok: false });
    expect(await fleet.request({ verb: 'stop-sweep', sweep: 's' })).toMatchObject({
      ok: true,
      message: '2 runs being stopped',
    });
    await untilState(fleet, 's/run0', 'killed');
    expect(await fleet.request({ verb: 'forget-sweep', sweep: 's' })).toMatchObject({ ok: true });
    expect([...fleet.runs.keys(), ...fleet.sweeps.keys()]).toEqual([]);
  });

  it('submits a sweep again: what is done stays, what lives is left alone, the rest goes on, new runs are added', async () => {
    const counted = (name: string, more: string) => ({
      name,
      argv: ['sh', '-c', `echo x >> ${bed.path(name)}; ${more}`],
    });
    const first = [counted('done', 'true'), counted('living', 'sleep 600'), counted('failing', 'exit 1')];
    await fleet.submit(bed.plan('s', first), environment, { slots: 3 });
    await untilState(fleet, 's/done', 'done');
    await untilState(fleet, 's/living', 'running');
    await untilState(fleet, 's/failing', 'failed');
    const second = [...first, counted('new', 'true')];
    expect(await fleet.submit(bed.plan('s', second), environment, {})).toEqual({
      ...{ ok: true, message: '2 runs to do, 1 in progress, 1 already done' },
    });
    await untilState(fleet, 's/new', 'done');
    await waitFor('the second attempt', () => run(fleet, 's/failing').attempt === 2);
    expect(['done', 'living', 'failing', 'new'].map((name) => bed.text(name))).toEqual(['x\n', 'x\n', 'x\nx\n', 'x\n']);
    expect(fleet.status.cpu.slots).toBe(3);
  });

  it('is told when a directory belongs to another run of that name', async () => {
    await fleet.submit(bed.plan('s', [{ identity: 'one' }]), environment, { slots: 1 });
    await untilState(fleet, 's/run0', 'done');
    const ack = await fleet.submit(bed.plan('s', [{ identity: 'two', parameters: { index: 7 } }]), environment, {
      slots: 1,
    });
    expect(ack).toMatchObject({ ok: false, message: expect.stringContaining('holds another run') as string });
  });

  it('is told when there is no such GPU', async () => {
    const ack = await fleet.submit(bed.plan('s', [{}]), { PATH: '/nonexistent' }, { gpus: [3] });
    expect(ack).toEqual({
      ok: false,
      message: 'There is no GPU 3 on this machine: nvidia-smi was not found.',
      fix: 'Choose existing GPUs, or `none`.',
    });
  });
});

describe('GPUs', () => {
  it('are found, shared as agreed, and given to their runs alone', async () => {
    const fake = { PATH: `${join(process.cwd(), 'test/fixtures')}:${process.env['PATH']}`, FAKE_GPUS: '2' };
    const resources = Resources.parse({ gpus: 'auto' });
    const argv = ['sh', '-c', 'echo "$CUDA_VISIBLE_DEVICES"; sleep 600'];
    const runs = Array.from({ length: 5 }, () => ({ argv, resources }));
    await fleet.submit(bed.plan('s', runs), fake, { perGpu: 2 });
    await untilState(fleet, 's/run3', 'running');
    expect([0, 1, 2, 3].map((n) => run(fleet, `s/run${n}`).slot)).toEqual(['gpu 0', 'gpu 1', 'gpu 0', 'gpu 1']);
    expect(run(fleet, 's/run4').reason).toBe('waiting for a GPU (2 of 2 busy)');
    await waitFor('the log', () => bed.text('s/run3/output.log') === '1\n');
    await expect
      .poll(() => fleet.status.gpus.map(({ index, runs: there }) => [index, there]))
      .toEqual([
        [0, ['s/run0', 's/run2']],
        [1, ['s/run1', 's/run3']],
      ]);
  });
});

describe('a directory with a past that this supervisor does not know', () => {
  it('counts as done when it is, and its metrics are shown', async () => {
    mkdirSync(bed.path('s/run0/attempts/1'), { recursive: true });
    writeFileSync(bed.path('s/run0/attempts/1/exit'), '0\n');
    writeFileSync(bed.path('s/run0/metrics.jsonl'), '{"step": 1, "loss": 0.5}\n');
    const plan = bed.plan('s', [{ argv: ['touch', bed.path('it-ran')] }]);
    await fleet.submit(plan, environment, { slots: 1 });
    expect(run(fleet, 's/run0')).toMatchObject({ state: 'done', progress: 1 });
    expect(fleet.status.settled).toBe(true);
    await waitFor('its metrics', () => run(fleet, 's/run0').metrics['loss'] === 0.5);
    expect(bed.text('it-ran')).toBe('');
  });
});
