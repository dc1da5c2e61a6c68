import { fitLine, type Line, lineWidth, span } from '../surface/span.js';

/** A heading on a thin rule, with a text at the right end: `── chart ──────── s0 9.31 ──`. */
export function sectionRule(title: string, right: Line, width: number): Line {
  const head = [span('── ', 'faint'), span(title, 'accent'), span(' ', 'faint')];
  const tail = right.length === 0 ? [] : [span(' '), ...right, span(' ')];
  const rule = width - lineWidth(head) - lineWidth(tail);
  if (rule < 0) return fitLine(head, width);
  return [...head, span('─'.repeat(rule), 'faint'), ...tail];
}

/** The heading of the pane that keys act on, with a thicker, highlighted rule. */
export function inFocus(rule: Line): Line {
  return rule.map(({ text, tone, ...rest }) => {
    const isRule = /─/.test(text);
    return { text: text.replaceAll('─', '━'), tone: isRule ? 'accent' : tone === 'accent' ? 'title' : tone, ...rest };
  });
}
