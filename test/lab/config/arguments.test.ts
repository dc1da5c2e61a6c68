import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { commandHelp, readArguments, writeValue } from '../../../src/lab/config/arguments.js';
import { inertKey, key, within } from '../../../src/lab/config/key.js';
import { bool, float, int, ints, oneOf, orNone, text } from '../../../src/lab/config/value-type.js';
import { sftKeys } from '../../../src/lab/algorithms/sft.js';
import { trainKeys } from '../../../src/lab/algorithms/train-settings.js';

const keys = {
  N: key(int(1), 16, 'size'),
  learning_rate: key(float(0), 4e-5, 'rate'),
  prefix: key(bool, false, 'show it'),
  bins: key(orNone(int(2)), null, 'levels'),
  sizes: key(ints(), [16, 64], 'sizes'),
  loss: key(oneOf(['ppo', 'dro']), 'ppo', 'loss'),
  path: key(orNone(text), null, 'where'),
  rank: inertKey(int(), 1, 'no adapters'),
};
const read = (...argv: string[]) => readArguments(keys, argv).config;

describe('key=value arguments', () => {
  it('have their defaults', () => {
    expect(read()).toEqual({
      N: 16,
      learning_rate: 4e-5,
      prefix: false,
      bins: null,
      sizes: [16, 64],
      loss: 'ppo',
      path: null,
      rank: 1,
    });
  });

  it.each([
    ['N=64', { N: 64 }],
    ['--N=64', { N: 64 }],
    ['learning_rate=3e-4', { learning_rate: 3e-4 }],
    ['learning_rate=.5', { learning_rate: 0.5 }],
    ['prefix=True', { prefix: true }],
    ['prefix=false', { prefix: false }],
    ['bins=None', { bins: null }],
    ['bins=null', { bins: null }],
    ['bins=8', { bins: 8 }],
    ['sizes=(64, 256)', { sizes: [64, 256] }],
    ['sizes=64,256', { sizes: [64, 256] }],
    ['sizes=[64]', { sizes: [64] }],
    ['sizes=(64,)', { sizes: [64] }],
    ['loss=dro', { loss: 'dro' }],
    ['path=/a=b', { path: '/a=b' }],
  ])('%s', (argument, expected) => expect(read(argument)).toMatchObject(expected));

  it.each([
    [['--N', '64'], { N: 64 }],
    [['--prefix'], { prefix: true }],
    [['--prefix', '--N', '64', 'bins=8'], { prefix: true, N: 64, bins: 8 }],
    [['--path', '--N=3'], { path: '--N=3', N: 16 }],
    [['--prefix=False'], { prefix: false }],
    [['--learning-rate=0.5'], { learning_rate: 0.5 }],
    [['--learning-rate', '0.5'], { learning_rate: 0.5 }],
  ])('can be given as flags: %j', (argv, expected) => expect(read(...argv)).toMatchObject(expected));

  it('are refused without a value, or without a key, with the flag named', () => {
    expect(() => read('--prefix', '--N')).toThrow('--N has no value.');
    expect(() => read('--n', '3')).toThrow('no key `n`');
    expect(() => read('-N', '3')).toThrow('"-N" is not of the form');
  });

  it('take the last of repeated values', () => expect(read('N=1', 'N=2').N).toBe(2));

  it.each([
    ['n=64', /no key `n`/, /Did you mean `N`/],
    ['learning_rte=1', /no key `learning_rte`/, /Did you mean `learning_rate`/],
    ['zzzzzz=1', /no key `zzzzzz`/, /--help/],
    ['__proto__=1', /no key `__proto__`/, /--help/],
    ['N=0', /N=0 is not a value/, /int ≥ 1/],
    ['N=3.5', /N=3.5 is not/, /int ≥ 1/],
    ['learning_rate=fast', /learning_rate=fast/, /float ≥ 0/],
    ['learning_rate=1e999', /1e999/, /float/],
    ['prefix=yes', /prefix=yes/, /bool/],
    ['loss=sft', /loss=sft/, /ppo\|dro/],
    ['sizes=1,,2', /sizes/, /tuple of int/],
    ['N', /"N" is not of the form/, /N=64/],
    ['=3', /not of the form/, /N=64/],
  ])('are refused with a fix: %s', (argument, problem, fix) => {
    try {
      read(argument);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
      expect((error as UserError).message).toMatch(problem);
      expect((error as UserError).fix).toMatch(fix);
    }
  });

  it('read values in Python’s notation', () => {
    fc.assert(
      fc.property(
        fc.record({
          N: fc.integer({ min: 1 }),
          learning_rate: fc.double({ min: 0, max: 1e6, noNaN: true }),
          prefix: fc.boolean(),
          bins: fc.option(fc.integer({ min: 2 })),
          sizes: fc.array(fc.integer(), { minLength: 1 }),
        }),
        (values) => {
          const argv = Object.entries(values).map(([name, value]) => `${name}=${writeValue(value)}`);
          expect(read(...argv)).toMatchObject(values);
        },
      ),
    );
  });

  it('fail only with a UserError, whatever the arguments', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.string().map((value) => `N=${value}`),
          ),
        ),
        (argv) => {
          try {
            read(...argv);
          } catch (error) {
            expect(error).toBeInstanceOf(UserError);
          }
        },
      ),
    );
  });
});

describe('keys that tinker-cookbook has inside a setting', () => {
  const nested = {
    rate: key(float(0), 0.5, 'rate'),
    ...within('loss', { beta: key(float(0), 0, 'pull'), low: key(orNone(float(0)), null, 'bound') }),
    ...within('loss.clip', { high: key(float(0), 4, 'bound') }),
    ...within('data', { sizes: key(ints(), [16], 'sizes') }),
  };
  const standard = { rate: 0.5, beta: 0, low: null, high: 4, sizes: [16] };

  it.each([
    [['loss.beta=2'], { beta: 2 }],
    [['beta=2'], { beta: 2 }],
    [['--loss.low=2', 'loss.low=None'], {}],
    [['--loss.low', '2'], { low: 2 }],
    [['loss.clip.high=3'], { high: 3 }],
    [['...high=3'], { high: 3 }],
    [['...clip.high=3'], { high: 3 }],
    [['loss...high=3'], { high: 3 }],
    [['...rate=1'], { rate: 1 }],
    [['data.sizes=(64, 256)'], { sizes: [64, 256] }],
    [['...beta=2', 'loss.beta=1'], { beta: 1 }],
    [['loss.beta=1', '...beta=2'], { beta: 2 }],
  ])('%j', (argv, changed) => {
    expect(readArguments(nested, argv).config).toEqual({ ...standard, ...changed });
  });

  it('match `...name` as whole path segments, not by their endings', () => {
    const twice = { ...within('a', { seed: key(int(), 0, '') }), ...within('b', { other_seed: key(int(), 0, '') }) };
    expect(readArguments(twice, ['...seed=3'])).toEqual({
      config: { seed: 3, other_seed: 0 },
      given: new Set(['seed']),
    });
    const both = { ...twice, ...within('c', { seed: key(int(), 0, '') }), other: { ...twice.seed, path: 'c.seed' } };
    expect([...readArguments(both, ['...seed=3']).given]).toEqual(['seed', 'other']);
  });

  it.each(['data.beta=1', 'loss.=1', '.beta=1', '...=1', 'beta...=1', 'loss.betas=1', '...eta=1', 'rate.beta=1'])(
    'do not match %s',
    (argument) => expect(() => readArguments(nested, [argument])).toThrow(/There is no key/),
  );

  it('include those of losses and data sets', () => {
    const argv = ['loss_fn_config.clip_low_threshold=0.9', 'dataset_builder.N=64', '...group_size=8'];
    const { config, given } = readArguments(trainKeys, argv);
    expect(config).toMatchObject({ clip_low_threshold: 0.9, N: 64, group_size: 8, batch_size: 1 });
    expect([...given]).toEqual(['clip_low_threshold', 'N', 'group_size']);
  });
});

describe('the keys', () => {
  it('have the defaults of memory-rl', () => {
    const { config } = readArguments(trainKeys, []);
    expect(config).toMatchObject({
      env_type: 'single_step', N: 16, reward_type: 'binary', batch_size: 1, group_size: 4, n_batches: 1000,
      learning_rate: 4e-5, max_tokens: 8, eval_every: 10, save_every: 20, loss_fn: 'importance_sampling',
      use_standard_prefix: false, dataset_seed: 0, eval_bits: true, advantages: 'trajectory',
      skip_constant_groups: false, lora_alpha: 32,
    }); // prettier-ignore
    expect(readArguments(sftKeys, []).config).toMatchObject({
      learning_rate: 2e-4,
      lr_schedule: 'linear',
      batch_size: 128,
    });
  });

  it('are all listed in the help, with type, default and meaning', () => {
    const help = commandHelp('train', 'Learns.', trainKeys);
    for (const [name, { type, meaning }] of Object.entries(trainKeys)) {
      expect(help).toMatch(new RegExp(`^  ${name}=.*`, 'm'));
      expect(help).toContain(type.name);
      expect(help).toContain(meaning);
    }
    expect(help).toMatch(/given by a nested name: dataset_builder\.N, .*loss_fn_config\.beta\.\n$/);
    expect(commandHelp('none', 'Nothing.', { N: trainKeys.batch_size, seed: trainKeys.seed })).toContain(
      'dataset_builder',
    );
    expect(commandHelp('none', 'Nothing.', { seed: trainKeys.seed })).not.toContain('nested name');
  });
});
