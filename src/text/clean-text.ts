import { displayText } from './display-text.js';

const harmless = /^[\u0020-\u007e]*$/;

/** Foreign text of any length made safe to draw in one row: no escape sequences, no control characters, one line. */
export function cleanText(text: string): string {
  return harmless.test(text) ? text : displayText(text.replace(/[\r\n]+/g, ' ').trim());
}
