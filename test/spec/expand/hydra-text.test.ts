import { describe, expect, it } from 'vitest';
import type { Value } from '../../../src/spec/expand/expression/cel-environment.js';
import { hydraText } from '../../../src/spec/expand/hydra-text.js';

/** Each text on the right was read back as the value by Hydra 1.3's `OverridesParser`. */
describe('a value in Hydra’s grammar of overrides', () => {
  it.each<[Value, string]>([
    ['mysql', 'mysql'],
    ['last.ckpt', 'last.ckpt'],
    ['x/y.z-1', 'x/y.z-1'],
    ['../data/a', '../data/a'],
    ['log/epoch=999-step=87999.ckpt', "'log/epoch=999-step=87999.ckpt'"],
    ['bar,baz', "'bar,baz'"],
    ['a b', "'a b'"],
    ['', "''"],
    ['null', "'null'"],
    ['True', "'True'"],
    ['NaN', "'NaN'"],
    ['1', "'1'"],
    ['1e5', "'1e5'"],
    ['[1]', "'[1]'"],
    ['{a: 1}', "'{a: 1}'"],
    ['choice(1,2)', "'choice(1,2)'"],
    ['#x', "'#x'"],
    ['~', "'~'"],
    ['日本', "'日本'"],
    ['café', "'café'"],
    ["a'b", String.raw`'a\'b'`],
    ['a\\', String.raw`'a\\'`],
    ["a\\'b", String.raw`'a\\\'b'`],
    ['a\\b', String.raw`'a\b'`],
    ['a\nb', "'a\nb'"],
    ['${x}', "'${x}'"],
    [null, 'null'],
    [true, 'True'],
    [3, '3'],
    [1e-5, '1e-05'],
    [NaN, 'nan'],
    [-Infinity, '-inf'],
    [[1, 'a', 'a,b', null], "[1, 'a', 'a,b', null]"],
    [{ a: 1, 'b c': { d: ['x'] } }, String.raw`{a: 1, b\ c: {d: ['x']}}`],
    [{ 'k=v': 'null' }, String.raw`{k\=v: 'null'}`],
  ])('%j is written %s', (value, text) => {
    expect(hydraText(value)).toBe(text);
  });

  it('keeps the notation of the file where Hydra reads it as a number', () => {
    expect(hydraText(0, new Map([[0, '0.0']]))).toBe('0.0');
    expect(hydraText(16, new Map([[16, '0x10']]))).toBe('16');
  });
});
