/** Fields of protobuf messages, as bytes to be strung together. Knows no schema: who writes knows the numbers. */

const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 };

export function message(field: number, fields: readonly Buffer[]): Buffer {
  const content = Buffer.concat(fields);
  return Buffer.concat([key(field, wire.bytes), varintOf(content.length), content]);
}

export function text(field: number, content: string): Buffer {
  return message(field, [Buffer.from(content)]);
}

/** @param number Whole, from 0 up. */
export function whole(field: number, number: number): Buffer {
  return Buffer.concat([key(field, wire.varint), varintOf(number)]);
}

export function double(field: number, number: number): Buffer {
  const content = Buffer.alloc(8);
  content.writeDoubleLE(number);
  return Buffer.concat([key(field, wire.fixed64), content]);
}

export function single(field: number, number: number): Buffer {
  const content = Buffer.alloc(4);
  content.writeFloatLE(number);
  return Buffer.concat([key(field, wire.fixed32), content]);
}

function key(field: number, written: number): Buffer {
  return varintOf(field * 8 + written);
}

/** Seven bits a byte, the lowest first. @param number Whole, from 0 up. */
function varintOf(number: number): Buffer {
  const digits: number[] = [];
  let rest = number;
  for (; rest >= 128; rest = Math.floor(rest / 128)) digits.push((rest % 128) + 128);
  return Buffer.from([...digits, rest]);
}
