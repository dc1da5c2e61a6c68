import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import type { XChoice } from '../widgets/chart/x-axis.js';
import { fit, type Line, onBackground, span } from '../widgets/span.js';

/** What the x axis can be, one to a line, the chosen one marked; what cannot be chosen is dim, and says so when one tries. */
export function xChoiceLines(choices: readonly XChoice[], chosen: number): Line[] {
  const width = Math.max(12, ...choices.map(({ label }) => textWidth(cleanText(label))));
  const words = choices.map(({ about, refusal }) => (refusal === null ? about : 'these runs do not write the time'));
  const aboutWidth = Math.max(...words.map(({ length }) => length)) + 1;
  return choices.map(({ label, refusal }, position): Line => {
    const isOffered = refusal === null;
    const line = [
      span(` ${fit(cleanText(label), width)}  `, isOffered ? 'plain' : 'dim'),
      span(fit(words[position]!, aboutWidth), 'dim'),
    ];
    return position === chosen ? onBackground(line, 'selected') : line;
  });
}
