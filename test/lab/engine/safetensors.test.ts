import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import {
  readSafetensors,
  repeatedName,
  type StoredTensor,
  writeSafetensors,
} from '../../../src/lab/engine/safetensors.js';

const tensor = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 }).chain((shape) => {
  const length = shape.reduce((product, size) => product * size, 1);
  return fc.record({ shape: fc.constant(shape), values: fc.float32Array({ minLength: length, maxLength: length }) });
});
const name = fc.string({ unit: 'grapheme' }).filter((text) => text !== '__metadata__' && text !== '__proto__');
const contents = fc.record({
  tensors: fc.array(fc.tuple(name, tensor)).map((entries) => new Map<string, StoredTensor>(entries)),
  metadata: fc.dictionary(name, fc.string({ unit: 'grapheme' }), { noNullPrototype: true }),
});

/** A file with this header and this many bytes of data. */
function file(header: unknown, dataBytes = 0): Uint8Array {
  const json = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const bytes = new Uint8Array(8 + json.length + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  return bytes;
}

const entry = (dtype: string, shape: unknown, data_offsets: unknown) => ({ w: { dtype, shape, data_offsets } });

describe('a safetensors file', () => {
  it('reads back what was written', () => {
    fc.assert(
      fc.property(contents, (written) => {
        const read = readSafetensors(writeSafetensors(written));
        expect(read.metadata).toEqual(written.metadata);
        // The header is JSON: an object's whole-number keys come first, so the order of names is not kept.
        expect(new Set(read.tensors.keys())).toEqual(new Set(written.tensors.keys()));
        for (const [key, { shape, values }] of written.tensors) {
          expect(read.tensors.get(key)).toEqual({ shape, values });
        }
      }),
    );
  });

  it('begins as the format says: header length, JSON, spaces to a multiple of 8, little-endian floats', () => {
    const bytes = writeSafetensors({
      tensors: new Map([['w', { shape: [2], values: Float32Array.of(1, -2) }]]),
      metadata: {},
    });
    const header = '{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}';
    const padded = header.padEnd(Math.ceil(header.length / 8) * 8);
    expect(bytes[0]).toBe(padded.length);
    expect(new TextDecoder().decode(bytes.subarray(8, 8 + padded.length))).toBe(padded);
    expect([...bytes.subarray(8 + padded.length)]).toEqual([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
  });

  it.each([
    { dtype: 'F16', bytes: [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0x00, 0x7c], values: [1, -2, 2 ** -24, Infinity] },
    { dtype: 'BF16', bytes: [0x80, 0x3f, 0x00, 0xc0, 0x49, 0x40, 0x80, 0xff], values: [1, -2, 3.140625, -Infinity] },
    { dtype: 'F64', bytes: [0, 0, 0, 0, 0, 0, 0xf8, 0x3f], values: [1.5] },
  ])('may hold $dtype', ({ dtype, bytes, values }) => {
    const whole = file(entry(dtype, [values.length], [0, bytes.length]), bytes.length);
    whole.set(bytes, whole.length - bytes.length);
    expect([...readSafetensors(whole).tensors.get('w')!.values]).toEqual(values);
  });

  it.each([
    { what: 'nothing', bytes: new Uint8Array(3), says: /only 3 bytes/ },
    { what: 'a header that is longer than the file', bytes: new Uint8Array(16).fill(9), says: /promise a header/ },
    { what: 'a header that is not JSON', bytes: file('{"w":'), says: /not JSON/ },
    {
      what: 'a header that is not UTF-8',
      bytes: new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe]),
      says: /not JSON/,
    },
    { what: 'a header that is a list', bytes: file('[1]'), says: /not a JSON object/ },
    { what: 'an entry without a shape', bytes: file({ w: { dtype: 'F32' } }), says: /"w" properly/ },
    { what: 'a negative size', bytes: file(entry('F32', [-1], [0, 4]), 4), says: /"w" properly/ },
    { what: 'data that is missing', bytes: file(entry('F32', [2], [0, 8]), 4), says: /does not fit/ },
    { what: 'a size that contradicts the offsets', bytes: file(entry('F32', [2], [0, 4]), 8), says: /does not fit/ },
    {
      what: 'a header of more bytes than a number can count',
      bytes: new Uint8Array(16).fill(255),
      says: /header of 18446744073709551615 bytes/,
    },
    {
      what: 'a size that is not a number',
      bytes: file('{"w":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}', 4),
      says: /not JSON/,
    },
    {
      what: 'a size above what can be counted',
      bytes: file('{"w":{"dtype":"F32","shape":[1e308,1e308,0],"data_offsets":[0,0]}}'),
      says: /"w" properly/,
    },
    {
      what: 'sizes whose product overflows',
      bytes: file(entry('F32', Array(30).fill(2 ** 40), [0, 4]), 4),
      says: /does not fit/,
    },
    {
      what: 'two tensors of one name',
      bytes: file(
        '{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}',
        8,
      ),
      says: /names "w" twice/,
    },
    {
      what: 'tensors that overlap',
      bytes: file({ ...entry('F32', [2], [0, 8]), v: entry('F32', [1], [4, 8]).w }, 8),
      says: /"v" overlaps/,
    },
    {
      what: 'bytes between tensors that belong to none',
      bytes: file({ ...entry('F32', [1], [0, 4]), v: entry('F32', [1], [8, 12]).w }, 12),
      says: /"v" leaves 4 bytes/,
    },
    { what: 'bytes after the last tensor', bytes: file(entry('F32', [1], [0, 4]), 7), says: /last 3 bytes/ },
    { what: 'offsets that run backwards', bytes: file(entry('F32', [1], [8, 4]), 8), says: /does not fit/ },
    { what: 'a type that is not a number', bytes: file(entry('toString', [1], [0, 4]), 4), says: /type toString/ },
    { what: 'metadata that is not text', bytes: file({ __metadata__: { step: 3 } }), says: /metadata/ },
  ])('is refused when it has $what', ({ bytes, says }) => {
    expect(() => readSafetensors(bytes)).toThrow(UserError);
    expect(() => readSafetensors(bytes)).toThrow(says);
  });

  it('is refused when it is truncated at any byte', () => {
    const bytes = writeSafetensors({
      tensors: new Map([['w', { shape: [3], values: Float32Array.of(1, 2, 3) }]]),
      metadata: { step: '4' },
    });
    for (let length = 0; length < bytes.length; length++) {
      expect(() => readSafetensors(bytes.subarray(0, length))).toThrow(UserError);
    }
  });
});

describe('names in a JSON text', () => {
  it.each([
    ['{"a":1,"b":2,"a":3}', 'a'],
    ['{"a":{"x":1},"b":{"x":1,"y" :[],"x" : 2}}', 'x'],
    ['[{"a":1},{"a":2,"\\u0061":3}]', 'a'],
    ['{"\\"":1,"\\\\":2,"\\"":3}', '"'],
    ['{"":[{"":0}],"":1}', ''],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('are found when repeated: %s', (json, name) => expect(repeatedName(json)).toBe(name));

  it('are never reported twice for the output of JSON.stringify, whatever characters its texts contain', () => {
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

  it('are searched without recursion in a text of megabytes', () => {
    const long = 'x\\"'.repeat(1_000_000);
    expect(repeatedName(`{${JSON.stringify(long)}:1,${JSON.stringify(long)}:2}`)).toBe(long);
    expect(repeatedName('['.repeat(100_000) + ']'.repeat(100_000))).toBeNull();
  });
});
