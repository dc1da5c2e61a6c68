import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/base/user-error.js';
import { story, type Split } from '../../../../src/lab/environments/stories/corpus.js';
import { cleanText, sourceText, storiesFrom } from '../../../../src/lab/environments/stories/story-source.js';
import { tempDirectory } from '../../temp-directory.js';

/** A new file with this content. */
function file(name: string, content: string | Uint8Array): string {
  const path = join(tempDirectory(), name);
  writeFileSync(path, content);
  return path;
}

const all = (path: string, split: Split): string[] => [...storiesFrom(path, split, 0)];
/** Of both splits, in alphabetical order. */
const either = (path: string): string[] =>
  (['train', 'test'] as const)
    .flatMap((split) => {
      try {
        return all(path, split);
      } catch {
        return [];
      }
    })
    .sort();
const first = (path: string | null): string => storiesFrom(path, 'train', 3).next().value as string;

describe('stories', () => {
  it('come from the grammar without a file', () => {
    expect(first(null)).toBe(story(3, 'train', 0));
    expect(sourceText(null)).toBe('stories from the grammar');
  });

  it.each([
    { name: 'a.txt', content: 'One.\nTwo is here.\r\n\n', says: 'one story a line' },
    { name: 'b.txt', content: 'One.\n\nTwo\nis here.\n', says: 'stories between blank lines' },
    {
      name: 'c.txt',
      content: '<|endoftext|>\nOne.\n<|endoftext|>\nTwo\n\nis here.',
      says: 'between lines that say <|endoftext|>',
    },
    { name: 'd.jsonl', content: '{"story":"One.","n":1}\n\n{"text":"Two is here."}\n', says: 'one object a line' },
  ])('have a layout that the beginning of the file tells: $says', ({ name, content, says }) => {
    const path = file(name, content);
    expect(either(path)).toEqual(['One.', 'Two is here.']);
    expect(sourceText(path)).toContain(`${says}, one in twenty`);
  });

  it('of a single file are split by a hash of their text, one in twenty for the test', () => {
    const texts = Array.from({ length: 4000 }, (_, index) => story(0, 'train', index));
    const path = file('all.txt', texts.join('\n'));
    const [train, test] = [all(path, 'train'), all(path, 'test')];
    expect(test.length / 4000).toBeCloseTo(0.05, 1);
    expect([...train, ...test].sort()).toEqual(texts.toSorted());
    // In another order no story changes sides.
    expect(all(file('back.txt', texts.toReversed().join('\n')), 'test')).toEqual(test.toReversed());
  });

  it('of a folder have a file for each split', () => {
    const folder = tempDirectory();
    writeFileSync(join(folder, 'train.txt'), 'One.\nTwo.');
    writeFileSync(join(folder, 'test.jsonl'), '{"text":"Three."}');
    expect([all(folder, 'train'), all(folder, 'test')]).toEqual([['One.', 'Two.'], ['Three.']]);
    expect(() => all(tempDirectory(), 'test')).toThrow(/no test\.jsonl and no test\.txt in/);
  });

  it('are cleaned of everything that is not ASCII', () => {
    expect(cleanText(' “It’s a\tcafé” — naïve…\u00a0日本 ')).toBe('"It\'s a cafe" - naive...');
    expect(cleanText('日本')).toBe('');
  });

  it('are read only as far as needed', () => {
    // Two gibibytes, of which all but the beginning would be refused.
    const path = file('large.txt', 'A story.\n'.repeat(300_000));
    const descriptor = openSync(path, 'r+');
    ftruncateSync(descriptor, 2 ** 31);
    writeSync(descriptor, 'x', 2 ** 31 - 1);
    closeSync(descriptor);
    expect(first(path)).toBe('A story.');
    expect(() => all(path, 'train')).toThrow(/bytes that are no text/);
  });

  it.each<{ what: string; path: () => string; says: RegExp }>([
    { what: 'nothing', path: () => '/nowhere/a.txt', says: /cannot be read: ENOENT/ },
    { what: 'an empty file', path: () => file('a.txt', ''), says: /it is empty/ },
    { what: 'an empty list', path: () => file('a.jsonl', ''), says: /holds no story of the train split/ },
    { what: 'blank lines', path: () => file('a.txt', ' \n \n\n'), says: /holds no story of the train split/ },
    { what: 'a picture', path: () => file('a.txt', Uint8Array.of(137, 80, 78, 71, 13, 10, 0)), says: /no text/ },
    { what: 'another encoding', path: () => file('a.txt', Uint8Array.of(65, 0xff, 66, 10)), says: /not UTF-8/ },
    { what: 'a character cut off', path: () => file('a.txt', Uint8Array.of(65, 10, 0xe2, 0x82)), says: /not UTF-8/ },
    {
      what: 'one endless line',
      path: () => file('a.txt', 'word '.repeat(300_000)),
      says: /a line has more than 1048576/,
    },
    {
      what: 'one endless story',
      path: () => file('a.txt', `a\n\n${'word\n'.repeat(300_000)}`),
      says: /ends at line .* too long/,
    },
    { what: 'another name', path: () => file('a.csv', 'a,b'), says: /neither in \.txt nor in \.jsonl/ },
    {
      what: 'no JSON',
      path: () => file('a.jsonl', '{"story":"A."}\nB.\n'),
      says: /a\.jsonl:2 cannot be read as stories/,
    },
    { what: 'other objects', path: () => file('a.jsonl', '{"title":"A."}\n'), says: /a\.jsonl:1 .* `story` or `text`/ },
  ])('are refused, in words, from $what', ({ path, says }) => {
    const from = path();
    expect(() => all(from, 'train')).toThrow(UserError);
    expect(() => all(from, 'train')).toThrow(says);
  });

  it.skipIf(process.platform === 'win32')(
    'are refused from a pipe, or a folder in the place of a file, without blocking',
    () => {
      const pipe = join(tempDirectory(), 'a.txt');
      execFileSync('mkfifo', [pipe]);
      expect(() => all(pipe, 'train')).toThrow(/not a regular file/);
      const folder = join(tempDirectory(), 'a.txt');
      mkdirSync(folder);
      expect(() => all(folder, 'train')).toThrow(/no train\.jsonl and no train\.txt/);
    },
  );
});
