import { lazy } from '../../../base/lazy.js';
import { cleanText } from '../../../text/display-text.js';
import type { RunDetails, RunSummary } from '../../state/port.js';
import { shortDuration } from '../../../text/duration.js';
import { span, type Tone } from '../../surface/span.js';
import { type Column, Table, tableWidth } from '../../widgets/table.js';
import { Row } from '../../widgets/text.js';
import { stateLook } from '../../model/state-look.js';
import { wrapWithin } from '../../../text/wrap.js';

type Attempt = RunDetails['record']['attempts'][number];

/** Inputs of the attempts pane. `now`: Unix ms. */
type ShownAttempts = {
  readonly run: RunSummary;
  readonly details: RunDetails | null | undefined;
  readonly now: number;
};

const mostRows = 3;

/** A row of the table: an attempt with the first row of its ending, or a further row of that. */
type Item = { readonly attempt: Attempt | null; readonly ending: string; readonly tone: Tone };

/** The attempts of a run in order: start, duration, place, and how each ended. */
export function Attempts({ run, details, now, width }: ShownAttempts & { readonly width: number }) {
  const attempts = details?.record.attempts ?? [];
  if (details === undefined) return <Row line={[span('reading…', 'faint')]} />;
  if (attempts.length === 0) return <Row line={[span(withoutAttempts(run), 'faint')]} />;
  const column = (title: string, width: number, text: (attempt: Attempt) => string, tone: Tone): Column<Item> => ({
    ...{ title, width, gap: 0 },
    cell: ({ attempt }) => (attempt === null ? [] : [span(text(attempt), tone)]),
  });
  const timeText = ({ startedAt, endedAt }: Attempt) => shortDuration((endedAt ?? now) - startedAt);
  const columns: Column<Item>[] = [
    column('#', 4, ({ number }) => String(number), 'strong'),
    column('started', 21, ({ startedAt }) => clock().format(startedAt), 'plain'),
    { ...column('time', 8, timeText, 'value'), isRight: true },
    {
      ...column(
        'slot',
        Math.max(6, ...attempts.map(({ slot }) => slot.length + 2)),
        ({ slot }) => cleanText(slot),
        'dim',
      ),
      gap: 2,
    },
    { title: 'ended', gap: 0, cell: ({ ending, tone }) => [span(ending, tone)] },
  ];
  const room = Math.max(12, width - tableWidth(columns));
  const items = attempts.flatMap((attempt, index): Item[] => {
    const { text, tone } = endingOf(run, attempts, index);
    return wrapWithin(text, room, mostRows).map((ending, row) => ({
      attempt: row === 0 ? attempt : null,
      ending,
      tone,
    }));
  });
  return <Table columns={columns} items={items} width={width} />;
}

function withoutAttempts({ startedAt }: RunSummary): string {
  return startedAt === null ? 'It has not been started yet.' : 'Another program started it, and keeps no attempts.';
}

/** How an attempt ended, and the code it ran if that is new. */
function endingOf(run: RunSummary, attempts: readonly Attempt[], index: number): Ending {
  const attempt = attempts[index]!;
  const isAlive = attempt.outcome === null && index === attempts.length - 1;
  const ending = isAlive ? { text: run.state, tone: stateLook[run.state].tone } : endingWords(attempt.outcome);
  const code = codeChange(attempt, attempts[index - 1]);
  return code === null ? ending : { ...ending, text: `${ending.text} · ${code}` };
}

type Ending = { readonly text: string; readonly tone: Tone };

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
