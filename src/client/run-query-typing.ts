import { readRunQuery } from './run-query.js';
import { fieldNames } from './run-query-words.js';

const lastWord = /(?:"(?:[^"\\]|\\[^])*(?:"|$)|[^\s"])+\s*$/;

/**
 * What of a query that is still being typed can be used already: without the words at its end that are no term yet, or
 * may still become a field. Perhaps nothing.
 */
export function finishedPart(text: string): string {
  if (text.trim() === '') return '';
  const [last] = lastWord.exec(text) ?? [text];
  const rest = text.slice(0, text.length - last.length);
  const word = last.replace(/^[!(]+/, '').toLowerCase();
  const isOpen = /\S$/.test(last) && fieldNames.some((field) => field.startsWith(word));
  return isOpen || readRunQuery(text).kind === 'problem' ? finishedPart(rest) : text;
}
