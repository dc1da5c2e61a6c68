import { appendFileSync, existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { maskedCrc32c } from '../../contract/crc32c.js';
import type { Row } from './metrics-file.js';

/** Of the protobuf messages that TensorFlow calls Event, SessionLog and Summary.Value: numbers of the fields. */
const event = { wallTime: 1, step: 2, fileVersion: 3, summary: 5, sessionLog: 7 };
const value = { tag: 1, simple: 2 };
const summaryValue = 1;
const sessionStatus = 1;
const START = 1;

/** How a field is written. */
const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 };

/** Takes rows. */
export type EventsFile = { readonly append: (row: Row & { readonly step: number }) => void };

/**
 * A file of this attempt that TensorBoard reads, as its own writers name it. What earlier attempts wrote of steps that are done
 * again no longer counts: the file begins by saying so.
 *
 * Values have single precision, which is all that the format has; those that are no number are NaN.
 *
 * @param start The first step of this attempt. @param time Unix ms.
 */
export function openEvents(directory: string, { start, time }: { start: number; time: () => number }): EventsFile {
  const path = freshPath(directory, time());
  const write = (...fields: Buffer[]) =>
    appendFileSync(path, record([double(event.wallTime, time() / 1000), ...fields]));
  write(text(event.fileVersion, 'brain.Event:2'));
  if (start > 0) write(whole(event.step, start), message(event.sessionLog, [whole(sessionStatus, START)]));
  return {
    append: ({ step, ...values }) => write(whole(event.step, step), message(event.summary, summaryOf(values))),
  };
}

/** `events.out.tfevents.1700000000.host.4711.0`: in the order of their names, files are in that of time. */
function freshPath(directory: string, time: number): string {
  const seconds = String(Math.floor(time / 1000)).padStart(10, '0');
  for (let number = 0; ; number += 1) {
    const path = join(directory, `events.out.tfevents.${seconds}.${hostname()}.${pid}.${number}`);
    if (!existsSync(path)) return path;
  }
}

function summaryOf(values: Readonly<Record<string, number | null | undefined>>): Buffer[] {
  return Object.entries(values).map(([tag, number]) =>
    message(summaryValue, [text(value.tag, tag), single(value.simple, number ?? NaN)]),
  );
}

/** The length, its checksum, the data, and their checksum: TFRecord. */
function record(fields: readonly Buffer[]): Buffer {
  const data = Buffer.concat(fields);
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(data.length), 0);
  head.writeUInt32LE(maskedCrc32c(head, 0, 8), 8);
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(maskedCrc32c(data, 0, data.length), 0);
  return Buffer.concat([head, data, tail]);
}

function message(field: number, fields: readonly Buffer[]): Buffer {
  const content = Buffer.concat(fields);
  return Buffer.concat([key(field, wire.bytes), varintOf(content.length), content]);
}

function text(field: number, content: string): Buffer {
  return message(field, [Buffer.from(content)]);
}

function whole(field: number, number: number): Buffer {
  return Buffer.concat([key(field, wire.varint), varintOf(number)]);
}

function double(field: number, number: number): Buffer {
  const content = Buffer.alloc(8);
  content.writeDoubleLE(number);
  return Buffer.concat([key(field, wire.fixed64), content]);
}

function single(field: number, number: number): Buffer {
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
