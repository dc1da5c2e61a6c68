import { readRunQuery } from './reading.js';
import { fieldNames } from './words.js';

/** While it is typed, a text is read at each key: what is longer was pasted, and is read once it is entered. */
export const LONGEST_TYPED = 2000;
/** Words looked at from the end, each with all that is before it. */
const MOST_DROPPED = 50;

const lastWord = /(?:"(?:[^"\\]|\\[^])*(?:"|$)|[^\s"])+\s*$/;

/**
 * What of a query that is still being typed can be used already: without the words at its end that are no term yet, or
 * may still become a field. Perhaps nothing.
 */
export function finishedPart(text: string): string {
  if (text.length > LONGEST_TYPED) return '';
  let part = text;
  for (let dropped = 0; part.trim() !== '' && dropped < MOST_DROPPED; dropped += 1) {
    const [last] = lastWord.exec(part) ?? [part];
    const word = last.replace(/^[!(]+/, '').toLowerCase();
    const isOpen = /\S$/.test(last) && fieldNames.some((field) => field.startsWith(word));
    if (!isOpen && readRunQuery(part).kind !== 'problem') return part;
    part = part.slice(0, part.length - last.length);
  }
  return '';
}
