import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { templateRenderer } from '../../../src/lab/text/chat-template.js';
import type { Message } from '../../../src/lab/text/conversation.js';

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
  it.each(fixtures)('writes what it writes in Python: $name', ({ template, texts }) => {
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

  it('says what ends an answer: what it writes after one, or the end of a text', () => {
    const stops = fixtures.map(({ template }) => rendererOf(template).stop);
    expect(stops).toEqual([['<|eot|>'], ['</s>'], ['<|e|>']]);
    expect(rendererOf('{% for m in messages %}{{ m.content }}\n{% endfor %}').stop).toEqual(['</s>']);
  });

  it('has its answers apart from what is before and between them', () => {
    const { pieces } = rendererOf(fixtures[1]!.template);
    expect(pieces([user, answer, user, answer])).toEqual([
      { text: '<s>[Q] Hi [/Q]', isAnswer: false },
      { text: ' Hello.</s>', isAnswer: true },
      { text: '[Q] Hi [/Q]', isAnswer: false },
      { text: ' Hello.</s>', isAnswer: true },
    ]);
  });

  it('that writes earlier answers otherwise teaches the last alone', () => {
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

  it('sees no date, so that a run has the same prompts on every day', () => {
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
  ])('is refused with a way out where it cannot be rendered: %s', (template, problem) => {
    expect(() => rendererOf(template).prompt([user])).toThrow(problem);
    expect(() => rendererOf(template)).toThrow(
      expect.objectContaining({ fix: expect.stringContaining('renderer_name=') as string }),
    );
  });

  it('is refused for a conversation that it leaves something out of', () => {
    const deaf = "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}";
    const conversation: Message[] = [{ role: 'system', content: 'Be brief.' }, user];
    expect(() => rendererOf(deaf).prompt(conversation)).toThrow('leaves out what the system says');
  });
});
