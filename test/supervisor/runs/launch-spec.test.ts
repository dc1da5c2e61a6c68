import { describe, expect, it } from 'vitest';
import { plan } from '../testbed.js';
import { Slot } from '../../../src/scheduler/placement/slot.js';
import { Resources } from '../../../src/spec/planned-run.js';
import { launchSpec, runEnvironment, threadsOf, withProgramFolder } from '../../../src/supervisor/runs/launcher.js';

const marks = { id: 's/a', directory: '/runs/s/a', attempt: 2 };

describe('the environment of a run', () => {
  it('shows a GPU run its GPUs alone, numbered as nvidia-smi does, and caps its threads', () => {
    const environment = runEnvironment(
      { CUDA_VISIBLE_DEVICES: '7', HOME: '/h' },
      {},
      { gpus: [1, 3], threads: 1 },
      marks,
    );
    expect(environment).toMatchObject({ CUDA_VISIBLE_DEVICES: '1,3', CUDA_DEVICE_ORDER: 'PCI_BUS_ID', HOME: '/h' });
    expect(environment).toMatchObject({ OMP_NUM_THREADS: '1', NUMEXPR_MAX_THREADS: '1' });
  });

  it('hides all GPUs from a CPU run and caps its threads', () => {
    const environment = runEnvironment(
      { CUDA_VISIBLE_DEVICES: '7', OMP_NUM_THREADS: '' },
      {},
      { gpus: [], threads: 2 },
      marks,
    );
    expect(environment).toMatchObject({ CUDA_VISIBLE_DEVICES: '', OMP_NUM_THREADS: '2', VECLIB_MAXIMUM_THREADS: '2' });
  });

  it('lets Python print at once, unless the person or the sweep file says otherwise', () => {
    const seen = (inherited: Record<string, string>, own = {}) =>
      runEnvironment(inherited, own, null, marks)['PYTHONUNBUFFERED'];
    expect([seen({}), seen({ PYTHONUNBUFFERED: '' }), seen({}, { PYTHONUNBUFFERED: '0' })]).toEqual(['1', '', '0']);
  });

  it.each<{ when: string; inherited?: Record<string, string>; own?: Record<string, string>; seen: object }>([
    {
      when: 'are as many for each library as the person says for OpenMP',
      inherited: { OMP_NUM_THREADS: '6,2' },
      seen: { OMP_NUM_THREADS: '6,2', MKL_NUM_THREADS: '6', NUMEXPR_NUM_THREADS: '6', NUMEXPR_MAX_THREADS: '6' },
    },
    {
      when: 'are as many as the sweep file says for OpenMP',
      own: { OMP_NUM_THREADS: '3' },
      seen: { OMP_NUM_THREADS: '3', MKL_NUM_THREADS: '3' },
    },
    {
      when: 'are for one library what the person says of that one',
      inherited: { MKL_NUM_THREADS: '7' },
      seen: { MKL_NUM_THREADS: '7', OMP_NUM_THREADS: '4' },
    },
    {
      when: 'are never more than NumExpr may have',
      inherited: { NUMEXPR_MAX_THREADS: '2' },
      seen: { NUMEXPR_MAX_THREADS: '2', NUMEXPR_NUM_THREADS: '2', OMP_NUM_THREADS: '4' },
    },
    {
      when: 'are capped where what is said is no number',
      inherited: { OMP_NUM_THREADS: 'many' },
      seen: { MKL_NUM_THREADS: '4' },
    },
  ])('threads $when', ({ inherited = {}, own = {}, seen }) => {
    for (const gpus of [[], [0]])
      expect(runEnvironment(inherited, own, { gpus, threads: 4 }, marks)).toMatchObject(seen);
  });

  it.each([
    { where: 'on a CPU slot', slot: { kind: 'cpu', index: 0 }, cpus: undefined, perGpu: 1, threads: 1 },
    { where: 'on CPU slots that it reserves', slot: { kind: 'cpu', index: 0 }, cpus: 6, perGpu: 1, threads: 6 },
    { where: 'on a GPU', slot: { kind: 'gpu', gpus: [0] }, cpus: undefined, perGpu: 1, threads: 8 },
    { where: 'on a GPU that three share', slot: { kind: 'gpu', gpus: [0] }, cpus: undefined, perGpu: 3, threads: 2 },
    {
      where: 'on a GPU that very many share',
      slot: { kind: 'gpu', gpus: [0] },
      cpus: undefined,
      perGpu: 40,
      threads: 1,
    },
    { where: 'on a GPU, with cores of its own', slot: { kind: 'gpu', gpus: [0] }, cpus: 3, perGpu: 40, threads: 3 },
    // A process for each GPU is what such programs start.
    { where: 'on several GPUs', slot: { kind: 'gpu', gpus: [0, 1] }, cpus: undefined, perGpu: 1, threads: 8 },
  ])('of 32 cores and 4 GPUs, a run $where uses $threads threads', ({ slot, cpus, perGpu, threads }) => {
    const resources = Resources.parse(cpus === undefined ? {} : { cpus });
    expect(threadsOf({ resources }, Slot.parse(slot), { cores: 32, gpus: 4, perGpu })).toBe(threads);
  });

  it.each<{ when: string; given?: Record<string, string>; env?: Record<string, string>; seen: object }>([
    {
      when: 'nothing is said',
      seen: { WANDB_MODE: 'offline', WANDB_DIR: '/runs/s/a', TRACKIO_DIR: '/runs/s/a/trackio' },
    },
    { when: 'there is a key', given: { WANDB_API_KEY: 'k' }, seen: { WANDB_MODE: undefined, WANDB_DIR: '/runs/s/a' } },
    {
      when: 'the person says where',
      given: { WANDB_DIR: '/mine', TRACKIO_DIR: '/mine', WANDB_MODE: 'disabled' },
      seen: { WANDB_DIR: '/mine', TRACKIO_DIR: '/mine', WANDB_MODE: 'disabled' },
    },
    { when: 'MLflow is to mark its runs', seen: { MLFLOW_RUN_CONTEXT: '{"memrl-tui.run":"/runs/s/a"}' } },
    { when: 'the person marks them', given: { MLFLOW_RUN_CONTEXT: '{}' }, seen: { MLFLOW_RUN_CONTEXT: '{}' } },
    {
      when: 'the sweep file says how often',
      env: { WANDB__TRANSACTION_LOG_FLUSH_INTERVAL: '5', WANDB_MODE: 'online' },
      seen: { WANDB__TRANSACTION_LOG_FLUSH_INTERVAL: '5', WANDB_MODE: 'online' },
    },
  ])('tells wandb and trackio where to write: $when', ({ given = {}, env = {}, seen }) => {
    const [run] = plan('/runs', 's', [{ name: 'a', directory: '/runs/s/a', cwd: '/nowhere', env }]).runs;
    const launch = {
      type: 'launch',
      id: run!.id,
      attempt: 1,
      slot: { kind: 'cpu', index: 0 },
      resumed: false,
    } as const;
    const environment = { HOME: '/nowhere', ...given };
    const found = launchSpec(launch, run!, {
      environment,
      devices: {},
      threads: 1,
      perGpu: 1,
      bin: '/bin',
    }).environment;
    for (const [name, value] of Object.entries(seen)) expect(found[name], name).toBe(value);
  });

  it('lets the sweep file have its way, except with the marks', () => {
    const own = { OMP_NUM_THREADS: '3', MEMRL_RUN: 'fake', MEMRL_RUN_DIR: '/elsewhere' };
    expect(runEnvironment({}, own, { gpus: [], threads: 1 }, marks)).toMatchObject({
      ...{ OMP_NUM_THREADS: '3', MEMRL_RUN: 's/a', MEMRL_RUN_DIR: '/runs/s/a', MEMRL_ATTEMPT: '2' },
    });
  });

  it.each([
    [{ PATH: '/a:/b' }, '/a:/b:/bin/ours'],
    [{ PATH: '/bin/ours:/a' }, '/bin/ours:/a'],
    [{}, '/usr/local/bin:/usr/bin:/bin:/bin/ours'],
  ])('finds our own programs last: %j → %s', (environment, path) => {
    expect(withProgramFolder(environment, '/bin/ours')['PATH']).toBe(path);
  });
});
