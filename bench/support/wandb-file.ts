import { crc32 } from 'node:zlib';
import { integer, message } from './protobuf-bytes.js';

const BLOCK = 32_768;
const HEAD = 7;
const kind = { full: 1, first: 2, middle: 3, last: 4 };

/** Bytes of a `.wandb` file, record by record, as `wandb.init(mode="offline")` writes it. */
export class WandbFileBytes {
  readonly #pieces: Buffer[] = [Buffer.from(':W&B\xe1\xbe\x00', 'latin1')];
  #offset = HEAD;
  #number = 0;

  run(id: string, config: Readonly<Record<string, unknown>>): void {
    const settings = message(
      4,
      Buffer.concat(Object.entries(config).map(([key, value]) => message(1, item(key, value)))),
    );
    this.#record(17, Buffer.concat([message(1, id), message(3, 'bench'), settings, message(8, id)]));
  }

  history(step: number, values: Readonly<Record<string, number>>): void {
    const all = { ...values, _step: step, _runtime: step, _timestamp: 1.7e9 + step };
    const items = Object.entries(all).map(([key, value]) => message(1, item(key, value)));
    this.#record(2, Buffer.concat([...items, message(2, integer(1, step))]));
  }

  exit(code: number): void {
    this.#record(18, integer(1, code));
  }

  /** What was not taken before. */
  take(): Buffer {
    return Buffer.concat(this.#pieces.splice(0));
  }

  #record(field: number, content: Buffer): void {
    this.#number += 1;
    let rest = Buffer.concat([integer(1, this.#number), message(field, content)]);
    for (let isFirst = true; isFirst || rest.length > 0; isFirst = false) {
      const left = BLOCK - (this.#offset % BLOCK);
      if (left < HEAD) this.#write(Buffer.alloc(left));
      const room = BLOCK - (this.#offset % BLOCK) - HEAD;
      const isLast = rest.length <= room;
      const type = isFirst ? (isLast ? kind.full : kind.first) : isLast ? kind.last : kind.middle;
      const data = Buffer.concat([Buffer.from([type]), rest.subarray(0, room)]);
      const head = Buffer.alloc(HEAD - 1);
      head.writeUInt32LE(crc32(data));
      head.writeUInt16LE(data.length - 1, 4);
      this.#write(Buffer.concat([head, data]));
      rest = rest.subarray(room);
    }
  }

  #write(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#offset += bytes.length;
  }
}

function item(key: string, value: unknown): Buffer {
  return Buffer.concat([message(2, key), message(16, JSON.stringify(value))]);
}
