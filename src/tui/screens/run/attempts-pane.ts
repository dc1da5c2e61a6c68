import { lazy } from '../../../base/lazy.js';
import { cleanText } from '../../../text/display-text.js';
import type { RunDetails, RunSummary } from '../../state/port.js';
import { shortDuration } from '../../../text/duration.js';
import { fit, fitRight, type Line, span, type Tone } from '../../surface/span.js';
import { stateLook } from '../../model/state-look.js';
import { wrapWithin } from '../../../text/wrap.js';

type Attempt = RunDetails['record']['attempts'][number];

/** Inputs of the attempts pane. `now`: Unix ms. */
type ShownAttempts = {
  readonly run: RunSummary;
  readonly details: RunDetails | null | undefined;
  readonly now: number;
};

/** Columns of number, start, time and slot, including gaps. */
const numberWidth = 4;
const startWidth = 21;
const timeWidth = 8;
const mostRows = 3;

/** The attempts of a run in order: start, duration, place, and how each ended. Returns all lines, with a heading. */
export function attemptLines({ run, details, now }: ShownAttempts, width: number): Line[] {
  if (details === undefined) return [[span('reading…', 'faint')]];
  const attempts = details?.record.attempts ?? [];
  if (attempts.length === 0) return [[span('It has not been started yet.', 'faint')]];
  const slotWidth = Math.max(6, ...attempts.map(({ slot }) => slot.length + 2));
  const head = `${fit('#', numberWidth)}${fit('started', startWidth)}${fitRight('time', timeWidth)}  ${fit('slot', slotWidth)}ended`;
  const columns = numberWidth + startWidth + timeWidth + 2 + slotWidth;
  return [
    [span(head, 'faint')],
    ...attempts.flatMap((attempt, index) => {
      const isLast = index === attempts.length - 1;
      const code = codeChange(attempt, attempts[index - 1]);
      const ending = attempt.outcome === null && isLast ? aliveWords(run) : endingWords(attempt.outcome);
      const words = code === null ? ending.text : `${ending.text} · ${code}`;
      const start: Line = [
        span(fit(String(attempt.number), numberWidth), 'strong'),
        span(fit(clock().format(attempt.startedAt), startWidth)),
        span(fitRight(shortDuration((attempt.endedAt ?? now) - attempt.startedAt), timeWidth), 'value'),
        span(`  ${fit(cleanText(attempt.slot), slotWidth)}`, 'dim'),
      ];
      const room = Math.max(12, width - columns);
      return wrapWithin(words, room, mostRows).map((piece, row): Line =>
        row === 0 ? [...start, span(piece, ending.tone)] : [span(' '.repeat(columns)), span(piece, ending.tone)],
      );
    }),
  ];
}

type Ending = { readonly text: string; readonly tone: Tone };

function aliveWords({ state }: RunSummary): Ending {
  return { text: state, tone: stateLook[state].tone };
}

/** Class, code or signal, and reason. */
function endingWords(outcome: Attempt['outcome']): Ending {
  if (outcome === null) return { text: 'not known', tone: 'dim' };
  switch (outcome.kind) {
    case 'done':
      return {
        text: joined('done', outcome.rule === undefined ? undefined : `stopped when ${outcome.rule}`),
        tone: 'good',
      };
    case 'failed':
      return { text: joined(`failed, exit ${outcome.code}`, outcome.line), tone: 'bad' };
    case 'signal':
      return { text: joined(`ended by ${outcome.signal}`, outcome.line), tone: 'bad' };
    case 'oom':
      return { text: joined('out of memory', outcome.line), tone: 'bad' };
    case 'timeout':
      return { text: `timeout after ${shortDuration(outcome.seconds * 1000)}`, tone: 'bad' };
    case 'killed':
      return { text: 'killed by a user', tone: 'warn' };
    case 'lost':
      return { text: joined('lost', outcome.reason), tone: 'bad' };
  }
}

function joined(words: string, reason: string | undefined): string {
  return reason === undefined || reason === '' ? words : `${words} · ${cleanText(reason)}`;
}

/** The code that an attempt ran, if it differs from that of the previous one. */
function codeChange({ commit }: Attempt, previous: Attempt | undefined): string | null {
  if (commit === undefined || previous?.commit === undefined || previous.commit === commit) return null;
  return `commit ${cleanText(commit.slice(0, 9))}`;
}

/** `2026-01-05 12:00:31` in the time zone of the terminal, which is the Swedish format. */
const clock = lazy(() => new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' }));
