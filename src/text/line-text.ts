import { displayText } from './display-text.js';

const harmless = /^[\x20-\x7e]*$/;

/** Text of any origin as a part of one line: without codes, and its own lines behind each other. */
export function lineText(text: string): string {
  return harmless.test(text) ? text : displayText(text.replace(/[\r\n]+/g, ' '));
}
