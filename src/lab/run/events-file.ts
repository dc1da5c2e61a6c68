import { appendFileSync, existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { maskedCrc32c } from '../../contract/crc32c.js';
import type { Row } from './metrics-file.js';
import { double, message, single, text, varintField } from './protobuf-writer.js';

/** Field numbers of the protobuf messages that TensorFlow calls Event, SessionLog and Summary.Value. */
const event = { wallTime: 1, step: 2, fileVersion: 3, summary: 5, sessionLog: 7 };
const value = { tag: 1, simple: 2 };
const summaryValue = 1;
const sessionStatus = 1;
const START = 1;

/** Takes rows. */
type EventsFile = { readonly append: (row: Row & { readonly step: number }) => void };

/**
 * A file of this attempt for TensorBoard, named as its own writers name it. It begins with a record that invalidates
 * the steps of earlier attempts that are done again.
 *
 * Values have single precision, which is all that the format has; those that are not finite are NaN.
 *
 * @param start The first step of this attempt.
 * @param time Unix ms.
 */
export function openEvents(directory: string, { start, time }: { start: number; time: () => number }): EventsFile {
  const path = freshPath(directory, time());
  const write = (...fields: Uint8Array[]) =>
    appendFileSync(path, record([double(event.wallTime, time() / 1000), ...fields]));
  write(text(event.fileVersion, 'brain.Event:2'));
  if (start > 0) write(varintField(event.step, start), message(event.sessionLog, [varintField(sessionStatus, START)]));
  return {
    append: ({ step, ...values }) => write(varintField(event.step, step), message(event.summary, summaryOf(values))),
  };
}

/** `events.out.tfevents.1700000000.host.4711.0`: the alphabetical order of names is the order of time. */
function freshPath(directory: string, time: number): string {
  const seconds = String(Math.floor(time / 1000)).padStart(10, '0');
  for (let number = 0; ; number += 1) {
    const path = join(directory, `events.out.tfevents.${seconds}.${hostname()}.${pid}.${number}`);
    if (!existsSync(path)) return path;
  }
}

function summaryOf(values: Readonly<Record<string, number | null | undefined>>): Uint8Array[] {
  return Object.entries(values).map(([tag, number]) =>
    message(summaryValue, [text(value.tag, tag), single(value.simple, number ?? NaN)]),
  );
}

/** The length, its checksum, the data, and their checksum: TFRecord. */
function record(fields: readonly Uint8Array[]): Buffer {
  const data = Buffer.concat(fields);
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(data.length), 0);
  head.writeUInt32LE(maskedCrc32c(head, 0, 8), 8);
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(maskedCrc32c(data, 0, data.length), 0);
  return Buffer.concat([head, data, tail]);
}
