import { sectionRule } from './section.js';
import { fit, type Line, span, type Tone } from './span.js';
import { wrap } from './wrap.js';

/** The end of the log, newest line at the bottom, long lines wrapped: exactly `height` lines. `offset`: lines scrolled back. */
export function logSection(log: readonly string[], offset: number, width: number, height: number): Line[] {
  const right = offset > 0 ? [span(`${offset} lines below`, 'warn')] : [];
  return [sectionRule('log', right, width), ...logLines(log, offset, width, height - 1)];
}

function logLines(log: readonly string[], offset: number, width: number, height: number): Line[] {
  const last = Math.max(0, log.length - offset);
  const drawn: Line[] = [];
  for (let index = last - 1; index >= 0 && drawn.length < height; index--) {
    const text = log[index]!;
    const tone = toneOf(text);
    const pieces = text === '' ? [''] : wrap(text, width, 3);
    drawn.unshift(...pieces.map((piece): Line => [span(fit(piece, width), tone)]));
  }
  if (log.length === 0) drawn.push([span(fit('nothing written yet', width), 'faint')]);
  const shown = drawn.slice(Math.max(0, drawn.length - height));
  return [...shown, ...Array.from({ length: Math.max(0, height - shown.length) }, (): Line => [])];
}

/** What a line is about, as far as its words tell. */
function toneOf(text: string): Tone {
  if (/\b(?:\w*Error|\w*Exception|Traceback|FATAL|CRITICAL|panic|Killed)\b/.test(text)) return 'bad';
  if (/\b(?:WARN(?:ING)?|\w*Warning)\b/i.test(text)) return 'warn';
  return 'dim';
}
