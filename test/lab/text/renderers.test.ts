import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { characterFiles, characterTokenizer } from '../../../src/lab/hugging-face/character-tokenizer.js';
import { loadTokenizer, openTokenizer, readTokenizerFiles } from '../../../src/lab/hugging-face/tokenizer.js';
import type { Message } from '../../../src/lab/text/conversation.js';
import { openRenderer, templateRenderer } from '../../../src/lab/text/renderers.js';
import { tempDirectory } from '../temp-directory.js';

const messages: Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Hello.' },
  { role: 'user', content: 'Bye' },
];

/** The vocabulary of characters with such a chat template. */
function withTemplate(template: unknown) {
  const config = JSON.parse(characterFiles.get('tokenizer_config.json')!) as object;
  const files = new Map([
    ...characterFiles,
    ['tokenizer_config.json', JSON.stringify({ ...config, chat_template: template })],
  ]);
  return openTokenizer(files, 'here');
}

describe('a conversation', () => {
  it.each([
    {
      name: 'role_colon',
      prompt: 'System: Be brief.\n\nUser: Hi\n\nAssistant: Hello.\n\nUser: Bye\n\nAssistant:',
      stop: ['\n\nUser:'],
    },
    {
      name: 'llama3',
      prompt:
        '<|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
      stop: ['<|eot_id|>'],
    },
    {
      name: 'qwen3',
      prompt:
        '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n',
      stop: ['<|im_end|>'],
    },
  ])('is rendered as a prompt: $name', ({ name, prompt, stop }) => {
    const renderer = openRenderer(name, characterTokenizer);
    expect(renderer.prompt(messages)).toBe(prompt);
    expect(renderer.stop).toEqual(stop);
  });

  it.each([
    ['role_colon', [' Hello.\n\n', ' So long.\n\nUser:']],
    ['llama3', ['Hello.<|eot_id|>', 'So long.<|eot_id|>']],
    ['chatml', ['Hello.<|im_end|>\n', 'So long.<|im_end|>']],
  ])('is rendered as an example whose answers follow their prompts: %s', (name, answers) => {
    const renderer = openRenderer(name, characterTokenizer);
    const whole = [...messages, { role: 'assistant', content: 'So long.' } as const];
    const pieces = renderer.pieces(whole);
    expect(pieces.filter(({ isAnswer }) => isAnswer).map(({ text }) => text)).toEqual(answers);
    const last = pieces
      .slice(0, -1)
      .map(({ text }) => text)
      .join('');
    expect(last).toBe(renderer.prompt(messages));
  });

  it('is rendered by the tokenizer’s chat template by default', () => {
    const prompt = (template: unknown) => openRenderer(null, withTemplate(template)).prompt(messages.slice(0, 2));
    const template = "{% for message in messages %}{{ message['role'] + '=' + message.content + ';' }}{% endfor %}";
    expect(prompt(template)).toBe('system=Be brief.;user=Hi;');
    const several = [
      { name: 'tool_use', template: '?' },
      { name: 'default', template },
    ];
    expect(prompt(several)).toBe('system=Be brief.;user=Hi;');
    expect(openRenderer('chatml', withTemplate(template)).name).toBe('chatml');
    expect(openRenderer(null, characterTokenizer).name).toBe('role_colon');
    expect(() => openRenderer('gemma', characterTokenizer)).toThrow('no renderer `gemma`');
  });

  it('is rendered by the template file when there is one, which is exported with the model', () => {
    const directory = tempDirectory();
    const template = "{% for message in messages %}{{ 'file:' + message.content }}{% endfor %}";
    for (const [name, text] of [...characterFiles, ['chat_template.jinja', template]] as const) {
      writeFileSync(join(directory, name), text);
    }
    expect(openRenderer(null, loadTokenizer(directory)!).prompt(messages.slice(1, 2))).toBe('file:Hi');
    expect(readTokenizerFiles(directory)!.get('chat_template.jinja')).toBe(template);
  });
});

/** Templates of our own in the manner of published ones, and what `render_jinja_template` of transformers 5.23.0 makes of them. */
const fixtures = JSON.parse(readFileSync('test/fixtures/hugging-face/chat-templates.json', 'utf8')) as {
  readonly name: string;
  readonly template: string;
  readonly texts: readonly { readonly messages: Message[]; readonly asks: boolean; readonly text: string }[];
}[];
const rendererOf = (text: string) => templateRenderer({ text, beginning: '<s>', ending: '</s>' });
const user: Message = { role: 'user', content: 'Hi' };
const answer: Message = { role: 'assistant', content: 'Hello.' };

describe('a chat template', () => {
  it.each(fixtures)('gives the same text as in Python: $name', ({ template, texts }) => {
    const renderer = rendererOf(template);
    expect(texts).toHaveLength(8);
    for (const { messages, asks, text } of texts) {
      const pieces = () => renderer.pieces(messages, true).map((piece) => piece.text);
      if (asks) expect(renderer.prompt(messages)).toBe(text);
      // An answer that others follow may be written otherwise than one that they do not.
      else if (messages.length < 3 || messages.at(-1)!.role === 'assistant') {
        expect(pieces().join('').trimEnd()).toBe(text.trimEnd());
      }
    }
  });

  it('defines what ends an answer: its text after one, or the end-of-text token', () => {
    const stops = fixtures.map(({ template }) => rendererOf(template).stop);
    expect(stops).toEqual([['<|eot|>'], ['</s>'], ['<|e|>']]);
    expect(rendererOf('{% for m in messages %}{{ m.content }}\n{% endfor %}').stop).toEqual(['</s>']);
  });

  it('separates answers from the text around them', () => {
    const { pieces } = rendererOf(fixtures[1]!.template);
    expect(pieces([user, answer, user, answer])).toEqual([
      { text: '<s>[Q] Hi [/Q]', isAnswer: false },
      { text: ' Hello.</s>', isAnswer: true },
      { text: '[Q] Hi [/Q]', isAnswer: false },
      { text: ' Hello.</s>', isAnswer: true },
    ]);
  });

  it('that renders earlier answers differently trains the last answer alone', () => {
    const { pieces } = rendererOf(fixtures[2]!.template);
    const conversation = [user, answer, user, answer];
    expect(() => pieces(conversation)).toThrow('writes an answer otherwise when more follows');
    expect(pieces(conversation, true)).toEqual([
      {
        text: '<|s|>user\nHi<|e|>\n<|s|>assistant\nHello.<|e|>\n<|s|>user\nHi<|e|>\n<|s|>assistant\n',
        isAnswer: false,
      },
      { text: '<think>\n\n</think>\n\nHello.<|e|>', isAnswer: true },
    ]);
  });

  it('gets no date, so that a run has the same prompts every day', () => {
    const dated = "{{ strftime_now('%Y') if strftime_now is defined else 'a year' }}";
    const said = rendererOf(`${dated}{% for m in messages %}:{{ m.content }}{% endfor %}`).prompt([user]);
    expect(said).toBe('a year:Hi');
  });

  it.each([
    ['{% for message in messages %}', 'cannot be used'],
    ["{{ raise_exception('Only for tools.') }}", 'Only for tools.'],
    ["{{ strftime_now('%Y') }}", 'cannot be used'],
    ['{% for m in messages %}{{ m.content[0].text }}{% endfor %}', 'cannot be used'],
    ["{{ messages[-1]['content'] }}", 'it leaves out what the user says'],
  ])('is refused, with a fix, when it cannot be rendered: %s', (template, problem) => {
    expect(() => rendererOf(template).prompt([user])).toThrow(problem);
    expect(() => rendererOf(template)).toThrow(
      expect.objectContaining({ fix: expect.stringContaining('renderer_name=') as string }),
    );
  });

  it('is refused for a conversation of which it drops a part', () => {
    const deaf = "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}";
    const conversation: Message[] = [{ role: 'system', content: 'Be brief.' }, user];
    expect(() => rendererOf(deaf).prompt(conversation)).toThrow('leaves out what the system says');
  });
});
