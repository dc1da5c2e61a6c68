import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32c } from '../../../src/contract/crc32c.js';
import { Fields, varintAt, wire } from '../../../src/metrics/binary/protobuf.js';

describe('CRC-32C', () => {
  it.each([
    // RFC 3720, appendix B.4.
    { what: '32 bytes of 0', bytes: Buffer.alloc(32), crc: 0x8a9136aa },
    { what: '32 bytes of 255', bytes: Buffer.alloc(32, 255), crc: 0x62a8ab43 },
    { what: '0 to 31', bytes: Buffer.from(Array.from({ length: 32 }, (_, at) => at)), crc: 0x46dd794e },
    { what: '31 to 0', bytes: Buffer.from(Array.from({ length: 32 }, (_, at) => 31 - at)), crc: 0x113fdb5c },
    { what: '123456789', bytes: Buffer.from('123456789'), crc: 0xe3069283 },
  ])('of $what', ({ bytes, crc }) => {
    expect(crc32c(bytes, 0, bytes.length)).toBe(crc);
  });

  it('is of the bytes asked for alone', () => {
    const bytes = Buffer.from('xx123456789yy');
    expect(crc32c(bytes, 2, 11)).toBe(0xe3069283);
  });
});

describe('the fields of a protobuf message', () => {
  it('are walked over, whatever they hold', () => {
    const bytes = Buffer.from([8, 150, 1, 18, 2, 104, 105, 29, 0, 0, 128, 63, 33, 0, 0, 0, 0, 0, 0, 240, 63]);
    const fields = new Fields().walk(bytes, 0, bytes.length);
    const seen: unknown[] = [];
    while (fields.next()) {
      const value = { 0: () => fields.integer, 1: () => fields.double, 2: () => fields.text, 5: () => fields.float };
      seen.push([fields.number, value[fields.wire as 0 | 1 | 2 | 5]()]);
    }
    expect(seen).toEqual([[1, 150], [2, 'hi'], [3, 1], [4, 1]]); // prettier-ignore
    expect(fields.isBroken).toBe(false);
  });

  it.each([
    { value: 0, bytes: [0] },
    { value: 300, bytes: [172, 2] },
    { value: 2 ** 40, bytes: [128, 128, 128, 128, 128, 32] },
    { value: -1, bytes: [255, 255, 255, 255, 255, 255, 255, 255, 255, 1] },
  ])('hold $value as int64', ({ value, bytes }) => {
    expect(varintAt(Buffer.from(bytes), 0, bytes.length)).toBe(value);
  });

  it('end at the end of the message, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(60), (raw, cut) => {
        const bytes = Buffer.from(raw);
        const to = Math.min(cut, bytes.length);
        const fields = new Fields().walk(bytes, 0, to);
        for (let before = -1; fields.next(); before = fields.end) {
          expect(fields.end).toBeGreaterThan(before);
          expect(fields.end).toBeLessThanOrEqual(to);
          if (fields.wire === wire.varint) expect(Number.isFinite(fields.integer)).toBe(true);
        }
      }),
    );
  });
});
