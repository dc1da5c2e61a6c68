import type { z } from 'zod';
import { knownPart } from '../base/known-part.js';
import { LineSplitter } from '../base/line-splitter.js';
import { UserError } from '../base/user-error.js';
import type { ClientMessage, ServerMessage } from './message.js';

/** Longer lines are no message of ours; bytes. */
export const LONGEST_LINE = 16 << 20;

/** One message as a line, with its newline. */
export function encode(message: ClientMessage | ServerMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * What becomes of what a newer program says. `ignored`: keys of a message were not understood, the rest of it was. `answered`:
 * whether a line that makes no sense as a whole has had an answer of its own.
 */
type Strangers<Message> = {
  ignored?: (message: Message, keys: readonly string[]) => void;
  answered?: (json: unknown) => boolean;
};

/** Reads messages of one schema from a byte stream. One instance per connection. */
export class MessageReader<Message> {
  readonly #schema: z.ZodType<Message>;
  readonly #strangers: Strangers<Message>;
  readonly #lines = new LineSplitter();
  #unfinished = 0;

  constructor(schema: z.ZodType<Message>, strangers: Strangers<Message> = {}) {
    this.#schema = schema;
    this.#strangers = strangers;
  }

  /** Messages completed by this chunk. Throws a UserError at a line that is none and has no answer: the peer speaks another language. */
  push(chunk: Uint8Array): Message[] {
    const end = chunk.lastIndexOf(10);
    this.#unfinished = end < 0 ? this.#unfinished + chunk.length : chunk.length - end - 1;
    if (this.#unfinished > LONGEST_LINE) throw strange(`a line of more than ${LONGEST_LINE} bytes`);
    return this.#lines.push(chunk).flatMap((line) => this.#read(line));
  }

  #read(line: string): Message[] {
    const json = jsonOf(line);
    const parsed = knownPart(this.#schema, json);
    if (!parsed.success) return this.#refuse(line, json, parsed.error);
    if (parsed.unknown.length > 0) this.#strangers.ignored?.(parsed.data, parsed.unknown);
    return [parsed.data];
  }

  #refuse(line: string, json: unknown, { issues: [issue] }: z.ZodError): never[] {
    if (this.#strangers.answered?.(json) === true) return [];
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
    'Use the same version of memrl-tui on both ends: `memrl-tui restart` replaces the supervisor, its runs continue.',
  );
}
