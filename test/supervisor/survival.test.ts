import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import { identityOf, isAlive } from '../../src/processes/process-identity.js';
import { bundledSupervisor, run, shimPid, Testbed, untilSettled, untilState, waitFor } from './testbed.js';
import { removeFolder } from '../remove-folder.js';

const environment = { PATH: process.env['PATH']! };

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

const starts = (name: string) => bed.text(`starts-${name}`).length / 2;
const openGate = () => writeFileSync(bed.path('gate'), '');

/** A command that counts its starts, waits for the gate, and ends with `code`. */
function gated(name: string, code = 0) {
  const script = `echo x >> ${bed.path('starts')}-${name}; while ! test -e ${bed.path('gate')}; do sleep 0.05; done; exit ${code}`;
  return { name, argv: ['sh', '-c', script] };
}

async function withLiveRun() {
  const fleet = await bed.fleet();
  await fleet.submit(bed.plan('s', [gated('a', 3), gated('b')]), environment, { slots: 1, gpus: 'none' });
  await waitFor('a to be up', () => starts('a') === 1);
  return fleet;
}

describe('.supervisor deleted under a live supervisor', () => {
  it('is made anew from memory, so that the next supervisor knows everything', async () => {
    const fleet = await withLiveRun();
    const pid = bed.supervisorPid();
    renameSync(bed.path('.supervisor'), bed.path('.gone'));
    rmSync(bed.path('.gone'), { recursive: true });
    await waitFor('the lock to be back', () => bed.supervisorPid() === pid);
    await waitFor('the journal to be back', () => existsSync(bed.path('.supervisor', 'journal.jsonl')));
    expect(fleet.connection).toBe('connected');
    await bed.killSupervisor();
    await waitFor('the next supervisor', () => fleet.connection === 'connected' && bed.supervisorPid());
    openGate();
    await untilSettled(fleet);
    expect([run(fleet, 's/a'), run(fleet, 's/b')]).toMatchObject([
      { state: 'failed', exit: { code: 3 }, attempt: 1 },
      { state: 'done', attempt: 1 },
    ]);
    expect([starts('a'), starts('b')]).toEqual([1, 1]);
  });

  it('does not let a second supervisor in while the first is there', async () => {
    const fleet = await withLiveRun();
    const pid = bed.supervisorPid();
    rmSync(bed.path('.supervisor', 'lock.json'));
    const second = await bed.spawnSupervisor();
    await waitFor('the second to leave', () => second.exitCode !== null);
    await waitFor('the lock to be back', () => bed.supervisorPid() === pid);
    openGate();
    await untilSettled(fleet);
  });
});

describe('a journal that is replaced under a live supervisor', () => {
  it('is written anew before the next event', async () => {
    const fleet = await withLiveRun();
    const path = bed.path('.supervisor', 'journal.jsonl');
    rmSync(path);
    writeFileSync(path, 'something else\n');
    openGate();
    await untilSettled(fleet);
    await bed.killSupervisor();
    const later = await bed.fleet();
    expect([run(later, 's/a').exit?.code, run(later, 's/b').exit?.code]).toEqual([3, 0]);
    expect([starts('a'), starts('b')]).toEqual([1, 1]);
  });
});

describe('a run directory deleted under a live run', () => {
  it('does not disturb the others, and the end of the run is still known', async () => {
    const fleet = await withLiveRun();
    rmSync(bed.path('s', 'a'), { recursive: true });
    openGate();
    await untilSettled(fleet);
    expect(run(fleet, 's/a')).toMatchObject({ state: 'failed', exit: { code: 3 } });
    expect(run(fleet, 's/b')).toMatchObject({ state: 'done' });
  });

  it('and under a dead supervisor makes its end unknowable, which is said', async () => {
    const fleet = await withLiveRun();
    fleet.close();
    await bed.killSupervisor();
    const shim = identityOf(shimPid(bed.path('s', 'a'))!)!;
    rmSync(bed.path('s', 'a'), { recursive: true });
    openGate();
    await waitFor('the end of the run', () => !isAlive(shim));
    const later = await bed.fleet();
    await untilSettled(later);
    expect(run(later, 's/a')).toMatchObject({ state: 'lost', reason: 'its directory is gone' });
    expect(run(later, 's/b')).toMatchObject({ state: 'done' });
  });
});

describe('few file descriptors', () => {
  it('keep a run from starting, not from being run: all runs end, each started once', async () => {
    await bed.spawnSupervisor('ulimit -n 40');
    const fleet = await waitFor('the supervisor', () => bed.attach());
    const runs = Array.from({ length: 60 }, (_, n) => ({
      name: `r${n}`,
      argv: ['sh', '-c', `echo x >> ${bed.path('starts')}-r${n}; sleep 0.1; exit ${n % 2}`],
    }));
    await fleet.submit(bed.plan('s', runs), environment, { slots: 30, gpus: 'none' });
    await waitFor('the end', () => fleet.connection === 'connected' && fleet.status.settled);
    expect(runs.map(({ name }) => starts(name))).toEqual(Array(60).fill(1));
    expect([...fleet.runs.values()].map(({ exit }) => exit?.code)).toEqual(runs.map((_, n) => n % 2));
  });
});

describe('a clock that jumps', () => {
  it('ends no run before its time', { tags: ['long'] }, async () => {
    const preload = bed.path('jump.mjs');
    writeFileSync(
      preload,
      'const now = Date.now; setInterval(() => (Date.now = () => now() + 172800000), 100).unref();',
    );
    const env = { ...process.env, NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` };
    const fleet = await bed.fleet({ ...(await bed.programs()), environment: env });
    const deaf = { argv: ['sh', '-c', 'trap "" TERM; echo up; while :; do sleep 0.05; done'], grace: 2, timeout: 3600 };
    await fleet.submit(bed.plan('s', [deaf]), environment, { slots: 1, gpus: 'none' });
    await waitFor('it to be up', () => bed.text('s', 'run0', 'output.log') === 'up\n');
    const asked = performance.now();
    await fleet.act('kill', [RunId.parse('s/run0')]);
    await untilState(fleet, 's/run0', 'stopping');
    const { startedAt, endedAt } = await untilState(fleet, 's/run0', 'killed');
    expect(performance.now() - asked).toBeGreaterThanOrEqual(1900);
    expect(endedAt! - startedAt!).toBeGreaterThanOrEqual(1900);
    expect(endedAt! - startedAt!).toBeLessThan(60_000);
  });
});

const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0;
if (!canMount) console.warn('SKIPPED, because unshare -rm is not permitted here: read-only and noexec file systems');

describe('a place that will not do', () => {
  /** Starts a supervisor by hand, and gives what it says. */
  async function said(runs: string, before = ':', env: Record<string, string> = {}): Promise<string> {
    const words = [
      '-c',
      `${before}; exec "$@"`,
      'sh',
      process.execPath,
      await bundledSupervisor(),
      '--runs',
      runs,
      '--bin',
      runs,
    ];
    const { stderr, status } = spawnSync('sh', words, { encoding: 'utf8', env: { ...process.env, ...env } });
    expect(status).toBe(2);
    return stderr;
  }

  it('is named: a part of its path is a file', async () => {
    writeFileSync(bed.path('file'), '');
    expect(await said(bed.path('file', 'runs'))).toMatch(/cannot work: ENOTDIR[^]*→ .*--runs DIR/);
  });

  it('is named: no folder for the socket', async () => {
    const open = mkdtempSync(join(tmpdir(), 'open-'));
    for (const folder of ['memrl', `memrl-${process.getuid!()}`]) mkdirSync(join(open, folder));
    for (const folder of ['memrl', `memrl-${process.getuid!()}`]) chmodSync(join(open, folder), 0o777);
    // The last resort is below /tmp, and is there; so only that it falls back is to be seen.
    const env = { XDG_RUNTIME_DIR: open, TMPDIR: open };
    const fleet = await bed.fleet({ ...(await bed.programs()), environment: { ...process.env, ...env } });
    expect(JSON.parse(bed.text('.supervisor', 'lock.json'))).toMatchObject({
      socket: expect.stringMatching(/^\/tmp\/memrl-/) as string,
    });
    fleet.close();
    rmSync(open, { recursive: true });
  });

  it.skipIf(!canMount)('is named: a read-only file system', async () => {
    const supervisor = await bundledSupervisor();
    const script = `mount -t tmpfs none ${bed.runs} && mount -o remount,ro ${bed.runs}
      "${process.execPath}" ${supervisor} --runs ${bed.runs} --bin /tmp 2>&1; echo "left with $?"`;
    const words = execFileSync('unshare', ['-rm', 'sh', '-c', script], { encoding: 'utf8' });
    expect(words).toMatch(/cannot work: .*\.supervisor[^]*→ .*ount that file system for writing[^]*left with 2/);
  });

  it.skipIf(!canMount)('is named: a command on a file system without the right to execute', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'noexec-')));
    const supervisor = await bed.spawnSupervisor(
      `exec unshare -rm sh -c 'mount -t tmpfs -o noexec none ${folder} && printf "#!/bin/sh\\nexit 0\\n" > ${folder}/train && chmod 755 ${folder}/train; exec "$@"' sh "$@"; :`,
    );
    const fleet = await waitFor('the supervisor', () => bed.attach());
    const plan = bed.plan('s', [
      { argv: [`${folder}/train`], cwd: folder },
      { argv: ['sh', `${folder}/train`], cwd: folder },
    ]);
    await fleet.submit(plan, environment, { slots: 1, gpus: 'none' });
    await untilSettled(fleet);
    expect(run(fleet, 's/run0')).toMatchObject({ state: 'failed', exit: { code: 126 } });
    expect(run(fleet, 's/run0').reason).toMatch(/train/);
    expect(run(fleet, 's/run1')).toMatchObject({ state: 'done' });
    supervisor.kill('SIGKILL');
    removeFolder(folder);
  });
});

it('says in its log whom it looks after, and why it ends', { tags: ['long'] }, async () => {
  const fleet = await bed.fleet();
  fleet.close();
  await waitFor('its end', () =>
    readFileSync(bed.path('.supervisor', 'log'), 'utf8').includes('exits: nothing left to do'),
  );
});
