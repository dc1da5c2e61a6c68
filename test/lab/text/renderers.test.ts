import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { characterFiles, characterTokenizer } from '../../../src/lab/hugging-face/character-tokenizer.js';
import { loadTokenizer, openTokenizer, readTokenizerFiles } from '../../../src/lab/hugging-face/tokenizer.js';
import type { Message } from '../../../src/lab/text/conversation.js';
import { openRenderer } from '../../../src/lab/text/renderers.js';
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
  ])('is written for a model to go on with: $name', ({ name, prompt, stop }) => {
    const renderer = openRenderer(name, characterTokenizer);
    expect(renderer.prompt(messages)).toBe(prompt);
    expect(renderer.stop).toEqual(stop);
  });

  it.each([
    ['role_colon', [' Hello.\n\n', ' So long.\n\nUser:']],
    ['llama3', ['Hello.<|eot_id|>', 'So long.<|eot_id|>']],
    ['chatml', ['Hello.<|im_end|>\n', 'So long.<|im_end|>']],
  ])('is learnt from in its answers, each after the prompt that asks for it: %s', (name, answers) => {
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

  it('is written by the chat template of the tokenizer where no other renderer is named', () => {
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

  it('is written by the file of the template where there is one, which goes with the model', () => {
    const directory = tempDirectory();
    const template = "{% for message in messages %}{{ 'file:' + message.content }}{% endfor %}";
    for (const [name, text] of [...characterFiles, ['chat_template.jinja', template]] as const) {
      writeFileSync(join(directory, name), text);
    }
    expect(openRenderer(null, loadTokenizer(directory)!).prompt(messages.slice(1, 2))).toBe('file:Hi');
    expect(readTokenizerFiles(directory)!.get('chat_template.jinja')).toBe(template);
  });
});
