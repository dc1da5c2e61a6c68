import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatedName } from '../../../src/lab/engine/repeated-name.js';

describe('names in a JSON text', () => {
  it.each([
    ['{"a":1,"b":2,"a":3}', 'a'],
    ['{"a":{"x":1},"b":{"x":1,"y" :[],"x" : 2}}', 'x'],
    ['[{"a":1},{"a":2,"\\u0061":3}]', 'a'],
    ['{"\\"":1,"\\\\":2,"\\"":3}', '"'],
    ['{"":[{"":0}],"":1}', ''],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('are found when they come twice: %s', (json, name) => expect(repeatedName(json)).toBe(name));

  it('never come twice in what JSON.stringify wrote, with whatever signs in its texts', () => {
    const texts = fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ':', ' ', 'a') });
    const values = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, texts, fc.array(tie('value')), fc.dictionary(texts, tie('value'))),
    })).value;
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        expect(repeatedName(JSON.stringify(value, null, indent))).toBeNull();
      }),
    );
  });

  it('are looked for in a text of megabytes without recursion', () => {
    const long = 'x\\"'.repeat(1_000_000);
    expect(repeatedName(`{${JSON.stringify(long)}:1,${JSON.stringify(long)}:2}`)).toBe(long);
    expect(repeatedName('['.repeat(100_000) + ']'.repeat(100_000))).toBeNull();
  });
});
