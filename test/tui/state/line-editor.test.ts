import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  editLine,
  type EditedLine,
  emptyLine,
  lineOf,
  replaceBeforeCursor,
} from '../../../src/tui/state/line-editor.js';

/** Presses keys one after the other; keys that do not edit change nothing. */
function play(start: EditedLine, ...keys: string[]): EditedLine {
  return keys.reduce((line, key) => editLine(line, key) ?? line, start);
}

/** `ab|c`: the cursor is before the c. */
function shown({ text, at }: EditedLine): string {
  return `${text.slice(0, at)}|${text.slice(at)}`;
}

describe('a line that is typed', () => {
  it.each<{ when: string; from?: string; keys: string[]; to: string }>([
    { when: 'letters and blanks', keys: ['a', 'space', 'b'], to: 'a b|' },
    { when: 'in the middle', from: 'ac', keys: ['left', 'b'], to: 'ab|c' },
    { when: 'left of the start is the start', from: 'a', keys: ['left', 'left'], to: '|a' },
    { when: 'right of the end is the end', from: 'a', keys: ['right'], to: 'a|' },
    { when: 'to the ends by name', from: 'abc', keys: ['home', 'x', 'end', 'y'], to: 'xabcy|' },
    { when: 'to the ends as in readline', from: 'abc', keys: ['ctrl-a', 'x', 'ctrl-e', 'y'], to: 'xabcy|' },
    { when: 'erases before the cursor', from: 'abc', keys: ['left', 'backspace'], to: 'a|c' },
    { when: 'erases after it', from: 'abc', keys: ['home', 'delete', 'ctrl-d'], to: '|c' },
    { when: 'nothing to erase', keys: ['backspace', 'delete', 'ctrl-w', 'ctrl-u', 'ctrl-k'], to: '|' },
    { when: 'erases a word, with the blanks after it', from: 'kill status:failed  ', keys: ['ctrl-w'], to: 'kill |' },
    { when: 'erases to the start', from: 'abc', keys: ['left', 'ctrl-u'], to: '|c' },
    { when: 'erases to the end', from: 'abc', keys: ['left', 'left', 'ctrl-k'], to: 'a|' },
    { when: 'a flag is one character', from: 'a🇨🇭', keys: ['left', 'b'], to: 'ab|🇨🇭' },
    { when: 'a family goes as a whole', from: '👩‍👩‍👧', keys: ['backspace'], to: '|' },
    { when: 'an accent joins its letter', from: 'e', keys: ['\u0301', 'left'], to: '|e\u0301' },
  ])('$when', ({ from = '', keys, to }) => {
    expect(shown(play(lineOf(from), ...keys))).toBe(to);
  });

  it.each(['up', 'down', 'enter', 'escape', 'tab', 'pageup', 'ctrl-c', 'ctrl-z', '', '\u0007'])(
    'leaves %j to its owner',
    (key) => {
      expect(editLine(lineOf('abc'), key)).toBeNull();
    },
  );

  it('completes the word before the cursor', () => {
    expect(shown(replaceBeforeCursor({ text: 'not sta x', at: 7 }, 4, 'status:'))).toBe('not status:| x');
  });

  it('keeps the cursor between two characters, whatever is pressed', () => {
    const named = ['left', 'right', 'home', 'end', 'backspace', 'delete', 'ctrl-w', 'ctrl-u', 'ctrl-k', 'space'];
    const key = fc.oneof(fc.constantFrom(...named), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }));
    const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(key, { maxLength: 40 }), (text, keys) => {
        let line = lineOf(text);
        for (const each of keys) {
          line = editLine(line, each) ?? line;
          const bounds = [...segmenter.segment(line.text)].map(({ index }) => index);
          expect([...bounds, line.text.length]).toContain(line.at);
        }
      }),
    );
  });

  it('types back what was pasted', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        const keys = [...text].map((character) => (character === ' ' ? 'space' : character));
        expect(play(emptyLine, ...keys)).toEqual(lineOf(text));
      }),
    );
  });
});
