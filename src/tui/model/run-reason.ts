import { cleanText } from '../../text/display-text.js';
import { healthText } from '../../analysis/health/finding.js';
import { isUnhealthy } from '../../base/run-words.js';
import { awaitingInput } from '../../protocol/run-summary.js';
import type { RunSummary, RunWord } from '../state/port.js';
import { shortDuration } from '../../text/duration.js';
import type { Tone } from '../surface/span.js';
import { healthTone } from './state-look.js';

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
