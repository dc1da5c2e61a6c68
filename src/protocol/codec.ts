import type { z } from 'zod';
import { knownPart } from '../base/known-part.js';
import { LineSplitter } from '../base/line-splitter.js';
import { UserError } from '../base/user-error.js';
import type { ClientMessage, ServerMessage } from './message.js';

/** Length limit of a line in bytes; a longer one is not a message of ours. */
export const LONGEST_LINE = 16 << 20;

/** Encodes one message as a line, with its newline. */
export function encode(message: ClientMessage | ServerMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * Handlers of unknown parts in a newer program's messages. `ignored`: some keys of a message were unknown; the rest was understood.
 * `answered`: returns whether an invalid line was answered separately.
 */
type Strangers<Message> = {
  ignored?: (message: Message, keys: readonly string[]) => void;
  answered?: (json: unknown) => boolean;
};

/** Parses messages of one schema from a byte stream. One instance per connection. */
export class MessageReader<Message> {
  readonly #schema: z.ZodType<Message>;
  readonly #strangers: Strangers<Message>;
  readonly #lines = new LineSplitter();

  constructor(schema: z.ZodType<Message>, strangers: Strangers<Message> = {}) {
    this.#schema = schema;
    this.#strangers = strangers;
  }

  /**
   * The messages completed by this chunk. Throws a UserError at an invalid line without an answer, as the peer speaks another
   * protocol.
   */
  push(chunk: Uint8Array): Message[] {
    const lines = this.#lines.push(chunk);
    if (this.#lines.unfinished > LONGEST_LINE) throw strange(`a line of more than ${LONGEST_LINE} bytes`);
    return lines.flatMap((line) => this.#read(line));
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
