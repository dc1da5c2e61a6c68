/** Chat templates of tokenizers: Jinja programs that write a conversation in the format its model was trained on. */
import { Template } from '@huggingface/jinja';
import { UserError } from '../../base/user-error.js';
import type { Message, Piece, Renderer } from './conversation.js';
import type { ChatTemplate } from './tokenizer.js';

type Render = (messages: readonly Message[], asksForAnswer: boolean) => string;

/** A placeholder for an answer. */
const anyAnswer = 'ANSWER';
/** Removes the library's date function from a template; the rest of its output stays the same. */
const withoutDate = '{% set strftime_now = no_date %}\n';

/**
 * Writes conversations as `apply_chat_template` of transformers does, without tools. There is no date: a template that
 * asks for one takes its fallback, so that a run has the same prompts on every day.
 *
 * @throws UserError when the template is invalid, and when it refuses a question and an answer.
 */
export function templateRenderer(chat: ChatTemplate): Renderer {
  const render = renderOf(chat);
  const example = render(
    [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: anyAnswer },
    ],
    false,
  );
  const after = example.slice(example.lastIndexOf(anyAnswer) + anyAnswer.length).trim();
  const stop = after === '' ? chat.ending : after;
  return {
    name: 'chat_template',
    prompt: (messages) => render(messages, true),
    pieces: (messages, onlyLast = false) => piecesOf(messages, render, onlyLast),
    stop: stop === null ? [] : [stop],
  };
}

function renderOf({ text, beginning, ending }: ChatTemplate): Render {
  const tokens = {
    ...(beginning !== null && { bos_token: beginning }),
    ...(ending !== null && { eos_token: ending }),
  };
  const template = refusing(() => new Template(`${withoutDate}${text}`));
  return (messages, asksForAnswer) => {
    const values = { ...tokens, messages, add_generation_prompt: asksForAnswer, tools: null, documents: null };
    const rendered = refusing(() => template.render(values));
    // Assistant messages are not checked: many templates leave out the thoughts of earlier answers.
    const missing = messages.find(({ role, content }) => role !== 'assistant' && !rendered.includes(content.trim()));
    if (missing === undefined) return rendered;
    throw refused(`it leaves out what the ${missing.role} says`);
  };
}

function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw refused((error as Error).message);
  }
}

function refused(why: string): UserError {
  return new UserError(
    `The chat template of the tokenizer cannot be used: ${why}.`,
    'Name a renderer that the model reads: renderer_name=role_colon, llama3 or chatml.',
  );
}

/** @param onlyLast Whether earlier answers count as part of the text before the last one. */
function piecesOf(messages: readonly Message[], render: Render, onlyLast: boolean): Piece[] {
  const whole = render(messages, false);
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const pieces: Piece[] = [];
  let done = 0;
  messages.forEach(({ role }, index) => {
    if (role !== 'assistant' || (onlyLast && index < last)) return;
    const question = render(messages.slice(0, index), true);
    const answered = render(messages.slice(0, index + 1), false);
    if (!answered.startsWith(question) || !whole.startsWith(answered)) {
      const why = 'it writes an answer otherwise when more follows, or not after the prompt that asks for it';
      throw refused(why);
    }
    const answer = answered.slice(question.length);
    pieces.push({ text: whole.slice(done, question.length), isAnswer: false });
    pieces.push({ text: index === messages.length - 1 ? answer.trimEnd() : answer, isAnswer: true });
    done = answered.length;
  });
  return done === whole.length ? pieces : [...pieces, { text: whole.slice(done), isAnswer: false }];
}
