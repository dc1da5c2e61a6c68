import type { RunQuery } from './query.js';
import { quote } from './text.js';
import { everyRun, isFact } from './words.js';

/** The text of a query; parsing it gives the same tree. */
export function printRunQuery(query: RunQuery): string {
  switch (query.kind) {
    case 'all':
      return query.parts.length === 0 ? everyRun : query.parts.map((part) => inside(part, ['any'])).join(' ');
    case 'any':
      return query.parts.map((part) => printRunQuery(part)).join(' or ');
    case 'not':
      return `not ${inside(query.part, ['all', 'any'])}`;
    case 'word':
      return bare(query.text);
    case 'field':
      return `${query.field}:${query.choices.map(choiceText).join(',')}`;
    case 'fact':
      return `${query.fact}${query.operator}${query.value}`;
    default:
      return `${keyText(query.key)}${query.operator}${valueText(query.value)}`;
  }
}

function inside(query: RunQuery, wrapped: readonly RunQuery['kind'][]): string {
  return wrapped.includes(query.kind) ? `(${printRunQuery(query)})` : printRunQuery(query);
}

const plainWord = /^[^\s()"=<>!:]+$/;
const plainValue = /^[^\s()"]+$/;
const signWord = new RegExp(`^(?:and|or|not|${everyRun})$`, 'i');

function bare(text: string): string {
  return plainWord.test(text) && !signWord.test(text) ? text : quote(text);
}

function keyText(key: string): string {
  return plainWord.test(key) && !isFact(key) ? key : quote(key);
}

function valueText(value: string): string {
  // A value that begins with `=` would be read as a part of the sign before it.
  return plainValue.test(value) && !value.startsWith('=') ? value : quote(value);
}

function choiceText(choice: string): string {
  return plainValue.test(choice) && !choice.includes(',') ? choice : quote(choice);
}
