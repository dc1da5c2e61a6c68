/** A field of bytes or text, with its number and length before it. */
export function message(field: number, content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(bytes.length)]), bytes]);
}

/** A field with a whole number. */
export function integer(field: number, value: number): Buffer {
  return Buffer.from([...varint(field * 8), ...varint(value)]);
}

export function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
}
