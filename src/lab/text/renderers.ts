/** Rendering of conversations for a model, and parsing of its answers: the formats of tinker-cookbook's renderers. */
import { UserError } from '../../base/user-error.js';
import { templateRenderer } from './chat-template.js';
import type { Message, Piece, Renderer } from './conversation.js';
import type { Tokenizer } from './tokenizer.js';

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
  return { name: chosen, stop: format.stop, ...written(format, beginning) };
}

/** The text of the vocabulary's beginning-of-text token. */
function beginningOf(tokenizer: Tokenizer): string {
  const [first] = tokenizer.encodeWhole('');
  return first === undefined || first === tokenizer.end ? '' : (tokenizer.token(first) ?? '');
}

function written(format: Format, beginning: string): Pick<Renderer, 'prompt' | 'pieces'> {
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
