/** Rendering of conversations for a model, and parsing of its answers: the formats of tinker-cookbook's renderers. */
import { Template } from '@huggingface/jinja';
import { UserError } from '../../base/user-error.js';
import type { Message, Piece, Renderer } from './conversation.js';
import type { ChatTemplate, Tokenizer } from './tokenizer.js';

/** Texts before and after the content of a message. */
type Format = {
  readonly before: (role: Message['role']) => string;
  readonly after: string;
  /** Text after the last answer of an example, which is trained with it. */
  readonly tail: string;
  readonly stop: readonly string[];
  /** Text at the start of an assistant's message that the prompt does not include. */
  readonly lead: string;
};

const roles = { system: 'System', user: 'User', assistant: 'Assistant' } as const;

const formats = {
  role_colon: {
    before: (role) => `${roles[role]}:`,
    lead: ' ',
    after: '\n\n',
    tail: 'User:',
    stop: ['\n\nUser:'],
  },
  llama3: {
    before: (role) => `<|start_header_id|>${role}<|end_header_id|>\n\n`,
    lead: '',
    after: '<|eot_id|>',
    tail: '',
    stop: ['<|eot_id|>'],
  },
  chatml: {
    before: (role) => `<|im_start|>${role}\n`,
    lead: '',
    after: '<|im_end|>\n',
    tail: '',
    stop: ['<|im_end|>'],
  },
} as const satisfies Record<string, Format>;

type FormatName = keyof typeof formats;
/** The cookbook's names for the same formats. */
const aliases: Readonly<Record<string, FormatName>> = { qwen3: 'chatml', qwen3_disable_thinking: 'chatml' };

/**
 * The renderer of that name; without a name, the tokenizer's chat template, or role_colon when it has none.
 *
 * @throws UserError for an unknown name, and for a template that cannot be used.
 */
export function openRenderer(name: string | null, tokenizer: Tokenizer): Renderer {
  if (name === null && tokenizer.chatTemplate !== undefined) return templateRenderer(tokenizer.chatTemplate);
  const chosen = name === null ? 'role_colon' : (aliases[name] ?? name);
  if (!Object.hasOwn(formats, chosen)) {
    const names = [...Object.keys(formats), ...Object.keys(aliases)].join(', ');
    throw new UserError(`There is no renderer \`${chosen}\`.`, `Use one of ${names}.`);
  }
  const beginning = beginningOf(tokenizer);
  const format: Format = formats[chosen as FormatName];
  return { name: chosen, stop: format.stop, ...renderWith(format, beginning) };
}

/** The text of the vocabulary's beginning-of-text token. */
function beginningOf(tokenizer: Tokenizer): string {
  const [first] = tokenizer.encodeWhole('');
  return first === undefined || first === tokenizer.end ? '' : (tokenizer.token(first) ?? '');
}

function renderWith(format: Format, beginning: string): Pick<Renderer, 'prompt' | 'pieces'> {
  const { before, after, lead, tail } = format;
  const message = ({ role, content }: Message) => `${before(role)}${lead}${content}${after}`;
  return {
    prompt: (messages) => `${beginning}${messages.map(message).join('')}${before('assistant')}`,
    pieces: (messages) => {
      const pieces: Piece[] = [];
      let unsaid = beginning;
      messages.forEach((each, index) => {
        if (each.role !== 'assistant') {
          unsaid += message(each);
          return;
        }
        const end =
          index === messages.length - 1 ? `${after.trimEnd() === '' ? after : after.trimEnd()}${tail}` : after;
        pieces.push({ text: `${unsaid}${before('assistant')}`, isAnswer: false });
        pieces.push({ text: `${lead}${each.content}${end}`, isAnswer: true });
        unsaid = '';
      });
      return unsaid === '' ? pieces : [...pieces, { text: unsaid, isAnswer: false }];
    },
  };
}

type Render = (messages: readonly Message[], asksForAnswer: boolean) => string;

/** A placeholder for an answer. */
const anyAnswer = 'ANSWER';
/** Removes the library's date function from a template; the rest of its output stays the same. */
const withoutDate = '{% set strftime_now = no_date %}\n';

/**
 * Chat templates of tokenizers are Jinja programs that write a conversation in the format its model was trained on. This
 * writes conversations as `apply_chat_template` of transformers does, without tools. There is no date: a template that
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
    throw templateError(`it leaves out what the ${missing.role} says`);
  };
}

function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw templateError((error as Error).message);
  }
}

function templateError(why: string): UserError {
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
      throw templateError(why);
    }
    const answer = answered.slice(question.length);
    pieces.push({ text: whole.slice(done, question.length), isAnswer: false });
    pieces.push({ text: index === messages.length - 1 ? answer.trimEnd() : answer, isAnswer: true });
    done = answered.length;
  });
  return done === whole.length ? pieces : [...pieces, { text: whole.slice(done), isAnswer: false }];
}
