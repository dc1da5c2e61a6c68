import { lazy } from '../base/lazy.js';

/** Late, because to make it takes longer than all else that a window begins with, and few texts need it. */
const segmenter = lazy(() => new Intl.Segmenter('en', { granularity: 'grapheme' }));

/** What a person takes for the characters of a text, from its beginning to its end. */
export function graphemes(text: string): Iterable<{ readonly segment: string; readonly index: number }> {
  return segmenter().segment(text);
}
