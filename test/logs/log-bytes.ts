import type { LogSource } from '../../src/logs/log-source.js';

/** A log in memory that a test lets grow, empties or replaces; it counts what is read of it. */
export class LogInMemory implements LogSource {
  #bytes: Buffer;
  #identity = 1;
  /** Bytes read so far. */
  bytesRead = 0;
  isThere = true;

  constructor(text: string | Buffer = '') {
    this.#bytes = Buffer.from(text);
  }

  append(text: string | Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(text)]);
  }

  replace(text: string | Buffer): void {
    this.#bytes = Buffer.from(text);
    this.#identity += 1;
  }

  truncate(size: number): void {
    this.#bytes = this.#bytes.subarray(0, size);
  }

  look(): { size: number; identity: string } | null {
    return this.isThere ? { size: this.#bytes.length, identity: String(this.#identity) } : null;
  }

  read(from: number, length: number): Buffer {
    const bytes = this.#bytes.subarray(from, from + Math.max(0, length));
    this.bytesRead += bytes.length;
    return bytes;
  }
}
