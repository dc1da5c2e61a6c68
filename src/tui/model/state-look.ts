import { healthText } from '../../analysis/health/finding.js';
import { isUnhealthy, type RunHealth } from '../../base/run-words.js';
import { awaitingInput } from '../../protocol/run-summary.js';
import { cleanText } from '../../text/display-text.js';
import { shortDuration } from '../../text/duration.js';
import type { RunSummary, RunWord } from '../state/port.js';
import type { Tone } from '../surface/span.js';

/** The symbol and tone of each state. Either alone identifies the state. */
export const stateLook: Record<RunWord, { glyph: string; tone: Tone }> = {
  queued: { glyph: '○', tone: 'wait' },
  starting: { glyph: '◐', tone: 'busy' },
  running: { glyph: '●', tone: 'busy' },
  paused: { glyph: '◫', tone: 'warn' },
  stopping: { glyph: '◑', tone: 'warn' },
  done: { glyph: '✓', tone: 'good' },
  failed: { glyph: '✗', tone: 'bad' },
  killed: { glyph: '■', tone: 'warn' },
  lost: { glyph: '?', tone: 'bad' },
  held: { glyph: '‖', tone: 'warn' },
};

/** The symbol of a run with a problem that its state does not show. */
export const unhealthyGlyph = '!';

const lostForGood: ReadonlySet<RunHealth> = new Set(['nan', 'diverging', 'diverged', 'collapsed']);

/** The tone of a health problem; a permanent loss looks worse than a problem that may pass. */
export function healthTone(health: RunHealth): Tone {
  return lostForGood.has(health) ? 'bad' : 'warn';
}

/** The symbol of a run: that of its state, or `unhealthyGlyph`. */
export function runLook(run: Pick<RunSummary, 'state' | 'health'>): { glyph: string; tone: Tone } {
  const isSignOfState = !isUnhealthy(run) || (run.state !== 'running' && run.state !== 'done');
  return isSignOfState ? stateLook[run.state] : { glyph: unhealthyGlyph, tone: healthTone(run.health) };
}

/** States in the order in which they need attention. */
export const statesByUrgency: readonly RunWord[] = [
  'failed',
  'lost',
  'held',
  'killed',
  'stopping',
  'paused',
  'running',
  'starting',
  'queued',
  'done',
];

/** States in the order of a run's life, for counts. */
export const statesInOrder: readonly RunWord[] = [
  'running',
  'starting',
  'paused',
  'stopping',
  'queued',
  'held',
  'done',
  'failed',
  'killed',
  'lost',
];

type Reason = { text: string; tone: Tone };

/** Why a run is in a state other than simply running or done, in a few words; otherwise null. `now`: Unix ms. */
export function runReason(run: RunSummary, now: number): Reason | null {
  const reason = reasons[run.state]?.(run, run.reason === null ? null : cleanText(run.reason), now) ?? null;
  if (run.warning === null) return reason;
  const warning = cleanText(run.warning);
  return reason === null ? { text: warning, tone: 'warn' } : { ...reason, text: `${reason.text} · ${warning}` };
}

/** An error in one line, without the directory of the program that reports it: `/usr/bin/python3: can't open …`. */
export function errorText(reason: string): string {
  return cleanText(reason).replace(/^(?:\/[^\s:/]+)*\/(?=[^\s:/]+: )/, '');
}

/** Whether a run is seen to wait for a line to be typed. */
export function waitsForInput({ state, reason }: RunSummary): boolean {
  return state === 'running' && reason === awaitingInput;
}

/** Whether a run waits for its first start, so that it has nothing but its definition to show. */
export function isUnstarted({ state, attempt }: RunSummary): boolean {
  return attempt === 0 && (state === 'queued' || state === 'held');
}

const reasons: Record<RunWord, ((run: RunSummary, reason: string | null, now: number) => Reason | null) | null> = {
  queued: (run, reason, now) => ({
    text: `${again(run.retryAt, now)}${reason ?? 'queued'}${until(run, now)}`,
    tone: 'wait',
  }),
  starting: (_, reason) => ({ text: reason ?? 'starting', tone: 'busy' }),
  running: (run) => (waitsForInput(run) ? { text: awaitingInput, tone: 'wait' } : unhealthy(run)),
  paused: (_, reason) => ({ text: joined('paused', reason), tone: 'warn' }),
  stopping: (run, _, now) => ({ text: `stopping${countdown(run.killAt, now)}`, tone: 'warn' }),
  done: (run) => unhealthy(run),
  failed: (run, reason) => ({ text: joined(exitWords(run), reason === null ? null : errorText(reason)), tone: 'bad' }),
  killed: (run, reason) => ({ text: joined('killed', unhealthy(run)?.text ?? reason), tone: 'warn' }),
  lost: (_, reason) => ({ text: joined('lost', reason), tone: 'bad' }),
  // The advice is shown with its key instead.
  held: (_, reason) => ({ text: joined('held', reason?.replace(/; `release`.*$/, '') ?? null), tone: 'warn' }),
};

function unhealthy(run: RunSummary): Reason | null {
  const text = isUnhealthy(run) ? healthText(run) : null;
  return text === null ? null : { text: cleanText(text), tone: healthTone(run.health) };
}

/** Time until the next attempt. Comes first because the end of a long reason is cut off. */
function again(retryAt: number | null, now: number): string {
  return retryAt === null ? '' : `again in ${shortDuration(Math.max(0, retryAt - now) + 999)} · `;
}

/** Time until the start, behind the words that say when that is. */
function until({ startsAt = null }: RunSummary, now: number): string {
  return startsAt === null ? '' : `, in ${shortDuration(Math.max(0, startsAt - now) + 999)}`;
}

function countdown(killAt: number | null, now: number): string {
  return killAt === null ? '' : ` · SIGKILL in ${shortDuration(Math.max(0, killAt - now) + 999)}`;
}

/** How a failed run ended: `exit 1`, `SIGSEGV`, `out of memory`, `timeout`. */
export function exitWords({ exit }: RunSummary): string {
  if (exit === null) return 'failed';
  if (exit.class === 'oom') return 'out of memory';
  if (exit.class === 'timeout') return 'timeout';
  return exit.signal ?? (exit.code === null ? 'failed' : `exit ${exit.code}`);
}

/** Joins the two without repeating the same words. */
function joined(words: string, reason: string | null): string {
  if (reason === null || reason === '') return words;
  return reason.toLowerCase().startsWith(words.toLowerCase()) ? reason : `${words} · ${reason}`;
}
