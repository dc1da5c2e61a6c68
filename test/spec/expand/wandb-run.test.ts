import { describe, expect, it } from 'vitest';
import { wandbConfigText, wandbEnvironment } from '../../../src/spec/expand/wandb-run.js';

const run = { sweep: 's', name: 'lr1', identity: '0123456789abcdef', directory: '/runs/s/lr1' };

describe('the variables that `wandb.init()` reads', () => {
  it('are those of a run without a server, in its own directory', () => {
    expect(wandbEnvironment({ ...run, environment: {} })).toEqual({
      WANDB_MODE: 'offline',
      WANDB_DIR: '/runs/s/lr1',
      TRACKIO_DIR: '/runs/s/lr1/trackio',
      WANDB_SWEEP_PARAM_PATH: '/runs/s/lr1/wandb-config.yaml',
      WANDB_RUN_ID: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      WANDB_NAME: 'lr1',
      WANDB_RUN_GROUP: 's',
    });
  });

  it('leave the mode and the directory that a person has set, and no other', () => {
    const environment = { WANDB_MODE: 'online', WANDB_DIR: '/data', TRACKIO_DIR: '/data', WANDB_RUN_ID: 'mine' };
    const made = wandbEnvironment({ ...run, environment });
    expect([made['WANDB_MODE'], made['WANDB_DIR'], made['TRACKIO_DIR']]).toEqual([undefined, undefined, undefined]);
    expect(made['WANDB_RUN_ID']).not.toBe('mine');
  });

  it('name a run by its sweep and what it is, so that it keeps its id when it is started again', () => {
    const idOf = (change: object) => wandbEnvironment({ ...run, environment: {}, ...change })['WANDB_RUN_ID'];
    expect(idOf({ name: 'other', directory: '/elsewhere' })).toBe(idOf({}));
    expect(new Set([idOf({}), idOf({ sweep: 't' }), idOf({ identity: 'f' })]).size).toBe(3);
  });
});

// wandb 0.31.0 was seen to read this very text back, with all types.
it('the values are written so that Python reads each with its type', () => {
  const opt = { betas: [0.9, [1, null]], name: 'a: b # "é"' };
  expect(wandbConfigText({ lr: 1e-7, n: 3e23, m: -2e-9, flag: false, opt, word: 'yes' })).toBe(
    [
      'wandb_version: 1',
      '',
      '"lr": {"value": 1.0e-07}',
      '"n": {"value": 3.0e+23}',
      '"m": {"value": -2.0e-09}',
      '"flag": {"value": false}',
      '"opt": {"value": {"betas": [0.9, [1, null]], "name": "a: b # \\"é\\""}}',
      '"word": {"value": "yes"}',
      '',
    ].join('\n'),
  );
});
