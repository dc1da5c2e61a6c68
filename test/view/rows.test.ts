import { describe, expect, it } from 'vitest';
import type { Parameters } from '../../src/base/scalar.js';
import { nameWords, rowHeads } from '../../src/view/rows.js';

const facts = (parameters: Parameters, name: string | null = null, group: string | null = null) => {
  return { parameters, name, group, state: null, reason: null, startedAt: null, endedAt: null, tags: [], note: null };
};
const run = (place: string) => ({ directory: `/root/${place}`, place, kind: 'folder', files: [], folders: [] });
const heads = (runs: readonly (readonly [string, Parameters?, string?, string?])[]) =>
  rowHeads(
    runs.map(([place, parameters = {}, name, group]) => ({ run: run(place), facts: facts(parameters, name, group) })),
    'root',
  ).map(({ group, subgroup, name }) => [group, subgroup, name]);

describe('the words of a folder name', () => {
  it.each([
    ['lr0.1_s0', { lr: 0.1, seed: 0 }, ''],
    ['lr=0.1,batch_size=32', { lr: 0.1, batch_size: 32 }, ''],
    ['model=big_lr=1e-3', { model: 'big', lr: 0.001 }, ''],
    ['ppo_lr_3e-4_seed_2', { lr: 0.0003, seed: 2 }, 'ppo'],
    ['ppo/lr0.1/seed-3', { lr: 0.1, seed: 3 }, 'ppo'],
    ['version_3', {}, 'version 3'],
    ['PPO_1', {}, 'PPO 1'],
    ['CartPole-v1__ppo', {}, 'CartPole v1 ppo'],
    ['2026-11-23', {}, '2026-11-23'],
  ])('%s', (name, parameters, rest) => {
    expect(nameWords(name)).toEqual({ parameters, rest });
  });
});

describe('rows of found runs', () => {
  it('have names by what varies, and subgroups of seeds', () => {
    expect(
      heads([
        ['a', { lr: 1, seed: 0, n: 5 }],
        ['b', { lr: 1, seed: 1, n: 5 }],
        ['c', { lr: 2, seed: 0, n: 5 }],
      ]),
    ).toEqual([
      ['root', 'lr1', 'lr1_s0'],
      ['root', 'lr1', 'lr1_s1'],
      ['root', 'lr2', 'lr2_s0'],
    ]);
  });

  it('take what folders say where no file does', () => {
    expect(
      heads([['x/ppo_lr0.1/seed0/tb'], ['x/ppo_lr0.1/seed1/tb'], ['x/dqn_lr0.1/seed0/tb'], ['x/dqn_lr0.1/seed1/tb']]),
    ).toEqual([
      ['x', 'ppo', 'ppo_s0'],
      ['x', 'ppo', 'ppo_s1'],
      ['x', 'dqn', 'dqn_s0'],
      ['x', 'dqn', 'dqn_s1'],
    ]);
  });

  it('keep the name of the writer, or of the folder, where nothing tells them apart', () => {
    expect(
      heads([
        ['wandb/run-1', {}, 'sunny-1', 'proj'],
        ['wandb/run-2', {}, 'misty-2', 'proj'],
      ]),
    ).toEqual([
      ['proj', null, 'sunny-1'],
      ['proj', null, 'misty-2'],
    ]);
    expect(heads([['PPO_1'], ['PPO_2']])).toEqual([
      ['root', null, 'PPO_1'],
      ['root', null, 'PPO_2'],
    ]);
  });

  it('leave out directories and names of runs, which always vary', () => {
    expect(
      heads([
        ['a', { output_dir: '/a', run_name: 'a', lr: 1 }],
        ['b', { output_dir: '/b', run_name: 'b', lr: 2 }],
      ]),
    ).toEqual([
      ['root', null, 'lr1'],
      ['root', null, 'lr2'],
    ]);
  });

  it('do not differ in every parameter from runs that have not written theirs yet', () => {
    const settings = (lr: number, seed: number) => ({ lr, seed, opt: 'adam' });
    expect(heads([['run-1', settings(1, 0)], ['run-2', settings(1, 1)], ['run-3', settings(2, 0)], ['run-4']])).toEqual(
      [
        ['root', 'lr1', 'lr1_s0'],
        ['root', 'lr1', 'lr1_s1'],
        ['root', 'lr2', 'lr2_s0'],
        ['root-without-parameters', null, 'run-4'],
      ],
    );
    expect(heads([['out-lr1-s0', settings(1, 0)], ['out-lr1-s1', settings(1, 1)], ['out-lr2-s0']])).toEqual([
      ['root', 'lr1', 'lr1_s0'],
      ['root', 'lr1', 'lr1_s1'],
      ['root', 'lr2', 'lr2_s0'],
    ]);
  });

  it('never share a name', () => {
    expect(
      heads([
        ['g/a', { lr: 1 }],
        ['g/b', { lr: 2 }],
        ['h/a', { lr: 1 }],
        ['h/b', { lr: 2 }],
      ]).map(([, , name]) => name),
    ).toEqual(['g_lr1', 'g_lr2', 'h_lr1', 'h_lr2']);
    const same = heads([
      ['a b', {}, 'x'],
      ['a-b', {}, 'x'],
    ]).map(([, , name]) => name);
    expect(new Set(same).size).toBe(2);
  });
});
