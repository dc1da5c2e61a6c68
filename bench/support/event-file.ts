import { crc32c } from '../../src/contract/crc32c.js';
import { message, varint } from './protobuf-bytes.js';

/** One scalar as torch writes it. @param seconds When, in Unix time. */
export function event(tag: string, value: number, step: number, seconds = 1.7e9 + step): Buffer {
  const float = Buffer.alloc(5);
  float[0] = 21;
  float.writeFloatLE(value, 1);
  return eventOf(tag, float, step, seconds);
}

/** One value of any kind. @param content Its fields behind the tag. */
export function eventOf(tag: string, content: Buffer, step: number, seconds = 1.7e9 + step): Buffer {
  const time = Buffer.alloc(9);
  time[0] = 9;
  time.writeDoubleLE(seconds, 1);
  const summary = message(5, message(1, Buffer.concat([message(1, tag), content])));
  return record(Buffer.concat([time, Buffer.from([16, ...varint(step)]), summary]));
}

function record(data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 16);
  bytes.writeUInt32LE(data.length);
  bytes.writeUInt32LE(masked(crc32c(bytes, 0, 8)), 8);
  bytes.set(data, 12);
  bytes.writeUInt32LE(masked(crc32c(data, 0, data.length)), 12 + data.length);
  return bytes;
}

function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
