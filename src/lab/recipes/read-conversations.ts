import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { supervisedExample, type Example } from '../text/role-colon.js';

const Conversation = z.looseObject({
  messages: z
    .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
    .refine((messages) => messages.at(-1)?.role === 'assistant', 'the last message must be the assistant’s'),
});

/**
 * Reads JSON lines of `{"messages": […]}` as examples that train on the last answer.
 *
 * @throws UserError that names the file and the line.
 */
export function readConversations(path: string): Example[] {
  // Data sets of one fact repeat one line; equal lines give one and the same example.
  const known = new Map<string, Example>();
  return readLines(path).flatMap((line, index) => {
    if (line.trim() === '') return [];
    const example = known.get(line) ?? exampleOf(line, `${path}:${index + 1}`);
    known.set(line, example);
    return [example];
  });
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch (cause) {
    throw new UserError(
      `The training data ${path} cannot be read.`,
      'Write it with memrl sft-data, or give its path as train_data_path.',
      { cause },
    );
  }
}

function exampleOf(line: string, where: string): Example {
  const parsed = Conversation.safeParse(parseJson(line));
  if (parsed.success) return supervisedExample(parsed.data.messages, 'last assistant message');
  const why = parsed.error.issues[0]?.message ?? 'unknown';
  throw new UserError(
    `${where} is not a conversation: ${why}.`,
    'Each line must be an object with `messages`, the last of them the assistant’s.',
  );
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
