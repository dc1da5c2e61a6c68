import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../src/lab/config/arguments.js';
import { rlKeys } from '../../src/lab/algorithms/rl-settings.js';
import { serveKeys } from '../../src/lab/tinker/server/serve.js';
import { expandSweep } from '../../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';

function planned(path: string) {
  return expandSweep(parseSweepFile(readFileSync(path, 'utf8'), path), {
    runsDirectory: '/runs',
    cwd: '/',
    environment: {},
  });
}

describe('sweeps/tinker/arithmetic.yaml', () => {
  const { runs } = planned('sweeps/tinker/arithmetic.yaml');
  const loop = runs.filter(({ group }) => group === 'loop');

  it('crosses losses, substeps and staleness, with three seeds each, from one model', () => {
    expect(loop).toHaveLength(3 * 2 * 3 * 3);
    const varied = (name: string) => [...new Set(loop.map(({ parameters }) => parameters[name]))];
    expect(varied('loss_fn')).toEqual(['importance_sampling', 'ppo', 'cispo']);
    expect([varied('num_substeps'), varied('max_steps_off_policy'), varied('seed')]).toEqual([
      [1, 4],
      [0, 2, 4],
      [0, 1, 2],
    ]);
    for (const run of loop)
      expect([run.needs, run.argv]).toEqual([
        ['base'],
        expect.arrayContaining(['model_name=/runs/tinker-arithmetic/base']),
      ]);
  });
});

describe('sweeps/tinker/cookbook.yaml', () => {
  const { runs } = planned('sweeps/tinker/cookbook.yaml');
  const named = (name: string) => runs.find((run) => run.name === name)!;

  it('starts one service, on which three unmodified programs of Python run, and ends it', () => {
    expect(runs.map(({ name }) => name)).toEqual([
      'base',
      'export',
      'service',
      'synchronous',
      'stream',
      'asynchronous',
      'end',
    ]);
    for (const name of ['synchronous', 'stream', 'asynchronous']) {
      const { argv, needs, env, directory } = named(name);
      expect(argv.slice(3, 6)).toEqual(['cookbook', '-m', 'tinker_cookbook.recipes.math_rl.train']);
      expect(needs).toEqual(['service']);
      expect(argv).toContain(`log_path=${directory}`);
      expect(env).toMatchObject({ TINKER_BASE_URL: 'http://127.0.0.1:8765' });
    }
    expect(named('end').needs).toEqual(['cookbook']);
  });

  it('says of the model and of the modes what both programs understand', () => {
    const service = named('service').argv.join(' ');
    const [model] = /\/\S+\/export\/model/.exec(service)!;
    const served = service.slice(service.indexOf('memrl serve') + 'memrl serve'.length, service.indexOf(' >'));
    const said = served
      .trim()
      .split(/\s+/)
      .map((word) => word.replaceAll("'", ''));
    expect(readArguments(serveKeys, [`model=${said[0]!}`, ...said.slice(1)]).config).toMatchObject({
      model,
      port: 8765,
    });
    expect(named('export').argv).toContain(`output_dir=${model}`);
    const stream = named('stream').argv.filter((word) => word.startsWith('stream_minibatch_config'));
    expect(readArguments(rlKeys, stream).config).toMatchObject({ num_minibatches: 4, groups_per_batch: 100 });
    expect(named('asynchronous').argv).toContain('max_steps_off_policy=2');
  });
});
