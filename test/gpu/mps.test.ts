import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { instanceIndex } from '../../src/base/ids.js';
import type { Gpu } from '../../src/gpu/gpu.js';
import { MpsDaemons, type MpsOptions, mpsRoot } from '../../src/gpu/mps.js';
import { FakeDriver, temporaryFolder } from './fake-gpus.js';

const uid = process.getuid!();

const gpu: Gpu = {
  ...{ index: 3, uuid: 'GPU-3', bus: null, name: 'H100', vendor: 'nvidia', instanceOf: null, computeMode: 'default' },
  ...{ memoryTotal: null, memoryUsed: null, utilization: null, temperature: null, power: null },
};

const started: string[] = [];
afterEach(() => {
  for (const folder of started.splice(0)) {
    if (existsSync(join(folder, 'daemon.pid'))) execFileSync('sh', ['-c', `kill $(cat ${folder}/daemon.pid) || :`]);
  }
});

function setUp(own: Record<string, string> = {}, more: Partial<MpsOptions> = {}) {
  const supervisorDirectory = temporaryFolder();
  const log = join(temporaryFolder(), 'log');
  writeFileSync(log, '');
  const environment = { ...new FakeDriver('mps').environment, FAKE_MPS_LOG: log, ...own };
  const options: MpsOptions = { environment, supervisorDirectory, runtimeDirectory: undefined, uid, ...more };
  const folder = (name: string) => join(supervisorDirectory, 'mps', name);
  started.push(...['3', '4', '1-0'].map(folder));
  return {
    daemons: () => new MpsDaemons(options),
    folder,
    isUp: (name: string) => existsSync(join(folder(name), 'daemon.pid')),
    commands: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
  };
}

describe('the MPS daemon of a GPU', () => {
  it('is started once, for this GPU alone, in a folder of its own', async () => {
    const { daemons, folder, commands, isUp } = setUp({ CUDA_VISIBLE_DEVICES: '5' });
    const mps = daemons();
    const shares = await Promise.all([mps.ensure(gpu), mps.ensure(gpu)]);
    const environment = {
      CUDA_MPS_PIPE_DIRECTORY: folder('3'),
      CUDA_MPS_LOG_DIRECTORY: folder('3'),
      CUDA_VISIBLE_DEVICES: 'GPU-3',
    };
    expect(shares).toEqual([
      { kind: 'mps', environment },
      { kind: 'mps', environment },
    ]);
    expect(commands().filter((line) => line.startsWith('start'))).toEqual(['start GPU-3']);
    expect(await mps.active()).toEqual(new Set([3]));
    await mps.stop(3);
    expect(isUp('3')).toBe(false);
    expect(await mps.active()).toEqual(new Set());
  });

  it('is found again by the next supervisor, and ended by it when no run needs it', async () => {
    const { daemons, isUp, commands } = setUp();
    const instance = { ...gpu, index: instanceIndex(1, 0), uuid: 'MIG-x', instanceOf: 1 };
    const first = daemons();
    await first.ensure(gpu);
    await first.ensure({ ...gpu, index: 4, uuid: 'GPU-4' });
    await first.ensure(instance);
    const second = daemons();
    expect(await second.ensure(gpu)).toMatchObject({ kind: 'mps' });
    await second.stopUnused(new Set([3]));
    expect([isUp('3'), isUp('4'), isUp('1-0')]).toEqual([true, false, false]);
    await second.stopUnused(new Set());
    expect(isUp('3')).toBe(false);
    expect(commands().filter((line) => line.startsWith('start'))).toHaveLength(3);
    expect(await second.ensure(gpu)).toMatchObject({ kind: 'mps' });
    expect(isUp('3')).toBe(true);
  });

  it('of the whole machine is used where there is one, and left alone', async () => {
    const pipes = join(temporaryFolder(), 'pipes');
    const { daemons, isUp } = setUp({ CUDA_MPS_PIPE_DIRECTORY: pipes });
    mkdirSync(pipes);
    writeFileSync(join(pipes, 'daemon.pid'), String(process.pid));
    const mps = daemons();
    expect(await mps.ensure(gpu)).toEqual({
      kind: 'mps',
      environment: { CUDA_MPS_PIPE_DIRECTORY: pipes, CUDA_VISIBLE_DEVICES: 'GPU-3' },
    });
    await mps.stop(3);
    await mps.stopUnused(new Set());
    expect(isUp('3')).toBe(false);
    expect(existsSync(join(pipes, 'daemon.pid'))).toBe(true);
  });

  it.each([
    { mode: 'fail', reason: 'nvidia-cuda-mps-control failed: An instance of this daemon is already running' },
    { mode: 'mute', reason: 'nvidia-cuda-mps-control failed: the daemon does not answer' },
    { mode: 'hang', reason: 'nvidia-cuda-mps-control did not answer' },
  ])('that cannot be had ($mode) is done without, and it is said why', async ({ mode, reason }) => {
    const { daemons } = setUp({ FAKE_MPS_MODE: mode }, mode === 'hang' ? { patienceMs: 100 } : {});
    const mps = daemons();
    expect(await mps.ensure(gpu)).toEqual({ kind: 'none', reason });
    expect(await mps.active()).toEqual(new Set());
    await mps.stopUnused(new Set());
  });

  it('is not looked for where it cannot be', async () => {
    const without = new MpsDaemons({
      ...{
        environment: { PATH: '/nonexistent' },
        supervisorDirectory: '/nonexistent',
        runtimeDirectory: undefined,
        uid,
      },
    });
    expect(await without.ensure(gpu)).toEqual({ kind: 'none', reason: 'nvidia-cuda-mps-control was not found' });
    await without.stopUnused(new Set());
    const { daemons } = setUp();
    expect(await daemons().ensure({ ...gpu, vendor: 'amd' })).toEqual({
      kind: 'none',
      reason: 'MPS is for NVIDIA GPUs',
    });
  });

  it('is not started in a folder that others can enter', async () => {
    const { daemons, folder } = setUp();
    mkdirSync(join(folder('3'), '..'));
    symlinkSync(temporaryFolder(), folder('3'));
    expect(await daemons().ensure(gpu)).toEqual({ kind: 'none', reason: `${folder('3')} is not a folder` });
    const open = { ...gpu, index: 4 };
    mkdirSync(folder('4'), { mode: 0o755 });
    expect(await daemons().ensure(open)).toEqual({ kind: 'none', reason: `others may enter ${folder('4')}` });
  });
});

describe('the folder of the MPS daemons', () => {
  const long = `/${'x'.repeat(90)}`;
  it.each([
    { from: '/runs/.supervisor', runtime: '/run/user/1', root: /^\/runs\/\.supervisor\/mps$/ },
    { from: long, runtime: '/run/user/1', root: /^\/run\/user\/1\/memrl\/mps-[0-9a-f]{8}$/ },
    { from: long, runtime: undefined, root: /^\/tmp\/memrl-7\/mps-[0-9a-f]{8}$/ },
    { from: long, runtime: long, root: /^\/tmp\/memrl-7\/mps-[0-9a-f]{8}$/ },
  ])('is short enough for a socket: $root', ({ from, runtime, root }) => {
    expect(mpsRoot({ supervisorDirectory: from, runtimeDirectory: runtime, uid: 7 })).toMatch(root);
  });

  it('is another for each runs directory', () => {
    const rootOf = (end: string) => mpsRoot({ supervisorDirectory: long + end, runtimeDirectory: undefined, uid: 7 });
    expect(rootOf('a')).not.toBe(rootOf('b'));
  });
});
