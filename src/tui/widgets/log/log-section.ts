import { attemptRule } from '../../../contract/attempt-separator.js';
import { sectionRule } from '../section.js';
import { fit, type Line, span, type Tone } from '../../surface/span.js';
import { wrapWithin } from '../../../text/wrap.js';

/** The shown part of a log. `offset`: lines scrolled back. `wraps`: whether lines are wrapped or cut to one row each. */
type LogView = { readonly offset: number; readonly wraps: boolean };

/** The end of the log with the newest line at the bottom: exactly `height` lines. Lines about errors are never cut. */
export function logSection(log: readonly string[], view: LogView, width: number, height: number): Line[] {
  const right = view.offset > 0 ? [span(`${view.offset} lines below`, 'warn')] : [];
  return [sectionRule('log', right, width), ...logLines(log, view, width, height - 1)];
}

function logLines(log: readonly string[], { offset, wraps }: LogView, width: number, height: number): Line[] {
  const last = Math.max(0, log.length - offset);
  const drawn: Line[] = [];
  for (let index = last - 1; index >= 0 && drawn.length < height; index--) {
    const text = log[index]!;
    const tone = logTone(text);
    const pieces = wrapWithin(text, width, wraps || tone === 'bad' ? 4 : 1);
    drawn.unshift(...pieces.map((piece): Line => [span(fit(piece, width), tone)]));
  }
  if (log.length === 0) drawn.push([span(fit('nothing written yet', width), 'faint')]);
  const shown = drawn.slice(Math.max(0, drawn.length - height));
  return [...shown, ...Array.from({ length: Math.max(0, height - shown.length) }, (): Line => [])];
}

/** The tone of a line, guessed from its words. */
export function logTone(text: string): Tone {
  if (attemptRule.test(text)) return 'accent';
  if (/\b(?:\w*Error|\w*Exception|Traceback|FATAL|CRITICAL|panic|Killed)\b/.test(text)) return 'bad';
  if (/\b(?:WARN(?:ING)?|\w*Warning)\b/i.test(text)) return 'warn';
  return 'dim';
}
