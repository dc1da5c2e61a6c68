import { describe, expect, it } from 'vitest';
import { readYaml } from '../../../src/spec/file/yaml-source.js';

function read(text: string): unknown {
  const source = readYaml(`a: ${text}`, 'x.yaml', 'wandb');
  return 'value' in source ? (source.value as { a: unknown }).a : source;
}

/** Each as `yaml.safe_load` of PyYAML 6.0.3 has it, but for the last table. */
describe('words and numbers of a W&B file', () => {
  it.each<[string, unknown]>([
    ['yes', true],
    ['Yes', true],
    ['on', true],
    ['TRUE', true],
    ['no', false],
    ['NO', false],
    ['off', false],
    ['False', false],
    ['y', 'y'],
    ['n', 'n'],
    ['tRUE', 'tRUE'],
    ['None', 'None'],
    ['~', null],
    ['Null', null],
    ['', null],
    ['"yes"', 'yes'],
    ["'1'", '1'],
    ['12', 12],
    ['-7', -7],
    ['+7', 7],
    ['1_000', 1000],
    ['0x1f', 31],
    ['0x1e3', 483],
    ['-0x1f', -31],
    ['0b101', 5],
    ['017', 15],
    ['0', 0],
    ['08', '08'],
    ['0o17', '0o17'],
    ['1:30', 90],
    ['-1:30', -90],
    ['1:30.5', 90.5],
    ['1.', 1],
    ['.5', 0.5],
    ['1_0.5', 10.5],
    ['1.5e+3', 1500],
    ['1.5e-3', 0.0015],
    ['!!float 1.0', 1],
    ['1.2.3', '1.2.3'],
    ['1e', '1e'],
    ['e3', 'e3'],
    ['.', '.'],
    ['2024-01-31x', '2024-01-31x'],
  ])('%s', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  it.each<[string, number]>([
    ['1e-3', 0.001],
    ['2e5', 200_000],
    ['1E4', 10_000],
    ['-1e-3', -0.001],
    ['1.5e3', 1500],
    ['!!float 1e-5', 1e-5],
  ])('%s is a number, as W&B hands it on to programs', (text, value) => {
    expect(read(text)).toBe(value);
  });

  it('knows which numbers were written with a point or an exponent', () => {
    const source = readYaml('a: [1.0, 1e3, 0x1e3, 1_0.0, 12]', 'x.yaml', 'wandb');
    if (!('value' in source)) throw new Error('not YAML');
    expect([0, 1, 2, 3, 4].map((index) => source.writtenAsDouble(['a', index]))).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
  });

  it('takes in what `<<` names', () => {
    const source = readYaml('base: &b {x: on}\na: {<<: *b, y: off}', 'x.yaml', 'wandb');
    expect('value' in source && source.value).toEqual({ base: { x: true }, a: { x: true, y: false } });
  });
});
