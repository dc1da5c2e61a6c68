import { textWidth } from './display-width.js';

/** A sentence on as many lines as it takes; those after the first are indented. A word is never cut. */
export function wrap(text: string, width: number, indent = '  '): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && textWidth(longer) > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}

/** Text broken at blanks into lines of at most `width` characters; a longer word has a line of its own. */
export function wrapCharacters(text: string, width: number): string[] {
  return packed(
    text.split(/\s+/).filter((word) => word !== ''),
    width,
  );
}

/** Shell words on lines of at most `width` characters, with the backslashes that make them one command again. */
export function wrapCommand(words: readonly string[], width: number): string[] {
  const lines = packed(words, width - 2);
  return lines.map((line, index) => (index < lines.length - 1 ? `${line} \\` : line));
}

function packed(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
