import type { z } from 'zod';
import { LineSplitter } from '../base/line-splitter.js';
import { UserError } from '../base/user-error.js';
import type { ClientMessage, ServerMessage } from './message.js';

/** Longer lines are no message of ours; bytes. */
export const LONGEST_LINE = 16 << 20;

/** One message as a line, with its newline. */
export function encode(message: ClientMessage | ServerMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/** Reads messages of one schema from a byte stream. One instance per connection. */
export class MessageReader<Message> {
  readonly #schema: z.ZodType<Message>;
  readonly #lines = new LineSplitter();
  #unfinished = 0;

  constructor(schema: z.ZodType<Message>) {
    this.#schema = schema;
  }

  /** Messages completed by this chunk. Throws a UserError at a line that is none: the peer speaks another language. */
  push(chunk: Uint8Array): Message[] {
    const end = chunk.lastIndexOf(10);
    this.#unfinished = end < 0 ? this.#unfinished + chunk.length : chunk.length - end - 1;
    if (this.#unfinished > LONGEST_LINE) throw strange(`a line of more than ${LONGEST_LINE} bytes`);
    return this.#lines.push(chunk).map((line) => this.#read(line));
  }

  #read(line: string): Message {
    const parsed = this.#schema.safeParse(jsonOf(line));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw strange(`${line.slice(0, 80)} (${issue?.path.join('.')}: ${issue?.message})`);
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function strange(what: string): UserError {
  return new UserError(
    `The other end of the socket said something this version does not understand: ${what}`,
    'Use the same version of memrl-tui on both ends; end the old supervisor once its runs are done.',
  );
}
