/**
 * CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), eight bytes a step ("slicing by 8": Kounavis and Berry, 2005).
 * Node offers CRC-32 only, which uses another polynomial.
 */
const [t0, t1, t2, t3, t4, t5, t6, t7] = makeTables() as [Int32Array, ...Int32Array[]] & Record<number, Int32Array>;

/** The checksum of `bytes[from, to)`, as an unsigned number. */
export function crc32c(bytes: Uint8Array, from: number, to: number): number {
  let crc = -1;
  let at = from;
  for (; at + 8 <= to; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      t7![low & 255]! ^
      t6![(low >>> 8) & 255]! ^
      t5![(low >>> 16) & 255]! ^
      t4![low >>> 24]! ^
      t3![bytes[at + 4]!]! ^
      t2![bytes[at + 5]!]! ^
      t1![bytes[at + 6]!]! ^
      t0[bytes[at + 7]!]!;
  }
  for (; at < to; at++) crc = t0[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** The masked checksum that TFRecord files store, so that data which contains checksums does not have a constant checksum. */
export function maskedCrc32c(bytes: Uint8Array, from: number, to: number): number {
  const crc = crc32c(bytes, from, to);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function makeTables(): Int32Array[] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    return crc;
  });
  const all = [first];
  for (let index = 1; index < 8; index++) all.push(all[index - 1]!.map((crc) => first[crc & 255]! ^ (crc >>> 8)));
  return all;
}
