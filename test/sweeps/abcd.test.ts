import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expandSweep } from '../../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';
import type { Plan } from '../../src/spec/planned-run.js';
import { completionOf } from '../../src/spec/policy/completion.js';

const file = parseSweepFile(readFileSync('sweeps/abcd.yaml', 'utf8'), 'sweeps/abcd.yaml');
const plan = (...groups: string[]) =>
  expandSweep(file, { runsDirectory: '/runs', cwd: '/home/ada', environment: {}, groups });
const own = ({ groups, runs }: Plan) =>
  runs.filter(({ group }) => !groups.some(({ name, prerequisite }) => name === group && prerequisite));

/** The 48 runs of the source system, by its own rules: groups in this order, the seed the outer loop of each. */
const seeds = [0, 1, 2];
const sizes = [16, 64, 256, 1024, 4096];
const source: { name: string; window: string; N: number; seed: number }[] = [
  ...seeds.flatMap((seed) =>
    [2, 4, 8, 16, 32].map((B) => ({
      name: `A_bsweep_single_N1024_${B === 2 ? 'binary' : `B${B}`}_s${seed}`,
      window: `A_B${B}`,
      N: 1024,
      seed,
    })),
  ),
  ...seeds.flatMap((seed) =>
    sizes.map((N) => ({ name: `B_nsweep_single_B8_N${N}_s${seed}`, window: `B_N${N}`, N, seed })),
  ),
  ...seeds.flatMap((seed) => sizes.map((N) => ({ name: `C_dense_multi_N${N}_s${seed}`, window: `C_N${N}`, N, seed }))),
  ...seeds.map((seed) => ({ name: `D_sft_N1024_s${seed}`, window: 'D_sft', N: 1024, seed })),
];

describe('sweeps/abcd-10seeds.yaml', () => {
  const fresh = parseSweepFile(readFileSync('sweeps/abcd-10seeds.yaml', 'utf8'), 'sweeps/abcd-10seeds.yaml');
  const runs = own(expandSweep(fresh, { runsDirectory: '/runs', cwd: '/home/ada', environment: {} }));
  const secret = ({ parameters: { N, fixed_secret: value } }: Plan['runs'][number]) => JSON.stringify([N, value]);
  const varying = new Set(['seed', 'fixed_secret', 'load_checkpoint_path', 'train_data_path', 'stop_memorised']);
  const settings = (planned: Plan['runs']) =>
    planned
      .filter(({ parameters }) => parameters['seed'] === 0)
      .map(({ group, parameters }): Record<string, unknown> => {
        return { group, ...Object.fromEntries(Object.entries(parameters).filter(([key]) => !varying.has(key))) };
      });

  it('asks what abcd asks, with the same settings, and for one example a step', () => {
    expect(runs).toHaveLength(221);
    const asked = settings(runs).filter((each) => each['group'] !== 'D' || each['batch_size'] === 128);
    expect(asked).toEqual([...settings(own(plan())), ...settings(own(plan('B_binary', 'references')))]);
  });

  it('has secrets of its own, ten in each cell that has room for them, over three warm-ups', () => {
    const known = new Set(own(plan()).map(secret));
    const large = runs.filter(({ parameters }) => Number(parameters['N']) >= 256);
    expect(large.filter((run) => known.has(secret(run)))).toEqual([]);
    expect(new Set(large.filter(({ group }) => group === 'B').map(secret)).size).toBe(30);
    expect(new Set(runs.flatMap(({ parameters }) => parameters['load_checkpoint_path'] ?? [])).size).toBe(6);
  });
});

describe('sweeps/abcd.yaml', () => {
  const all = plan();
  const runs = own(all);
  const named = (name: string) => all.runs.find((run) => run.name === name)!;

  it('is exactly the 48 runs of the source system, in its order and its 16 windows', () => {
    expect(runs).toHaveLength(48);
    expect(runs.map(({ name }) => name)).toEqual(source.map(({ name }) => name));
    expect(runs.map(({ subgroup }) => subgroup)).toEqual(source.map(({ window }) => window));
    expect(new Set(runs.map(({ subgroup }) => subgroup)).size).toBe(16);
  });

  it('has its secrets', () => {
    expect(runs.map(({ parameters }) => parameters['fixed_secret'])).toEqual(
      source.map(({ N, seed }) => (seed * 9973 + 12345) % N),
    );
    const spot = { A_bsweep_single_N1024_binary_s0: 57, B_nsweep_single_B8_N16_s0: 9, C_dense_multi_N4096_s2: 3619 };
    for (const [name, secret] of Object.entries(spot)) expect(named(name).parameters['fixed_secret']).toBe(secret);
  });

  it('has its training settings', () => {
    const a = named('A_bsweep_single_N1024_B4_s1').parameters;
    expect(a).toMatchObject({ env_type: 'single_step', reward_type: 'binned_log_distance', reward_bins: 4, seed: 1 });
    expect(a).toMatchObject({ batch_size: 1, group_size: 4, n_batches: 20000, max_tokens: 8 });
    expect(named('A_bsweep_single_N1024_binary_s0').parameters).not.toHaveProperty('reward_bins');
    expect(named('C_dense_multi_N16_s0').parameters).toMatchObject({
      ...{ env_type: 'multi_step', n_batches: 8000, group_size: 4, advantages: 'stepwise' },
    });
    expect(named('C_dense_multi_N16_s0').parameters).not.toHaveProperty('reward_type');
  });

  it('starts each run from what it needs, and waits for it', () => {
    expect(named('A_bsweep_single_N1024_B4_s0').argv).toEqual(
      expect.arrayContaining(['memrl', 'train', 'log_path=/runs/abcd/A_bsweep_single_N1024_B4_s0', 'reward_bins=4']),
    );
    for (const run of all.runs) {
      const given = [run.parameters['load_checkpoint_path'], run.parameters['train_data_path']]
        .filter(Boolean)
        .map(String);
      for (const path of given) {
        const [, name] = /^\$\{sweep_dir\}\/([^/]+)/.exec(path)!;
        expect(run.needs).toContain(named(name!).group);
        expect(run.argv).toContainEqual(expect.stringContaining(`=/runs/abcd/${name}`));
      }
    }
    expect(named('D_sft_N1024_s2').argv).toContain('train_data_path=/runs/abcd/sft_data_N1024_s2/train.jsonl');
  });

  it('does not make the dense runs wait for the other warm-up', () => {
    expect(named('C_dense_multi_N16_s0').needs).toEqual(['warmup_multi']);
    expect(named('A_bsweep_single_N1024_B4_s0').needs).toEqual(['warmup_single']);
  });

  it('counts warm-ups and data apart', () => {
    const extra = all.runs.filter((run) => !runs.includes(run)).map(({ name }) => name);
    expect(extra).toEqual(['warmup_single', 'warmup_multi', ...seeds.map((seed) => `sft_data_N1024_s${seed}`)]);
  });

  it('gives 30 runs and one prerequisite for --sweep A B', () => {
    const some = plan('A', 'B');
    expect(own(some).map(({ name }) => name)).toEqual(source.slice(0, 30).map(({ name }) => name));
    expect(some.runs).toHaveLength(31);
    expect(some.groups.filter(({ prerequisite }) => prerequisite).map(({ name }) => name)).toEqual(['warmup_single']);
  });

  it('has the trajectory-credited runs beside C when they are asked for, and then only those', () => {
    const extra = own(plan('C_traj'));
    expect(extra.map(({ name }) => name)).toEqual(
      source.slice(30, 45).map(({ name }) => name.replace('C_dense', 'C_traj')),
    );
    const beside = named('C_dense_multi_N64_s1').parameters;
    expect(extra.find(({ name }) => name === 'C_traj_multi_N64_s1')!.parameters).toEqual({
      ...beside,
      advantages: 'trajectory',
    });
  });

  it('has one example a step beside D when it is asked for', () => {
    const extra = own(plan('D_one'));
    expect(extra.map(({ name }) => name)).toEqual(seeds.map((seed) => `D_one_N1024_s${seed}`));
    const { batch_size: batch, stop_memorised: stop, ...rest } = extra[0]!.parameters;
    expect([batch, stop]).toEqual([1, 16]);
    expect(named('D_sft_N1024_s0').parameters).toEqual({ ...rest, batch_size: 128 });
  });

  it('skips what is complete, and goes on with what is not', () => {
    const run = named('A_bsweep_single_N1024_B4_s0');
    const rows = [
      { name: '002000', batch: 2000 },
      { name: 'final', batch: 20000 },
    ];
    const facts = {
      known: true,
      identity: run.identity,
      group: run.group,
      parameters: run.parameters,
      attempts: 1,
      exitCode: 0,
      stoppedBy: null,
    };
    expect(completionOf(run, { ...facts, doneRows: rows })).toEqual({
      state: 'done',
      reason: 'final checkpoint found',
    });
    expect(completionOf(run, { ...facts, doneRows: rows.slice(0, 1) }).state).toBe('resume');
  });
});
